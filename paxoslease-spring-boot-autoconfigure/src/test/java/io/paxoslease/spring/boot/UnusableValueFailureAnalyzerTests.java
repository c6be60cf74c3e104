package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.env.MockEnvironment;

/** A value of the wrong kind stops the start with a sentence that says what would be right. */
class UnusableValueFailureAnalyzerTests {

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(PaxosLeaseAutoConfiguration.class)
    static class Application {}

    private static void start(String setting) {
        run("--" + setting);
    }

    private static void run(String argument) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.run(argument).close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "members=node-1,node-2 | 'node-1,node-2': members are URLs, each below an id | paxoslease.members.node-1=http://",
                "members=http://me:horse@localhost:8080 | 'http://me:...@localhost:8080': members are | node-1: http://",
                "members=http://me@home:horse@localhost:8080 | 'http://me@home:...@localhost:8080': members are | node-1: http://",
                "members=${NO_SUCH_MEMBERS} | '${NO_SUCH_MEMBERS}': members are URLs, each below an id | paxoslease.members.node-1",
                "leases=billing | 'billing': the settings of a lease stand below its name | paxoslease.leases.billing.lease-time=5s",
                "leases.billing=5s | leases.billing: the settings of a lease stand below | lease-time, candidate, priority",
                "leases[0]=billing | leases[0]: the settings of a lease stand below | A lease without any needs no entry",
                "endpoint=/paxoslease | endpoint: it has no value of its own | under paxoslease.endpoint: base-path, port",
                "tcp=7411 | tcp: it has no value of its own | Set them under paxoslease.tcp: port, address",
                "security=correct horse battery | security: it has no value of its own | shared-secret, accepted-secrets, allow-un",
                "lease-time=10sec | '10sec': it is no time | 500ms, 10s, 5m, 1h or 1d",
                "lease-time=${NO_SUCH_TIME} | it has a placeholder | Set the property or the environment variable",
                "lease-time=${NO_SUCH_TIME:soon} | 'soon': it is no time | 500ms, 10s, 5m, 1h or 1d",
                "leases.billing.lease-time=soon | leases.billing.lease-time = 'soon': it is no time | a whole number and its unit",
                "one-round-trip=maybe | 'maybe': it is neither true nor false | true or false",
                "leases.billing.candidate=maybe | 'maybe': it is neither true nor false | true or false",
                "leases.billing.priority=high | 'high': it is no whole number of at most 2147483647 | Set such a number",
                "leases.billing.priority= | priority = '': it is no whole number | leave it out",
                "history.events=99999999999 | '99999999999': it is no whole number of at most | Set such a number",
                "tcp.port=http | 'http': it is no whole number | leave it out",
                "max-clock-drift=1% | '1%': it is no number | 0.01",
                "transport=udp | 'udp': it is neither http nor tcp | one of them",
                "endpoint.port=9090 | '9090': it is neither application nor management | one of them",
                "security.accepted-secrets[1]=horse | accepted-secrets[1]: it is no entry of a list | from 0 without a gap",
                "security.accepted-secrets[0].next=horse | accepted-secrets[0].next: it is no entry of a list | after a dash",
                "security.shared-secret=horse${paxoslease.security.shared-secret} | it cannot be read | leads back to itself",
                "tcp.address=a b | 'a b': it is neither an IP address nor a name | an IP address of this machine",
            })
    @ExtendWith(OutputCaptureExtension.class)
    void saysWhatWouldBeRight(String setting, String rule, String remedy, CapturedOutput output) {
        assertThatThrownBy(() -> start("paxoslease." + setting)).hasRootCauseInstanceOf(Exception.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START", "Property paxoslease." + setting.replaceFirst("=.*", ""))
                .contains(rule, remedy)
                .doesNotContain("No converter found", "Update your application's configuration", "horse");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void saysWhereTheValueComesFrom(CapturedOutput output) {
        assertThatThrownBy(() -> start("paxoslease.lease-time=soon")).hasRootCauseInstanceOf(Exception.class);

        assertThat(output).contains("'soon': it is no time (\"paxoslease.lease-time\" from property source");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void leavesPlaceholdersInACircleToSpringBoot(CapturedOutput output) {
        assertThatThrownBy(() -> start("paxoslease.lease-time=${paxoslease.lease-time}"))
                .hasRootCauseInstanceOf(Exception.class);

        assertThat(output)
                .contains("Circular placeholder reference")
                .doesNotContain("without a value", "it is no time");
    }

    /** Spring Boot says that it failed at the last setting that it has read. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void doesNotShowTheSecretBeforeOneThatIsMissing(CapturedOutput output) {
        String settings = """
                {"paxoslease": {"security": {"shared-secret": "correct horse battery", "accepted-secrets": [null]}}}""";
        assertThatThrownBy(() -> run("--spring.application.json=" + settings)).hasRootCauseInstanceOf(Exception.class);

        assertThat(output)
                .contains("Property paxoslease.security.accepted-secrets: it cannot be read")
                .doesNotContain("horse");
    }

    @Test
    void leavesTheSettingsOfOthersToOthers() {
        Binder binder = Binder.get(new MockEnvironment().withProperty("paxoslease-like.time", "soon"));
        BindException failure =
                catchThrowableOfType(BindException.class, () -> binder.bind("paxoslease-like.time", Duration.class));

        assertThat(new UnusableValueFailureAnalyzer().analyze(failure)).isNull();
    }
}
