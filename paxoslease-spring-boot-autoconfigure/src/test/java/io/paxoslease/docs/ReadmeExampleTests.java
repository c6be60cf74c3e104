package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.LeaderOnly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** The examples of the README: compiled and run here, and the README shows exactly this text. */
@ExtendWith(OutputCaptureExtension.class)
class ReadmeExampleTests {

    private static final String SOURCE =
            "paxoslease-spring-boot-autoconfigure/src/test/java/io/paxoslease/docs/ReadmeExampleTests.java";
    private static final Pattern SNIPPET =
            Pattern.compile("(?m)^( *)// snippet (\\w+)\\n(.*?)^ *// end$", Pattern.DOTALL);

    @Configuration
    @EnableAutoConfiguration
    @EnableScheduling
    @Import({Examples.InvoiceJob.class, Examples.ReportWriter.class})
    static class ExampleApplication {}

    @Test
    void theJobRunsOnceTheApplicationLeads(CapturedOutput output) {
        try (ConfigurableApplicationContext application = start()) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> output.getOut().contains(" sends invoices, fencing token "));
            assertThat(application
                            .getBean(LeaseManager.class)
                            .election("invoices")
                            .isLeader())
                    .isTrue();
        }
    }

    @Test
    void theReportIsWrittenUnderItsLeaseWhichIsFreeAfterwards() {
        try (ConfigurableApplicationContext application = start()) {
            Examples.ReportWriter writer = application.getBean(Examples.ReportWriter.class);

            writer.writeReport(List.of("one", "two"));

            assertThat(writer.written).hasSize(2).allMatch(line -> line.matches("(one|two) by token \\d+"));
            assertThat(application.getBean(LeaseManager.class).tryAcquire("report/2026-11", Duration.ofSeconds(1)))
                    .as("the lease is released")
                    .isPresent();
        }
    }

    @Test
    void theReadmeShowsTheExamplesAsTheyAre() {
        Map<String, String> snippets = new LinkedHashMap<>();
        Matcher matcher = SNIPPET.matcher(Documents.read(SOURCE));
        while (matcher.find()) {
            snippets.put(
                    "snippet: ReadmeExampleTests " + matcher.group(2),
                    matcher.group(3).replaceAll("(?m)^" + matcher.group(1), ""));
        }
        Map<String, String> shown = new LinkedHashMap<>();
        Documents.blocks("README.md").stream()
                .filter(block -> block.marker().startsWith("snippet: "))
                .forEach(block -> shown.put(block.marker(), block.text()));

        assertThat(shown).isEqualTo(snippets);
    }

    private static ConfigurableApplicationContext start() {
        return new SpringApplicationBuilder(ExampleApplication.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off")
                .run();
    }

    /** An interface, so that what is in it is static without saying so: the README does not either. */
    interface Examples {

        // snippet job
        @Component
        class InvoiceJob {

            @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.SECONDS)
            @LeaderOnly("invoices")
            void sendInvoices() {
                Lease lease = Lease.current().orElseThrow();
                System.out.println(lease.owner() + " sends invoices, fencing token " + lease.fencingToken());
            }
        }
        // end

        @Component
        class ReportWriter {

            final List<String> written = new ArrayList<>();
            private final LeaseManager leases;

            ReportWriter(LeaseManager leases) {
                this.leases = leases;
            }

            void writeReport(List<String> chapters) {
                // snippet leases
                Optional<Lease> attempt = leases.tryAcquire("report/2026-11", Duration.ofSeconds(10));
                attempt.ifPresent(lease -> {
                    try (lease) {
                        for (String chapter : chapters) {
                            lease.checkHeld();
                            write(chapter, lease.fencingToken());
                        }
                    }
                });
                // end
            }

            private void write(String chapter, long token) {
                written.add(chapter + " by token " + token);
            }
        }
    }
}
