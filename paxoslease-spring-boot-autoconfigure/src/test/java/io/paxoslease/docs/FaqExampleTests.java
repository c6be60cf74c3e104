package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaderHint;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.spring.LeaderOnly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** The examples of {@code docs/faq.md}: compiled and run here, shown there exactly as they are. */
class FaqExampleTests {

    @Configuration
    @EnableAutoConfiguration
    @Import({Exporter.class, Nightly.class, Router.class})
    static class ExampleApplication {}

    @Nested
    @SpringBootTest(classes = ExampleApplication.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
    class Examples {

        @Autowired
        Exporter exporter;

        @Autowired
        Nightly nightly;

        @Autowired
        Router router;

        @Autowired
        LeaseManager leases;

        @Test
        void theExportHoldsItsLeaseAndGivesItBack() throws Exception {
            exporter.export(List.of("one", "two"));

            assertThat(exporter.exported).hasSize(2).allMatch(line -> line.matches("(one|two) by token \\d+"));
            assertThat(leases.tryAcquire("export", Duration.ofSeconds(1))).isPresent();
        }

        @Test
        void theLossOfTheLeaseInterrupts() throws Exception {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> leases.election("nightly").isLeader());
            AtomicReference<Throwable> end = new AtomicReference<>();
            Thread caller = new Thread(() -> {
                try {
                    nightly.exportEverything();
                } catch (InterruptedException interrupted) {
                    end.set(interrupted);
                }
            });
            caller.start();
            nightly.waiting().await();
            leases.election("nightly").stop();

            caller.join(Duration.ofSeconds(30).toMillis());
            assertThat(end.get()).isInstanceOf(InterruptedException.class);
        }

        @Test
        void theRequestIsHandledWhereTheLeaderIs() {
            leases.election("invoices").start();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> leases.election("invoices").isLeader());

            assertThat(router.route("r")).isEqualTo("handled r");
        }
    }

    @Nested
    class TestsOfYourOwn {

        // snippet test
        @SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE)
        class ReportTests {

            @Autowired
            LeaseManager leases;

            @Test
            void leadsAlone() {
                assertThat(leases.tryAcquire("report", Duration.ofSeconds(1))).isPresent();
            }
        }
        // end
    }

    @Component
    static class Exporter {

        final List<String> exported = new ArrayList<>();
        private final LeaseManager leases;

        @Autowired
        Exporter(LeaseManager leases) {
            this.leases = leases;
        }

        void export(List<String> parts) throws InterruptedException, LeaseUnavailableException {
            // snippet extend
            try (Lease lease = leases.acquire("export", Duration.ofSeconds(10), Duration.ofMinutes(1))
                    .autoExtend()) {
                for (String part : parts) {
                    lease.checkHeld();
                    export(part, lease.fencingToken());
                }
            }
            // end
        }

        void export(String part, long token) {
            exported.add(part + " by token " + token);
        }
    }

    @Component
    static class Nightly {

        private final CountDownLatch waiting = new CountDownLatch(1);

        CountDownLatch waiting() {
            return waiting;
        }

        // snippet interrupt
        @Scheduled(cron = "0 0 3 * * *")
        @LeaderOnly(value = "nightly", onLoss = LeaderOnly.OnLoss.INTERRUPT)
        void exportEverything() throws InterruptedException {
            waitForTheWarehouse();
        }
        // end

        private void waitForTheWarehouse() throws InterruptedException {
            waiting.countDown();
            new CountDownLatch(1).await();
        }
    }

    @Component
    static class Router {

        private final LeaseManager leases;
        private final Map<String, String> addresses = Map.of();

        Router(LeaseManager leases) {
            this.leases = leases;
        }

        String route(String request) {
            // snippet forward
            LeaderElection election = leases.election("invoices");
            if (election.isLeader()) {
                return handle(request);
            }
            String leader = election.leader()
                    .map(LeaderHint::nodeId)
                    .orElseThrow(() -> new IllegalStateException("nobody leads"));
            return forward(request, addresses.get(leader));
            // end
        }

        private static String handle(String request) {
            return "handled " + request;
        }

        private static String forward(String request, String address) {
            return "sent " + request + " to " + address;
        }
    }
}
