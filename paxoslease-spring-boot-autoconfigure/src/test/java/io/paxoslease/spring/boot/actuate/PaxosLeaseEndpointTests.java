package io.paxoslease.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.read.ListAppender;
import io.paxoslease.node.LeaseHistory;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.spring.bounded.LocalCell;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.MediaType;
import org.springframework.test.json.JsonCompareMode;
import org.springframework.test.web.servlet.client.RestTestClient;

class PaxosLeaseEndpointTests {

    private TestNode test = TestNode.standalone();

    @AfterEach
    void close() {
        test.close();
    }

    @Nested
    class OverHttp {

        @Test
        void showsTheNodeAndItsLeases() {
            long token = lead();
            test.clock.advance(Duration.ofMillis(1_500));

            TestServer.around(test)
                    .run(client -> client.get()
                            .uri("/actuator/lease")
                            .exchange()
                            .expectStatus()
                            .isOk()
                            .expectBody()
                            .json("""
                            { "node": "node-1", "incarnation": "%s", "cell": "default", "majority": 1,
                              "acceptor": { "state": "VOTING", "quarantineRemaining": "PT0S", "leases": 1 },
                              "members": {},
                              "leases": { "leader": %s },
                              "problems": [] }
                            """.formatted(test.node.incarnation(), held(token)), JsonCompareMode.STRICT));
        }

        @ParameterizedTest
        @ValueSource(strings = {"servlet", "reactive"})
        void showsTheSameBehindATrailingSlash(String type) {
            lead();
            TestServer.around(test)
                    .with("spring.main.web-application-type=" + type)
                    .run(client -> {
                        client.get()
                                .uri("/actuator/lease/")
                                .exchange()
                                .expectStatus()
                                .isOk()
                                .expectBody()
                                .jsonPath("$.node")
                                .isEqualTo("node-1")
                                .jsonPath("$.leases.leader.state")
                                .isEqualTo("HELD");
                        post(client, "", "{\"action\": \"stop\"}")
                                .expectStatus()
                                .isNotFound();
                    });
        }

        @Test
        void showsTheOtherMembers() {
            use(TestNode.ofThree());
            test.clock.advance(Duration.ofSeconds(4));
            test.view.reachable("node-2", AcceptorState.VOTING).unreachable("node-3", "Connection refused");
            test.node.election("leader").start();

            TestServer.around(test)
                    .run(client -> client.get()
                            .uri("/actuator/lease")
                            .exchange()
                            .expectStatus()
                            .isOk()
                            .expectBody()
                            .json("""
                            { "node": "node-1", "incarnation": "%s", "cell": "orders", "majority": 2,
                              "acceptor": { "state": "QUARANTINED", "quarantineRemaining": "PT6S", "leases": 0 },
                              "members": {
                                "node-2": { "url": "http://node-2:8080", "reachable": true, "roundTrip": "PT0.0007S",
                                  "state": "VOTING", "problem": null },
                                "node-3": { "url": "http://node-3:8080", "reachable": false, "roundTrip": null,
                                  "state": null, "problem": "Connection refused" } },
                              "leases": { "leader": { "state": "SEEKING", "leader": null, "heldHere": false, "fencingToken": null,
                                "leaseTime": "PT10S", "remaining": null, "acquiredAt": null, "nextExtensionIn": null,
                                "extensions": 0, "candidate": true } },
                              "problems": [] }
                            """.formatted(test.node.incarnation()), JsonCompareMode.STRICT));
        }

        @Test
        void showsOneLease() {
            long token = lead();
            test.clock.advance(Duration.ofMillis(1_500));

            TestServer.around(test)
                    .run(client -> client.get()
                            .uri("/actuator/lease/leader")
                            .exchange()
                            .expectStatus()
                            .isOk()
                            .expectBody()
                            .json(held(token), JsonCompareMode.STRICT));
        }

        @Test
        void showsTheHistoryOfALease() {
            test.node.keepHistory(new LeaseHistory(64, 4));
            long token = lead();
            test.clock.advance(Duration.ofMillis(1_500));
            test.node.election("leader").stop();

            TestServer.around(test).run(client -> {
                client.get()
                        .uri("/actuator/lease/leader/history")
                        .exchange()
                        .expectStatus()
                        .isOk()
                        .expectBody()
                        .json("""
                        { "node": "node-1", "incarnation": "%1$s", "cell": "default", "members": ["node-1"], "lease": "leader",
                          "at": { "monotonic": "PT1.501S", "wall": "2026-11-20T12:00:01.750Z" }, "dropped": 0,
                          "events": [
                            { "kind": "ACQUIRED", "count": 1, "fencingToken": %2$d,
                              "firstAt": { "monotonic": "PT0.001S", "wall": "2026-11-20T12:00:00.250Z" },
                              "at": { "monotonic": "PT0.001S", "wall": "2026-11-20T12:00:00.250Z" },
                              "leader": null, "reason": null, "rejectedBy": [] },
                            { "kind": "LEADER_CHANGED", "leader": "node-1", "fencingToken": 0 },
                            { "kind": "RELEASED", "fencingToken": %2$d, "heldUntil": null,
                              "at": { "monotonic": "PT1.501S", "wall": "2026-11-20T12:00:01.750Z" } },
                            { "kind": "LEADER_CHANGED", "leader": null } ] }
                        """.formatted(test.node.incarnation(), token), JsonCompareMode.LENIENT);
                client.get()
                        .uri("/actuator/lease/leader/other")
                        .exchange()
                        .expectStatus()
                        .isNotFound();
                client.get()
                        .uri("/actuator/lease/unknown/history")
                        .exchange()
                        .expectStatus()
                        .isNotFound();
            });
        }

        @Test
        void findsLeasesWithSlashesInTheirNames() {
            test.node.keepHistory(new LeaseHistory(64, 8));
            List<String> names = List.of("nightly/export", "reports/2026/11", "odd/history");
            names.forEach(name -> test.node.election(name).start());

            TestServer.around(test).run(client -> {
                for (String name : names) {
                    client.get()
                            .uri("/actuator/lease/" + name)
                            .exchange()
                            .expectStatus()
                            .isOk()
                            .expectBody()
                            .jsonPath("$.state")
                            .isEqualTo("HELD");
                    client.get()
                            .uri("/actuator/lease/" + name + "/history")
                            .exchange()
                            .expectStatus()
                            .isOk()
                            .expectBody()
                            .jsonPath("$.lease")
                            .isEqualTo(name);
                    post(client, name, "{\"action\": \"stop\"}")
                            .expectStatus()
                            .isOk()
                            .expectBody()
                            .jsonPath("$.state")
                            .isEqualTo("STOPPED");
                }
                client.get()
                        .uri("/actuator/lease/nightly/import")
                        .exchange()
                        .expectStatus()
                        .isNotFound();
                post(client, "nightly/import", "{\"action\": \"stop\"}")
                        .expectStatus()
                        .isNotFound()
                        .expectBody()
                        .jsonPath("$.error")
                        .isEqualTo("This node knows no lease 'nightly/import'");
            });
        }

        @Test
        void hasNoHistoryWhereNoneIsKept() {
            lead();

            TestServer.around(test)
                    .run(client -> client.get()
                            .uri("/actuator/lease/leader/history")
                            .exchange()
                            .expectStatus()
                            .isNotFound());
        }

        @Test
        void writesTheSameWhateverTheApplicationsJsonSettingsAre() {
            long token = lead();
            test.clock.advance(Duration.ofMillis(1_500));

            TestServer.around(test)
                    .with(
                            "management.endpoints.jackson.isolated-json-mapper=false",
                            "spring.jackson.default-property-inclusion=non_null",
                            "spring.jackson.datatype.datetime.write-durations-as-timestamps=true",
                            "spring.jackson.datatype.datetime.write-dates-as-timestamps=true")
                    .run(client -> client.get()
                            .uri("/actuator/lease/leader")
                            .exchange()
                            .expectStatus()
                            .isOk()
                            .expectBody()
                            .json(held(token), JsonCompareMode.STRICT));
        }

        @Test
        void anUnknownLeaseIsNotFound() {
            TestServer.around(test).run(client -> {
                client.get()
                        .uri("/actuator/lease/nope")
                        .exchange()
                        .expectStatus()
                        .isNotFound();
                post(client, "nope", "{\"action\": \"resign\"}")
                        .expectStatus()
                        .isNotFound()
                        .expectBody()
                        .jsonPath("$.error")
                        .isEqualTo("This node knows no lease 'nope'");
            });
        }

        @Test
        @ExtendWith(OutputCaptureExtension.class)
        void whatItWasToldIsInTheLog(CapturedOutput output) {
            lead();

            TestServer.around(test).with("logging.level.io.paxoslease=info").run(client -> {
                post(client, "leader", "{\"action\": \"stop\"}").expectStatus().isOk();
                post(client, "leader", "{\"action\": \"leave\"}").expectStatus().isBadRequest();
                test.node.awaitTold(Duration.ofSeconds(10));
            });

            assertThat(output)
                    .contains("node-1 was told by its endpoint 'lease' to stop 'leader'")
                    .doesNotContain("to leave");
        }

        @Test
        void stopsStartsAndResigns() {
            lead();

            TestServer.around(test).run(client -> {
                post(client, "leader", "{\"action\": \"stop\"}")
                        .expectStatus()
                        .isOk()
                        .expectBody()
                        .jsonPath("$.state")
                        .isEqualTo("STOPPED")
                        .jsonPath("$.candidate")
                        .isEqualTo(false);
                post(client, "leader", "{\"action\": \"start\"}")
                        .expectStatus()
                        .isOk()
                        .expectBody()
                        .jsonPath("$.state")
                        .isEqualTo("HELD");
                post(client, "leader", "{\"action\": \"resign\"}")
                        .expectStatus()
                        .isOk()
                        .expectBody()
                        .jsonPath("$.state")
                        .isEqualTo("SEEKING")
                        .jsonPath("$.candidate")
                        .isEqualTo(true);
            });
        }

        @Test
        void aBadOrMissingActionIsRefusedWithTheAllowedOnes() {
            lead();

            TestServer.around(test).run(client -> {
                post(client, "leader", "{\"action\": \"explode\"}")
                        .expectStatus()
                        .isBadRequest()
                        .expectBody()
                        .jsonPath("$.error")
                        .isEqualTo("The action must be 'resign', 'start' or 'stop', not 'explode'");
                post(client, "leader", "{}")
                        .expectStatus()
                        .isBadRequest()
                        .expectBody()
                        .jsonPath("$.error")
                        .isEqualTo("The action must be 'resign', 'start' or 'stop', but there is none");
                post(client, "leader", "{\"action\": null}").expectStatus().isBadRequest();
                post(client, "leader", "").expectStatus().isBadRequest();
                post(client, "leader", "{\"action\": ").expectStatus().isBadRequest();
                client.post()
                        .uri("/actuator/lease/leader")
                        .exchange()
                        .expectStatus()
                        .isEqualTo(415);
            });
            assertThat(test.node.election("leader").isLeader()).isTrue();
        }

        /** Also where a guard has made an election of the same name that does not stand. */
        @ParameterizedTest
        @CsvSource({"resign, false", "resign, true", "stop, false", "stop, true"})
        void aLeaseThatNoElectionWonCannotBeResignedOrStopped(String action, boolean election) {
            assertThat(test.node.tryAcquire("job", Duration.ofSeconds(5))).isPresent();
            if (election) {
                test.node.election("job");
            }

            TestServer.around(test)
                    .run(
                            client -> post(client, "job", "{\"action\": \"" + action + "\"}")
                                    .expectStatus()
                                    .isEqualTo(409)
                                    .expectBody()
                                    .jsonPath("$.error")
                                    .isEqualTo(
                                            "No election of this node holds lease 'job': code of the application asked for it, and only that code gives it up"));
        }

        @Test
        void aLeaseThatThisNodeDoesNotLeadCannotBeResigned() {
            use(TestNode.ofThree());
            test.node.election("leader").start();

            TestServer.around(test)
                    .run(
                            client -> post(client, "leader", "{\"action\": \"resign\"}")
                                    .expectStatus()
                                    .isEqualTo(409)
                                    .expectBody()
                                    .jsonPath("$.error")
                                    .isEqualTo(
                                            "This node does not lead 'leader', so it has nothing to give up; it knows of no leader"));
        }

        @Test
        void aLeaseThatThisNodeMayNotSeekCannotBeStarted() {
            use(TestNode.ofThree());
            test.node.election("not-here");

            TestServer.around(test)
                    .run(client -> post(client, "not-here", "{\"action\": \"start\"}")
                            .expectStatus()
                            .isEqualTo(409));
        }

        @Test
        void readOnlyAccessLeavesTheActionsOut() {
            lead();

            TestServer.around(test)
                    .with("management.endpoint.lease.access=read-only")
                    .run(client -> {
                        client.get()
                                .uri("/actuator/lease")
                                .exchange()
                                .expectStatus()
                                .isOk();
                        post(client, "leader", "{\"action\": \"stop\"}")
                                .expectStatus()
                                .isEqualTo(405);
                    });
        }

        @Test
        void infoTellsWhoLeads() {
            lead();

            TestServer.around(test)
                    .run(client -> client.get()
                            .uri("/actuator/info")
                            .exchange()
                            .expectStatus()
                            .isOk()
                            .expectBody()
                            .jsonPath("$.lease.node")
                            .isEqualTo("node-1")
                            .jsonPath("$.lease.leases.leader.state")
                            .isEqualTo("HELD")
                            .jsonPath("$.lease.leases.leader.leader")
                            .isEqualTo("node-1"));
        }
    }

    @Nested
    class OverJmx {

        @Test
        void showsAndActsAndSaysWhatItRefuses() {
            lead();

            TestServer.around(test)
                    .with(
                            "spring.jmx.enabled=true",
                            "management.endpoints.jmx.exposure.include=lease",
                            "spring.jmx.default-domain=paxoslease-test")
                    .run(client -> {
                        assertThat(invoke("cell"))
                                .asInstanceOf(InstanceOfAssertFactories.MAP)
                                .containsEntry("node", "node-1");
                        assertThat(invoke("lease", "leader"))
                                .asInstanceOf(InstanceOfAssertFactories.MAP)
                                .containsEntry("state", "HELD");
                        assertThat(invoke("lease", "nope")).isNull();
                        assertThat(invoke("act", "leader", "stop"))
                                .asInstanceOf(InstanceOfAssertFactories.MAP)
                                .containsEntry("state", "STOPPED");
                        assertThatException()
                                .isThrownBy(() -> invoke("act", "leader", "explode"))
                                .havingRootCause()
                                .withMessageContaining("'resign', 'start' or 'stop'");
                        assertThatException()
                                .isThrownBy(() -> invoke("act", "nope", "stop"))
                                .havingRootCause()
                                .withMessageContaining("This node knows no lease 'nope'");
                    });
        }

        private static Object invoke(String operation, String... arguments) {
            String[] signature = new String[arguments.length];
            Arrays.fill(signature, String.class.getName());
            try {
                MBeanServer server = ManagementFactory.getPlatformMBeanServer();
                ObjectName name = server.queryNames(new ObjectName("*:type=Endpoint,name=Lease,*"), null)
                        .iterator()
                        .next();
                return server.invoke(name, operation, arguments, signature);
            } catch (JMException failure) {
                throw new IllegalStateException(failure);
            }
        }
    }

    @Test
    void saysWhomToSendAResignationTo() {
        try (LocalCell cell = LocalCell.of(3)) {
            cell.node(1).election("leader").start();
            cell.node(2).election("leader").start();
            await().until(() -> cell.node(1).election("leader").leader().isPresent()
                    && cell.node(2).election("leader").leader().isPresent());
            LeaseNode leader = cell.node(cell.node(1).election("leader").isLeader() ? 1 : 2);
            LeaseNode follower = cell.node(leader == cell.node(1) ? 2 : 1);

            assertThatException()
                    .isThrownBy(() -> new PaxosLeaseEndpoint(follower, CellView.NONE).act("leader", "resign"))
                    .withMessage("This node does not lead 'leader', so it has nothing to give up; send this to '"
                            + leader.settings().nodeId() + "', which leads as far as it knows");
            assertThat(leader.election("leader").isLeader()).isTrue();
        }
    }

    @Test
    void infoDoesNotNameALeaderThatIsNotKnown() {
        use(TestNode.ofThree());
        test.node.election("leader").start();
        Info.Builder info = new Info.Builder();

        new LeaseInfoContributor(test.node).contribute(info);

        assertThat(info.build().get("lease"))
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsEntry("leases", Map.of("leader", Map.of("state", "SEEKING")));
    }

    @Test
    void aLeaseWithSettingsOfItsOwnCanBeStarted() {
        use(TestNode.ofThree());
        test.node.election("here");

        assertThat(new PaxosLeaseEndpoint(test.node, test.view)
                        .act("here", "start")
                        .state())
                .isEqualTo("SEEKING");
    }

    @Test
    void whatIsStoppedCanBeStoppedAgain() {
        PaxosLeaseEndpoint endpoint = new PaxosLeaseEndpoint(test.node, test.view);
        lead();

        assertThat(endpoint.act("leader", "stop").state()).isEqualTo("STOPPED");
        assertThat(endpoint.act("leader", "stop").state()).isEqualTo("STOPPED");
    }

    @Test
    void aMemberOfWhichNothingIsKnownIsNotReachable() {
        use(TestNode.ofThree());

        assertThat(new PaxosLeaseEndpoint(test.node, test.view).cell().members())
                .containsEntry("node-2", new CellDescriptor.Member(null, false, null, null, null));
    }

    /** Otherwise it looks as if it were quarantined. */
    @Test
    void aNodeThatGaveUpSaysSoAndStartsNothing() {
        use(TestNode.ofThree());
        test.view.problems.add("node-7: another cell");
        test.node.election("leader");
        test.voting().defective();
        PaxosLeaseEndpoint endpoint = new PaxosLeaseEndpoint(test.node, test.view);

        assertThat(endpoint.cell().problems())
                .containsExactly(
                        "this node gave up all its leases because of a defect; restart it", "node-7: another cell");
        assertThatException()
                .isThrownBy(() -> endpoint.act("leader", "start"))
                .withMessage(
                        "Nobody can seek lease 'leader' here: this node gave up all its leases because of a defect; restart it");
    }

    @Test
    void doesNotSayOfALeaseThatCodeAsksForThatCodeHasIt() {
        use(TestNode.ofThree());
        assertThat(test.node.tryAcquireAsync("job", Duration.ofSeconds(5))).isNotDone();

        assertThatException()
                .isThrownBy(() -> new PaxosLeaseEndpoint(test.node, test.view).act("job", "resign"))
                .withMessage(
                        "No election of this node holds lease 'job': code of the application asked for it, and only that code gives it up");
    }

    /** An application may make names of what its users write. */
    @Test
    void aNameWritesNoLineOfItsOwnIntoTheLog() {
        Logger logger = (Logger) LoggerFactory.getLogger("io.paxoslease");
        Level before = logger.getLevel();
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.INFO);
        test.node.election("a\nb").start();

        new PaxosLeaseEndpoint(test.node, test.view).act("a\nb", "stop");

        test.node.awaitTold(Duration.ofSeconds(10));
        logger.detachAppender(lines);
        logger.setLevel(before);
        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("node-1 was told by its endpoint 'lease' to stop 'a?b'");
    }

    /** Who moves a leadership does so because something is wrong already. */
    @Test
    @Timeout(60)
    void answersWhileTheLogBlocks() {
        CountDownLatch flows = new CountDownLatch(1);
        AppenderBase<ILoggingEvent> blocked = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent line) {
                try {
                    flows.await();
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        Logger logger = (Logger) LoggerFactory.getLogger("io.paxoslease");
        Level before = logger.getLevel();
        blocked.start();
        logger.addAppender(blocked);
        logger.setLevel(Level.INFO);
        try {
            test.node.election("job").start();
            assertThat(new PaxosLeaseEndpoint(test.node, test.view).act("job", "stop"))
                    .isNotNull();
        } finally {
            flows.countDown();
            logger.detachAppender(blocked);
            logger.setLevel(before);
        }
    }

    @Test
    void aNativeImageCanWriteEverythingThatIsAnswered() {
        RuntimeHints hints = new RuntimeHints();

        new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints, PaxosLeaseEndpoint.class);

        assertThat(List.of(
                        CellDescriptor.class,
                        CellDescriptor.Acceptor.class,
                        CellDescriptor.Member.class,
                        LeaseDescriptor.class))
                .allMatch(
                        type -> RuntimeHintsPredicates.reflection().onType(type).test(hints));
    }

    private long lead() {
        test.node.election("leader").start();
        return test.node.election("leader").lease().orElseThrow().fencingToken();
    }

    /** The lease after a second and a half of its first tenure. */
    private String held(long token) {
        String remaining = Objects.requireNonNull(endpointLease().remaining());
        String next = Objects.requireNonNull(endpointLease().nextExtensionIn());
        assertThat(Duration.parse(remaining)).isBetween(Duration.ofSeconds(8), Duration.ofMillis(8_500));
        return """
                { "state": "HELD", "leader": "node-1", "heldHere": true, "fencingToken": %d,
                  "leaseTime": "PT10S", "remaining": "%s", "acquiredAt": "2026-11-20T12:00:00.250Z",
                  "nextExtensionIn": "%s", "extensions": 0, "candidate": true }
                """.formatted(token, remaining, next);
    }

    private LeaseDescriptor endpointLease() {
        return Objects.requireNonNull(new PaxosLeaseEndpoint(test.node, test.view).lease("leader"));
    }

    private static RestTestClient.ResponseSpec post(RestTestClient client, String lease, String body) {
        return client.post()
                .uri("/actuator/lease/" + lease)
                .contentType(MediaType.APPLICATION_JSON)
                .body(body)
                .exchange();
    }

    private void use(TestNode other) {
        test.close();
        test = other;
    }
}
