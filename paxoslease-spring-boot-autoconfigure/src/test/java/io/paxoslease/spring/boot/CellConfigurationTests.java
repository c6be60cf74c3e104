package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.paxoslease.node.NodeSettings.LeaseSettings;
import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.mock.env.MockEnvironment;
import tools.jackson.databind.json.JsonMapper;

class CellConfigurationTests {

    private static final String[] THREE_LOCAL = {
        "paxoslease.members.a=http://localhost:8081",
        "paxoslease.members.b=http://localhost:8082",
        "paxoslease.members.c=http://localhost:8083"
    };

    private static final String[] THREE_REMOTE = {
        "paxoslease.node-id=a",
        "paxoslease.members.a=http://10.0.0.1:8080",
        "paxoslease.members.b=http://10.0.0.2:8080",
        "paxoslease.members.c=http://10.0.0.3:8080"
    };

    /** A machine named "box" with the addresses 127.0.0.1 and 10.0.0.2. */
    private static final LocalAddresses BOX = new LocalAddresses() {
        @Override
        boolean isLocal(String host) {
            return isLoopback(host) || host.equals("10.0.0.2");
        }

        @Override
        String hostName() {
            return "box";
        }
    };

    private static CellConfiguration configure(String... settings) {
        MockEnvironment environment = new MockEnvironment();
        for (String setting : settings) {
            int equals = setting.indexOf('=');
            environment.setProperty(setting.substring(0, equals), setting.substring(equals + 1));
        }
        PaxosLeaseProperties properties =
                Binder.get(environment).bindOrCreate("paxoslease", PaxosLeaseProperties.class);
        return CellConfiguration.of(properties, environment, BOX);
    }

    private static String[] with(String[] settings, String... more) {
        String[] all = java.util.Arrays.copyOf(settings, settings.length + more.length);
        System.arraycopy(more, 0, all, settings.length, more.length);
        return all;
    }

    private static InvalidCellConfigurationException refused(String... settings) {
        InvalidCellConfigurationException refusal =
                catchThrowableOfType(InvalidCellConfigurationException.class, () -> configure(settings));
        assertThat(refusal).as("the setting must be refused").isNotNull();
        FailureAnalysis analysis = new InvalidCellConfigurationFailureAnalyzer().analyze(refusal);
        assertThat(analysis.getDescription()).contains(refusal.property());
        assertThat(analysis.getAction()).isNotBlank();
        return refusal;
    }

    @Nested
    class MisspeltNames {

        /** Else each instance would be a cell of its own, and lead. */
        @Test
        void stopTheStartWhereThereAreNoMembers() {
            InvalidCellConfigurationException refusal = refused("paxoslease.member.a=http://a:1");
            assertThat(refusal.property()).isEqualTo("paxoslease.member.a");
            assertThat(refusal).hasMessageContainingAll("PaxosLease does not read it", "without paxoslease.members");
        }

        /** As YAML is read where the block has lost its indentation. */
        @ParameterizedTest
        @ValueSource(strings = {"paxoslease", "paxoslease.members"})
        void areThoseOfMembersThatStandBesideTheBlockThatShouldHaveThem(String block) {
            assertThat(refused(block + "=", "members.a=http://a:1"))
                    .hasMessageContainingAll("members.a", "without paxoslease.members");
            assertThat(configure(block + "=").standalone()).isTrue();
            assertThat(configure(block + "=", "members.a=of a club").standalone())
                    .isTrue();
            assertThat(configure("members.a=http://a:1").standalone()).isTrue();
        }

        @Test
        void areWarnedOfInACell() {
            CellConfiguration cell = configure(with(
                    THREE_LOCAL,
                    "paxoslease.node-id=a",
                    "paxoslease.lease-tiem=5s",
                    "paxoslease.leases.x.prority=1",
                    "paxoslease.leases.x.y.priority=1"));
            assertThat(cell.warnings())
                    .hasSize(3)
                    .anyMatch(warning ->
                            warning.startsWith("Property paxoslease.lease-tiem: PaxosLease does not read it"))
                    .anyMatch(warning ->
                            warning.startsWith("Property paxoslease.leases.x.prority: PaxosLease does not read it"))
                    .anyMatch(warning ->
                            warning.startsWith("Property paxoslease.leases.x.y.priority: PaxosLease does not read it"));
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "quartz.laese",
                    "endpoint.base-paht",
                    "lease-time.seconds",
                    "security.shared-secret.value",
                    "security.accepted-secrets.old",
                    "security.accepted-secrets[0].value",
                    "integration.roles.one",
                    "leases.report.priority.high"
                })
        void mayBeDeep(String name) {
            assertThat(UnreadProperties.isRead(ConfigurationPropertyName.of("paxoslease." + name)))
                    .isFalse();
        }

        /** Whatever reads them. */
        @Test
        void areNoneOfTheNamesInTheMetadata() throws Exception {
            URI classes = PaxosLeaseProperties.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI();
            List<String> names = new ArrayList<>();
            JsonMapper.shared()
                    .readTree(Path.of(classes).resolve("META-INF/spring-configuration-metadata.json"))
                    .get("properties")
                    .forEach(property -> names.add(property.get("name").asString()));
            names.removeIf(name -> !name.startsWith("paxoslease."));
            assertThat(names)
                    .contains("paxoslease.members", "paxoslease.ui.enabled")
                    .allSatisfy(name -> assertThat(UnreadProperties.isRead(ConfigurationPropertyName.of(name)))
                            .as(name)
                            .isTrue());
        }

        /** Jobs would run on every node, and nobody would say so. */
        @ParameterizedTest
        @ValueSource(
                strings = {
                    "paxoslease.quartz=jobs",
                    "paxoslease.integration=one",
                    "paxoslease.ui=true",
                    "paxoslease.readiness=false"
                })
        void areThoseOfBlocksWithATextInPlaceOfSettings(String setting) {
            assertThat(refused(setting).property()).isEqualTo(setting.replaceFirst("=.*", ""));
            assertThat(configure(setting.replaceFirst("=.*", "= ")).standalone())
                    .isTrue();
        }

        /** As YAML is read where all entries are comments. */
        @ParameterizedTest
        @ValueSource(
                strings = {
                    "members",
                    "leases",
                    "leases.report",
                    "quartz",
                    "metrics",
                    "endpoint",
                    "security",
                    "ui",
                    "readiness"
                })
        void areNoneOfTheBlocksWithoutEntries(String block) {
            assertThat(UnreadProperties.isRead(ConfigurationPropertyName.of("paxoslease." + block)))
                    .isTrue();
        }

        @Test
        void areNoneOfTheNamesThatAreRead() {
            CellConfiguration cell = configure(with(
                    THREE_LOCAL,
                    "paxoslease.nodeId=a",
                    "paxoslease.lease_time=5s",
                    "paxoslease.leases[x.y].priority=1",
                    "paxoslease.leases[a/b].candidate=true",
                    "paxoslease.security.shared-secret=sixteen bytes and more",
                    "paxoslease.security.accepted-secrets[0]=sixteen bytes and more, formerly",
                    "paxoslease.quartz.lease=jobs",
                    "paxoslease.integration.roles=one,two",
                    "paxoslease.integration.roles[0]=one",
                    "paxoslease.metrics.max-leases=10",
                    "paxoslease.enabled=true"));
            assertThat(cell.warnings()).isEmpty();
        }
    }

    @Nested
    class Defaults {

        @Test
        void withoutMembersTheNodeIsAStandaloneCellOfOne() {
            CellConfiguration cell = configure();

            assertThat(cell.standalone()).isTrue();
            assertThat(cell.node().nodeId()).isEqualTo("box");
            assertThat(cell.node().leaseTime()).isEqualTo(Duration.ofSeconds(10));
            assertThat(cell.node().timing().maxLeaseNanos())
                    .isEqualTo(Duration.ofSeconds(10).toNanos());
            assertThat(cell.node().timing().maxClockDrift()).isEqualTo(0.01);
            assertThat(cell.node().roundTimeout()).isEqualTo(Duration.ofSeconds(1));
            assertThat(cell.basePath()).isEqualTo("/paxoslease");
            assertThat(cell.warnings()).isEmpty();
        }

        @Test
        void maximumLeaseTimeFollowsTheLeaseTime() {
            assertThat(configure("paxoslease.lease-time=30s").node().timing().maxLeaseNanos())
                    .isEqualTo(Duration.ofSeconds(30).toNanos());
        }

        @Test
        void roundTimeoutFitsIntoAShortLease() {
            assertThat(configure("paxoslease.lease-time=500ms").node().roundTimeout())
                    .isEqualTo(Duration.ofMillis(250));
        }

        @Test
        void settingsOfOneLeaseOverrideThoseOfAll() {
            CellConfiguration cell = configure(
                    "paxoslease.max-lease-time=60s",
                    "paxoslease.leases.billing.lease-time=30s",
                    "paxoslease.leases.billing.priority=3",
                    "paxoslease.leases[a.b/c].candidate=false");

            assertThat(cell.node().leases())
                    .isEqualTo(Map.of(
                            "billing",
                            new LeaseSettings(Duration.ofSeconds(30), true, 3),
                            "a.b/c",
                            new LeaseSettings(Duration.ofSeconds(10), false, 10)));
        }
    }

    @Nested
    class NodeId {

        @Test
        void isTheMemberWithThisHostAndPort() {
            assertThat(configure(with(THREE_LOCAL, "server.port=8082")).node().nodeId())
                    .isEqualTo("b");
        }

        @ParameterizedTest
        @CsvSource({"http, 80, b", "https, 443, c"})
        void isTheMemberWithThePortThatItsUrlDoesNotName(String scheme, int port, String id) {
            assertThat(configure(
                                    "paxoslease.members.a=" + scheme + "://localhost:8081",
                                    "paxoslease.members." + id + "=" + scheme + "://localhost",
                                    "server.port=" + port)
                            .node()
                            .nodeId())
                    .isEqualTo(id);
        }

        @Test
        void isTheMemberWithTheManagementPortIfThatIsWhereAcceptorsAnswer() {
            String[] both = with(THREE_LOCAL, "server.port=8082", "management.server.port=8083");
            assertThat(configure(both).node().nodeId()).isEqualTo("b");
            assertThat(configure(with(both, "paxoslease.endpoint.port=management"))
                            .node()
                            .nodeId())
                    .isEqualTo("c");
            assertThat(configure(with(THREE_LOCAL, "server.port=8082", "paxoslease.endpoint.port=management"))
                            .node()
                            .nodeId())
                    .isEqualTo("b");
        }

        @Test
        void isTheMemberWithAnAddressOfThisHost() {
            CellConfiguration cell = configure(
                    "paxoslease.members.a=http://10.0.0.1:8080",
                    "paxoslease.members.b=http://10.0.0.2:8080",
                    "paxoslease.members.c=http://10.0.0.3:8080",
                    "paxoslease.security.shared-secret=0123456789abcdef");

            assertThat(cell.node().nodeId()).isEqualTo("b");
        }

        @Test
        void isTheHostNameIfNoMemberIsHereWhichMakesTheNodeProposerOnly() {
            CellConfiguration cell = configure(with(THREE_LOCAL, "server.port=9999"));

            assertThat(cell.node().nodeId()).isEqualTo("box");
            assertThat(cell.isAcceptor()).isFalse();
            assertThat(cell.channelWarnings())
                    .singleElement()
                    .asString()
                    .contains("'box'", "[a, b, c]", "port 9999 (server.port)", "correct the port", "proposer-only");
        }

        /** As in a test of an application whose node id is set: the member of that name may run elsewhere, and two would vote for it. */
        @Test
        void ofAMemberIsWarnedOfWhereThePortIsDrawn() {
            assertThat(configure(with(THREE_LOCAL, "paxoslease.node-id=b", "server.port=0"))
                            .channelWarnings())
                    .singleElement()
                    .asString()
                    .contains("'b'", "server.port=0", "http://localhost:8082", "@AutoConfigureTestLeases");
            assertThat(configure(with(THREE_LOCAL, "paxoslease.node-id=b", "server.port=9999"))
                            .channelWarnings())
                    .isEmpty();
            assertThat(configure(with(
                                    THREE_LOCAL,
                                    "paxoslease.node-id=b",
                                    "paxoslease.endpoint.port=management",
                                    "management.server.port=0"))
                            .channelWarnings())
                    .singleElement()
                    .asString()
                    .contains("management.server.port=0");
        }

        @Test
        void thatIsTheHostNameAndThatOfAMemberIsWarnedOfWhereThePortIsDrawn() {
            assertThat(configure(with(THREE_LOCAL, "paxoslease.members.box=http://localhost:8084", "server.port=0"))
                            .channelWarnings())
                    .singleElement()
                    .asString()
                    .contains("'box'", "server.port=0", "http://localhost:8084");
        }

        /** As of a worker without a web server, whose settings are those of an application that has one. */
        @Test
        void thatIsSetNeedsNoPort() {
            String[] noPorts = {"server.port=${PORT}", "management.server.port=${PORT}", "paxoslease.node-id=worker"};

            assertThat(configure(noPorts).node().nodeId()).isEqualTo("worker");
            assertThat(configure(with(THREE_LOCAL, noPorts)).node().nodeId()).isEqualTo("worker");
        }

        @Test
        void thatIsNotAMemberIsReportedAsProposerOnly() {
            assertThat(configure(with(THREE_LOCAL, "paxoslease.node-id=d")).channelWarnings())
                    .singleElement()
                    .asString()
                    .contains("'d'", "proposer-only")
                    .doesNotContain("port");
        }

        @Test
        void mustBeSetIfSeveralMembersAreHere() {
            assertThat(refused(
                            "paxoslease.members.a=http://localhost:8081",
                            "paxoslease.members.b=http://127.0.0.1:8081",
                            "server.port=8081"))
                    .hasMessageContainingAll("paxoslease.node-id", "[a, b]", "8081");
        }

        @Test
        void thatIsTooLongIsRefused() {
            assertThat(refused("paxoslease.node-id=" + "x".repeat(256)))
                    .hasMessageEndingWith("': it is longer than 255 bytes of UTF-8");
        }
    }

    /** Spring leaves the placeholder as it is, the same on all nodes and known to all the world. */
    @ParameterizedTest
    @ValueSource(
            strings = {"security.shared-secret", "security.accepted-secrets[0]", "node-id", "cell-name", "default-lease"
            })
    void aPlaceholderWithoutAValueIsRefused(String property) {
        assertThat(refused(with(
                                THREE_REMOTE,
                                "paxoslease.security.shared-secret=0123456789abcdef",
                                "paxoslease." + property + "=${PAXOSLEASE_TESTS_NO_SUCH_VARIABLE}"))
                        .property())
                .isEqualTo("paxoslease." + property);
    }

    /** It may be part of a secret after all. */
    @Test
    void aPlaceholderOfASecretIsNotShown() {
        assertThat(refused(with(THREE_REMOTE, "paxoslease.security.shared-secret=${SHORT}")))
                .hasMessage("Property paxoslease.security.shared-secret: it has a placeholder ${...} without a value");
    }

    @Nested
    class Members {

        /** The position of an entry would be an id, so that another order or another entry gives an id to two processes. */
        @ParameterizedTest
        @ValueSource(strings = {"", ".url"})
        void inAListAreRefused(String part) {
            assertThat(refused("paxoslease.members[0]" + part + "=http://localhost:8081"))
                    .hasMessageContaining("Property paxoslease.members[0]");
            assertThat(configure("paxoslease.members.0=http://localhost:8080").isAcceptor())
                    .isTrue();
        }

        /** The form that YAML gives to keys that are numbers. */
        @Test
        void mayHaveNumbersForIds() {
            CellConfiguration cell = configure(
                    "paxoslease.members[1]=http://localhost:8080", "paxoslease.members[2]=http://localhost:8081");
            assertThat(cell.members()).containsOnlyKeys("1", "2");
        }

        @ParameterizedTest
        @ValueSource(strings = {" n1", "n1\u00a0", "n\t1", "${HOST}"})
        void withIdsThatNobodyMeantAreRefused(String id) {
            assertThat(refused("paxoslease.members[" + id + "]=http://localhost:8080"))
                    .hasMessageContaining("Property paxoslease.members = '")
                    .satisfies(refusal -> assertThat(refusal.value()).isEqualTo(id));
        }

        @Test
        void withIdsThatAreTooLongAreToldSo() {
            InvalidCellConfigurationException refusal =
                    refused("paxoslease.members." + "n".repeat(256) + "=http://localhost:8080");
            assertThat(refusal).hasMessageEndingWith("': the id of a member is longer than 255 bytes of UTF-8");
            assertThat(refusal.remedy()).isEqualTo("Choose a short name.");
        }

        @Test
        void withTheSameUrlAreRefused() {
            assertThat(refused(
                            "paxoslease.members.a=http://localhost:8081",
                            "paxoslease.members.b=http://LOCALHOST:8081/"))
                    .hasMessageContainingAll("paxoslease.members.b", "'a' and 'b'", "same URL");
            assertThat(refused(
                            "paxoslease.members.a=http://localhost:8081",
                            "paxoslease.members.b=http://localhost:8081//"))
                    .hasMessageContaining("same URL");
        }

        /** What an environment variable overrides keeps its own id, and Spring gives both the same value. */
        @Test
        void withIdsThatAreOneNameToSpringAreToldSo() {
            assertThat(refused(
                                    "paxoslease.members.node-1=http://localhost:8081",
                                    "paxoslease.members.Node1=http://localhost:8082")
                            .remedy())
                    .contains("capital letters or dashes");
        }

        @Test
        void haveADotWhereTheirEnvironmentVariableHasAnUnderscore() {
            SystemEnvironmentPropertySource variables = new SystemEnvironmentPropertySource(
                    StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                    Map.of(
                            "PAXOSLEASE_MEMBERS_N1",
                            "http://localhost:8081",
                            "PAXOSLEASE_MEMBERS_NODE_2",
                            "http://localhost:8082"));

            assertThat(new Binder(ConfigurationPropertySources.from(variables))
                            .bind("paxoslease", PaxosLeaseProperties.class)
                            .get()
                            .members())
                    .containsOnlyKeys("n1", "node.2");
        }

        @Test
        void withAPlaceholderWithoutAValueAreToldSo() {
            assertThat(refused("paxoslease.members.a=http://${PAXOSLEASE_TESTS_NO_SUCH_VARIABLE}:8080"))
                    .hasMessage("Property paxoslease.members.a = 'http://${PAXOSLEASE_TESTS_NO_SUCH_VARIABLE}:8080':"
                            + " it has a placeholder ${...} without a value");
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "localhost:8081",
                    "ftp://host",
                    "http://",
                    "http://host:80?x=1",
                    "http://me@host",
                    "http://bad host",
                    "http://host#top"
                })
        void withoutAUsableUrlAreRefused(String url) {
            InvalidCellConfigurationException refusal = refused("paxoslease.members.a=" + url);

            assertThat(refusal.property()).isEqualTo("paxoslease.members.a");
            assertThat(refusal.value()).isEqualTo(url);
        }

        @ParameterizedTest
        @ValueSource(
                strings = {"http://node_1:8080", "http://node_1", "https://a_b.example.com/app", "tcp://node_1:7411"})
        void withAHostNameThatJavaDoesNotTakeAreToldSo(String url) {
            String transport = url.startsWith("tcp") ? "tcp" : "http";

            assertThat(refused("paxoslease.members.a=" + url, "paxoslease.transport=" + transport))
                    .hasMessageContainingAll("'" + URI.create(url).getAuthority() + "'", "no underscore")
                    .hasMessageNotContaining("must start with");
        }

        @ParameterizedTest
        @ValueSource(strings = {"http://::1:8080", "http://fe80::1", "http://host:99999999999", "http://host:-1"})
        void withAnAddressOrAPortThatJavaDoesNotTakeAreToldSo(String url) {
            assertThat(refused("paxoslease.members.a=" + url))
                    .hasMessageContainingAll(
                            "'" + URI.create(url).getAuthority() + "'", "IPv6 address is in brackets", "1 to 65535");
        }

        @ParameterizedTest
        @ValueSource(strings = {"hunter2", "hunt@er2", "hunt/er2", "hunt#er2", "hunt?er2", "hunt:er2", "hunt%er2"})
        void doNotShowTheirPasswordWhenTheyAreRefused(String password) {
            InvalidCellConfigurationException refusal = refused("paxoslease.members.a=http://me:" + password + "@host");

            assertThat(refusal.value()).isEqualTo("http://me:...@host");
            assertThat(refusal).hasMessageNotContainingAny("hunt", "er2");
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "http://me@home.example:hunter2@host",
                    "me:hunter2@host",
                    "http:me:hunter2@host",
                    "http:/me:hunter2@host",
                    "http://me:hunt\ner2@host"
                })
        void doNotShowTheirPasswordWhereTheyAreNoUrls(String url) {
            InvalidCellConfigurationException refusal = refused("paxoslease.members.a=" + url);

            assertThat(refusal.value()).endsWith(":...@host");
            assertThat(refusal).hasMessageNotContainingAny("hunt", "er2");
        }

        @Test
        void inEvenNumberAreAllowedWithAWarning() {
            assertThat(configure(
                                    "paxoslease.members.a=http://localhost:8081",
                                    "paxoslease.members.b=http://localhost:8082",
                                    "server.port=8081")
                            .warnings())
                    .singleElement()
                    .asString()
                    .contains("2 members", "1 member survives as many");
            assertThat(configure(with(THREE_LOCAL, "paxoslease.members.d=http://localhost:8084", "server.port=8081"))
                            .warnings())
                    .singleElement()
                    .asString()
                    .contains("4 members", "3 members survive as many");
        }

        @Test
        void aloneAreAllowedWithAWarningAndAreNoStandaloneCell() {
            CellConfiguration cell = configure("paxoslease.members.a=http://localhost:8080");

            assertThat(cell.standalone()).isFalse();
            assertThat(cell.warnings()).singleElement().asString().contains("single member");
        }

        @Test
        void aboveTheLimitAreRefused() {
            String[] settings = new String[65];
            settings[0] = "server.port=8000";
            for (int i = 1; i < settings.length; i++) {
                settings[i] = "paxoslease.members.n" + i + "=http://localhost:" + (8000 + i);
            }
            assertThat(refused(settings)).hasMessageContainingAll("paxoslease.members", "63", "64");
        }
    }

    @Nested
    class OverTcp {

        private final String[] three = {
            "paxoslease.transport=tcp",
            "paxoslease.members.a=tcp://localhost:7411",
            "paxoslease.members.b=tcp://localhost:7412",
            "paxoslease.members.c=tcp://localhost:7413"
        };

        private final String[] remote = {
            "paxoslease.transport=tcp",
            "paxoslease.members.a=tls://10.0.0.1:7411",
            "paxoslease.members.b=tls://10.0.0.2:7411",
            "paxoslease.members.c=tls://10.0.0.3:7411"
        };

        @Test
        void theNodeIsTheMemberWithAnAddressOfThisHost() {
            CellConfiguration cell = configure(with(remote, "paxoslease.ssl.bundle=cell"));
            assertThat(cell.node().nodeId()).isEqualTo("b");
            assertThat(cell.answersOverTcp()).isTrue();
            assertThat(cell.answersEncrypted()).isTrue();
        }

        @Test
        void theNodeIsTheMemberWithTheOwnPortOfSeveralOnThisHost() {
            CellConfiguration cell = configure(with(three, "paxoslease.tcp.port=7413"));
            assertThat(cell.node().nodeId()).isEqualTo("c");
            assertThat(cell.answersEncrypted()).isFalse();
            assertThat(refused(three).property()).isEqualTo("paxoslease.node-id");
        }

        @Test
        void aGuestAnswersNobody() {
            CellConfiguration cell = configure(with(three, "paxoslease.node-id=guest"));
            assertThat(cell.answersOverTcp()).isFalse();
            assertThat(cell.answersEncrypted()).isFalse();
        }

        @Test
        void aStandaloneNodeAnswersNobody() {
            assertThat(configure("paxoslease.transport=tcp").answersOverTcp()).isFalse();
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "http://localhost:8080",
                    "localhost:7411",
                    "tcp://localhost",
                    "tcp://localhost:7411/path",
                    "tcp://user:secret@localhost:7411",
                    "tcp://localhost:7411?x=y"
                })
        void aUrlMustBeAnAddressAndAPort(String url) {
            InvalidCellConfigurationException refusal =
                    refused("paxoslease.transport=tcp", "paxoslease.node-id=a", "paxoslease.members.a=" + url);
            assertThat(refusal.property()).isEqualTo("paxoslease.members.a");
            assertThat(refusal.remedy()).contains("tcp://10.0.0.1:7411");
            assertThat(refusal.getMessage()).doesNotContain("secret");
        }

        @ParameterizedTest
        @ValueSource(strings = {"http://localhost:", "tcp://localhost:"})
        void aPortMustBeOneThatCanBeConnectedTo(String url) {
            String[] settings = {"paxoslease.transport=" + url.split(":", 2)[0], "paxoslease.node-id=a"};
            for (String port : List.of("0", "65536", "80800")) {
                assertThat(refused(with(settings, "paxoslease.members.b=" + url + port)))
                        .hasMessageContainingAll("paxoslease.members.b", url + port, "1 to 65535");
            }
            assertThat(configure(with(settings, "paxoslease.members.b=" + url + "65535"))
                            .members())
                    .containsOnlyKeys("b");
        }

        /** Nobody could know one that is drawn. */
        @ParameterizedTest
        @ValueSource(strings = {"0", "-1", "65536"})
        void theOwnPortMustBeOneThatCanBeConnectedTo(String port) {
            assertThat(refused("paxoslease.transport=tcp", "paxoslease.tcp.port=" + port))
                    .hasMessage("Property paxoslease.tcp.port = '" + port + "': ports are from 1 to 65535");
        }

        @Test
        void aUrlOfTheOtherTransportTellsHowToChooseIt() {
            assertThat(refused("paxoslease.node-id=a", "paxoslease.members.a=tls://localhost:7411")
                            .remedy())
                    .contains("paxoslease.transport=tcp");
        }

        @Test
        void encryptionNeedsABundle() {
            assertThat(refused(remote).property()).isEqualTo("paxoslease.ssl.bundle");
        }

        @Test
        void remoteMembersNeedASecretOrCertificates() {
            String[] plain = {
                "paxoslease.transport=tcp",
                "paxoslease.node-id=a",
                "paxoslease.members.a=tcp://10.0.0.1:7411",
                "paxoslease.members.b=tls://10.0.0.2:7411",
                "paxoslease.ssl.bundle=cell"
            };
            InvalidCellConfigurationException refusal = refused(plain);
            assertThat(refusal.property()).isEqualTo("paxoslease.security.shared-secret");
            assertThat(refusal.remedy()).contains("tls://");
            assertThat(configure(with(plain, "paxoslease.security.shared-secret=sixteen bytes and more"))
                            .answersOverTcp())
                    .isTrue();
        }

        /** Nodes that still use HTTP may call, but not without a secret where certificates stand in for it. */
        @Test
        void theWebServerAnswersTooUnlessOnlyCertificatesAuthenticate() {
            assertThat(configure(with(three, "paxoslease.node-id=a")).answersIn(Port.APPLICATION))
                    .isTrue();
            String[] encrypted = with(remote, "paxoslease.ssl.bundle=cell");
            assertThat(configure(encrypted).answersIn(Port.APPLICATION)).isFalse();
            assertThat(configure(with(encrypted, "paxoslease.security.shared-secret=sixteen bytes and more"))
                            .answersIn(Port.APPLICATION))
                    .isTrue();
        }
    }

    @Nested
    class NamesOfLeases {

        @Test
        void areRefusedIfTheyAreTooLong() {
            assertThat(refused("paxoslease.leases[" + "x".repeat(256) + "].candidate=true"))
                    .hasMessageStartingWith("Property paxoslease.leases = 'xxx")
                    .hasMessageEndingWith("': the name of a lease is longer than 255 bytes of UTF-8");
            assertThat(configure("paxoslease.leases[" + "x".repeat(255) + "].candidate=true")
                            .node()
                            .leases())
                    .hasSize(1);
        }
    }

    @Nested
    class Times {

        @ParameterizedTest
        @CsvSource({
            "paxoslease.lease-time, 0s",
            "paxoslease.lease-time, -1s",
            "paxoslease.lease-time, 9ms",
            "paxoslease.lease-time, 8d",
            "paxoslease.max-lease-time, 0s",
            "paxoslease.max-clock-drift, 0.5",
            "paxoslease.max-clock-drift, -0.1",
            "paxoslease.max-clock-drift, NaN",
            "paxoslease.history.events, -1",
            "paxoslease.history.leases, 0",
            "paxoslease.round-timeout, 0s",
            "paxoslease.round-timeout, 10s",
            "paxoslease.leases.job.lease-time, 11s",
            "paxoslease.leases.job.lease-time, 0s",
            "paxoslease.leases.job.priority, 11",
            "paxoslease.leases.job.priority, -1"
        })
        void outOfRangeAreRefusedByName(String property, String value) {
            assertThat(refused(property + "=" + value).property()).isEqualTo(property);
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "paxoslease.lease-time=10ms",
                    "paxoslease.lease-time=7d",
                    "paxoslease.max-clock-drift=0",
                    "paxoslease.max-clock-drift=0.49",
                    "paxoslease.history.events=0",
                    "paxoslease.history.leases=1",
                    "paxoslease.round-timeout=1ns",
                    "paxoslease.round-timeout=9999ms",
                    "paxoslease.leases.job.lease-time=10s",
                    "paxoslease.leases.job.priority=10",
                    "paxoslease.shutdown.drain-timeout=0s"
                })
        void areAllowedAtTheEndsOfTheirRange(String setting) {
            assertThat(configure(setting).standalone()).isTrue();
        }

        /** One second was meant. */
        @Test
        void ofARoundThatIsHardlyLongEnoughAreWarnedOf() {
            assertThat(configure("paxoslease.round-timeout=1").warnings())
                    .singleElement()
                    .asString()
                    .contains("paxoslease.round-timeout is 1ms", "write 1s");
            assertThat(configure("paxoslease.round-timeout=10ms").warnings()).isEmpty();
        }

        @Test
        void ofARoundAreWhatIsSet() {
            assertThat(configure("paxoslease.round-timeout=300ms").node().roundTimeout())
                    .isEqualTo(Duration.ofMillis(300));
        }

        @ParameterizedTest
        @CsvSource({
            "8d, 8d",
            "192h, 8d",
            "169h, 169h",
            "10081m, 10081m",
            "-60s, -1m",
            "604801s, 604801s",
            "604800001ms, 604800001ms",
            "0m, 0s",
            "5000us, 5ms",
            "5us, PT0.000005S"
        })
        void areShownInTheLargestUnitOfWhichTheyAreAWholeNumber(String value, String shown) {
            assertThat(refused("paxoslease.lease-time=" + value))
                    .hasMessageContaining("paxoslease.lease-time = '" + shown + "'");
        }

        @Test
        void aLeaseTimeThatLacksItsUnitIsWarnedOf() {
            assertThat(configure("paxoslease.lease-time=10").warnings())
                    .singleElement()
                    .asString()
                    .contains("paxoslease.lease-time is 10ms", "10s");
            assertThat(configure("paxoslease.lease-time=100ms").warnings()).isEmpty();
        }

        @Test
        void aLeaseTimeOfOneLeaseThatLacksItsUnitIsWarnedOf() {
            assertThat(configure("paxoslease.leases.invoices.lease-time=10", "paxoslease.leases.reports.priority=5")
                            .warnings())
                    .singleElement()
                    .asString()
                    .contains("paxoslease.leases.invoices.lease-time is 10ms", "10s");
        }

        @Test
        void aDrainTimeoutThatLacksItsUnitIsWarnedOf() {
            assertThat(configure("paxoslease.shutdown.drain-timeout=20").warnings())
                    .singleElement()
                    .asString()
                    .contains("paxoslease.shutdown.drain-timeout is 20ms", "20s");
            assertThat(configure("paxoslease.shutdown.drain-timeout=0").warnings())
                    .isEmpty();
        }

        @Test
        void aNegativeDrainTimeoutIsRefused() {
            assertThat(refused("paxoslease.shutdown.drain-timeout=-1s"))
                    .hasMessage("Property paxoslease.shutdown.drain-timeout = '-1s': it must not be negative");
        }

        @Test
        void aDrainTimeoutThatSpringDoesNotWaitForIsWarnedOf() {
            assertThat(configure("paxoslease.shutdown.drain-timeout=30s").warnings())
                    .singleElement()
                    .asString()
                    .contains("drain-timeout is 30s", "spring.lifecycle.timeout-per-shutdown-phase, 30s");
            String phase = "spring.lifecycle.timeout-per-shutdown-phase=";
            assertThat(configure(phase + "20s").warnings()).hasSize(1);
            assertThat(configure("paxoslease.shutdown.drain-timeout=40s", phase + "1m")
                            .warnings())
                    .isEmpty();
        }

        @Test
        void leaseTimeAboveTheMaximumIsRefused() {
            assertThat(refused("paxoslease.lease-time=20s", "paxoslease.max-lease-time=10s"))
                    .hasMessageContainingAll("paxoslease.lease-time = '20s'", "max-lease-time = 10s");
        }
    }

    @Nested
    class Security {

        @Test
        void membersBeyondTheLoopbackInterfaceNeedASecret() {
            InvalidCellConfigurationException refusal = refused(THREE_REMOTE);

            assertThat(refusal).hasMessageContainingAll("paxoslease.security.shared-secret", "[a, b, c]", "loopback");
            assertThat(refusal.remedy()).contains("paxoslease.security.shared-secret", "allow-unauthenticated");
        }

        @Test
        void aPortForFramesBeyondTheLoopbackInterfaceNeedsASecretTooWhereNoMemberIsBeyondIt() {
            String[] everywhere = {
                "paxoslease.transport=tcp",
                "paxoslease.node-id=a",
                "paxoslease.members.a=tcp://localhost:7411",
                "paxoslease.tcp.address=0.0.0.0"
            };
            InvalidCellConfigurationException refusal = refused(everywhere);

            assertThat(refusal).hasMessageContainingAll("paxoslease.tcp.address = '0.0.0.0'", "anybody");
            assertThat(refusal.remedy()).contains("paxoslease.security.shared-secret", "remove");
            configure(with(everywhere, "paxoslease.security.shared-secret=0123456789abcdef"));
            configure(with(everywhere, "paxoslease.security.allow-unauthenticated=true"));
            configure(with(everywhere, "paxoslease.tcp.address=127.0.0.2"));
        }

        @Test
        void aNameThatIsNotLocalhostIsNotTakenForLoopback() {
            assertThat(refused("paxoslease.members.a=http://127.0.0.1.example.com:8080", "paxoslease.node-id=a"))
                    .hasMessageContaining("loopback");
        }

        @Test
        void aSecretOrAnExplicitDecisionIsEnough() {
            assertThat(configure(with(THREE_REMOTE, "paxoslease.security.shared-secret=0123456789abcdef"))
                            .wire()
                            .secrets())
                    .hasSize(1);
            assertThat(configure(with(THREE_REMOTE, "paxoslease.security.allow-unauthenticated=true"))
                            .wire()
                            .secrets())
                    .isEmpty();
        }

        @Test
        void mutualTlsIsEnoughIfAllMembersUseItAndClientsMustShowTheirs() {
            String[] https = {
                "paxoslease.node-id=a", "paxoslease.members.a=https://10.0.0.1:8443", "paxoslease.ssl.bundle=cell"
            };
            assertThat(configure(with(https, "server.ssl.client-auth=need")).isAcceptor())
                    .isTrue();
            refused(https);
            refused(with(https, "server.ssl.client-auth=need", "paxoslease.members.b=http://10.0.0.2:8080"));
        }

        @Test
        void mutualTlsMustBeThatOfTheServerInWhichAcceptorsAnswer() {
            String[] https = {
                "paxoslease.node-id=a",
                "paxoslease.members.a=https://10.0.0.1:9443",
                "paxoslease.ssl.bundle=cell",
                "paxoslease.endpoint.port=management"
            };
            String[] ownPort = with(https, "management.server.port=9443");

            assertThat(refused(with(ownPort, "server.ssl.client-auth=need")).remedy())
                    .contains("management.server.ssl.client-auth=need");
            assertThat(configure(with(ownPort, "management.server.ssl.client-auth=need"))
                            .isAcceptor())
                    .isTrue();
            refused(with(https, "management.server.ssl.client-auth=need"));
            assertThat(configure(with(https, "server.ssl.client-auth=need")).isAcceptor())
                    .isTrue();
        }

        /** Actuator's server has a port of its own then, which is another one. */
        @Test
        void mutualTlsIsThatOfActuatorsServerAlsoWhereBothPortsAreDrawn() {
            assertThat(refused(
                                    "paxoslease.node-id=a",
                                    "paxoslease.members.a=https://10.0.0.1:9443",
                                    "paxoslease.ssl.bundle=cell",
                                    "paxoslease.endpoint.port=management",
                                    "server.port=0",
                                    "server.ssl.client-auth=need",
                                    "management.server.port=0")
                            .remedy())
                    .contains("management.server.ssl.client-auth=need");
        }

        @Test
        void aShortSecretIsRefusedWithoutShowingIt() {
            InvalidCellConfigurationException refusal = refused("paxoslease.security.shared-secret=hunter2");

            assertThat(refusal).hasMessageContaining("at least 16 bytes").hasMessageNotContaining("hunter2");
            assertThat(refusal.remedy()).doesNotContain("hunter2");
        }

        /** Such as an empty entry of a template between quotes. */
        @Test
        void whiteSpaceAloneIsNoSecretAndMakesNoneLonger() {
            assertThat(refused("paxoslease.security.shared-secret=" + " ".repeat(20)))
                    .hasMessage("Property paxoslease.security.shared-secret: it must have at least 16 bytes, but has 0"
                            + " without the white space around it");
            assertThat(refused("paxoslease.security.shared-secret=0123456789abcde\n"))
                    .hasMessageContaining("but has 15 without the white space around it");
        }

        /** It belongs to the secret: other nodes may have it, too. */
        @Test
        void aSecretWithWhiteSpaceAroundIsKeptWithAWarning() {
            String[] settings = {
                "paxoslease.security.shared-secret=0123456789abcdef\n",
                "paxoslease.security.accepted-secrets[0]= fedcba9876543210"
            };
            CellConfiguration cell = configure(settings);

            assertThat(cell.warnings())
                    .hasSize(2)
                    .anyMatch(warning -> warning.startsWith("paxoslease.security.shared-secret begins or ends with"))
                    .anyMatch(warning -> warning.startsWith("paxoslease.security.accepted-secrets[0] begins or ends"))
                    .noneMatch(warning -> warning.contains("0123") || warning.contains("fedc"));
            assertThat(configure("paxoslease.security.shared-secret=0123 456789 abcdef")
                            .warnings())
                    .isEmpty();
        }

        @Test
        void theSharedSecretIsUsedAndOthersAreAccepted() {
            assertThat(configure(with(
                                    THREE_REMOTE,
                                    "paxoslease.security.shared-secret=0123456789abcdef",
                                    "paxoslease.security.accepted-secrets=fedcba9876543210,another long secret"))
                            .wire()
                            .secrets())
                    .hasSize(3);
        }

        @Test
        void acceptedSecretsAreHeldToTheSameRules() {
            InvalidCellConfigurationException refusal = refused(with(
                    THREE_REMOTE,
                    "paxoslease.security.shared-secret=0123456789abcdef",
                    "paxoslease.security.accepted-secrets=fedcba9876543210,hunter2"));

            assertThat(refusal.property()).isEqualTo("paxoslease.security.accepted-secrets[1]");
            assertThat(refusal).hasMessageContaining("at least 16 bytes").hasMessageNotContaining("hunter2");
        }

        @Test
        void acceptedSecretsAloneAuthenticateNothing() {
            InvalidCellConfigurationException refusal =
                    refused("paxoslease.security.accepted-secrets=fedcba9876543210");

            assertThat(refusal.property()).isEqualTo("paxoslease.security.accepted-secrets");
            assertThat(refusal.remedy()).contains("paxoslease.security.shared-secret");
        }

        @Test
        void aSecretNeverShowsInTheProperties() {
            assertThat(new PaxosLeaseProperties.SecurityProperties(
                                    "correct horse battery", List.of("staple horse staple"), false)
                            .toString())
                    .doesNotContain("horse");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"paxoslease", "/", "/a/", "/a b", "//a", "/a?b", "/.", "/a/../b", "/a/."})
    void refusesABasePathThatCannotWork(String path) {
        assertThat(refused("paxoslease.endpoint.base-path=" + path).property())
                .isEqualTo("paxoslease.endpoint.base-path");
    }

    @ParameterizedTest
    @CsvSource({"paxoslease.cell-name", "paxoslease.default-lease"})
    void refusesEmptyNames(String property) {
        assertThat(refused(property + "=").property()).isEqualTo(property);
    }

    /** Nobody sees a blank at the end of a line, and what the two names guard would run twice. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "paxoslease.node-id=node-1 ",
                "paxoslease.cell-name= billing",
                "paxoslease.default-lease=leader\t",
                "paxoslease.default-lease=leader\u00a0",
                "paxoslease.leases[invoices ].lease-time=1s"
            })
    void refusesNamesWithWhiteSpaceAround(String setting) {
        assertThat(refused(setting)).hasMessageContaining("begins or ends with white space");
    }

    /** Nobody sees them either. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "paxoslease.node-id=node\u00071",
                "paxoslease.cell-name=bill\ning",
                "paxoslease.default-lease=lead\u001ber",
                "paxoslease.leases[in\tvoices].lease-time=1s"
            })
    void refusesNamesWithControlCharacters(String setting) {
        assertThat(refused(setting)).hasMessageContaining("has a control character");
    }

    @Test
    void showsWhatNobodySeesInOneLine() {
        assertThat(refused("paxoslease.node-id=node-1\n"))
                .hasMessageStartingWith("Property paxoslease.node-id = 'node-1\\u000a': it begins or ends with");
        assertThat(refused("paxoslease.members.a=http://localhost:8080\t"))
                .hasMessageStartingWith(
                        "Property paxoslease.members.a = 'http://localhost:8080\\u0009': this is not a URL");
    }
}
