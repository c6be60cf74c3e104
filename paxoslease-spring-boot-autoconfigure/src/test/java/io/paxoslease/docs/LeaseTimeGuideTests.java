package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.protocol.Timing;
import io.paxoslease.spring.LeaderOnly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** The tables and the example of {@code docs/guides/lease-time.md}. */
class LeaseTimeGuideTests {

    private static final String PAGE = "docs/guides/lease-time.md";
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (\\d+) s \\| (.*) \\|$");
    private static final Pattern DRIFT_ROW = Pattern.compile("(?m)^\\| `(0(?:\\.\\d+)?)` \\| (\\S+) s \\|");
    private static final Pattern EXTENSION = Pattern.compile("(?m)^\\| extension \\| `2 m` \\| `(\\d+) m` \\|$");
    private static final double DRIFT = 0.01;

    @Test
    void theTableOfLeaseTimesFollowsFromTheRules() {
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        Matcher extension = EXTENSION.matcher(Documents.read("docs/scaling.md"));
        assertThat(extension.find()).isTrue();
        // To the two other members.
        int bytes = 2 * Integer.parseInt(extension.group(1));
        assertThat(Documents.read(PAGE)).contains("without frames, is " + bytes + " bytes");
        Matcher row = ROW.matcher(Documents.read(PAGE));
        while (row.find()) {
            rows++;
            double seconds = Double.parseDouble(row.group(1));
            double held = held(seconds, DRIFT);
            // An extension starts at half of what remains; T runs on at the acceptors after a crash.
            String expected = String.format(
                    Locale.ROOT,
                    "%.1f s to %.0f s | %.1f s | %.0f s | %.0f | %.0f kB/s",
                    seconds - held / 2,
                    seconds,
                    held / 2,
                    seconds,
                    2_000 / seconds,
                    2_000 / held * bytes / 1_000);
            if (!row.group(2).equals(expected)) {
                wrong.add(row.group(1) + " s: " + expected);
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(rows).isGreaterThan(4);
    }

    @Test
    void theTableOfDriftsFollowsFromRuleT2() {
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        Matcher row = DRIFT_ROW.matcher(Documents.read(PAGE));
        while (row.find()) {
            rows++;
            String expected = String.format(Locale.ROOT, "%.2f", held(10, Double.parseDouble(row.group(1))));
            if (!row.group(2).equals(expected)) {
                wrong.add(row.group(1) + ": " + expected);
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(rows).isGreaterThan(2);
    }

    private static double held(double seconds, double drift) {
        long nanos = (long) (seconds * 1e9);
        return new Timing(nanos, drift).ownerNanos(nanos) / 1e9;
    }

    @Test
    void theShortJobRunsWhileEnoughIsLeft() {
        try (ConfigurableApplicationContext application = start("10s")) {
            PaymentJob job = application.getBean(PaymentJob.class);
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> job.paid() > 0);
        }
    }

    @Test
    void aLeaseTimeThatNeverLeavesEnoughFailsTheStart() {
        assertThatThrownBy(() -> start("2s").close()).hasMessageContaining("is never left of the lease time");
    }

    private static ConfigurableApplicationContext start(String leaseTime) {
        return new SpringApplicationBuilder(GuideApplication.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off", "paxoslease.lease-time=" + leaseTime)
                .run();
    }

    @Configuration
    @EnableAutoConfiguration
    @EnableScheduling
    @Import(PaymentJob.class)
    static class GuideApplication {}

    @Component
    static class PaymentJob {

        private final AtomicInteger paid = new AtomicInteger();

        // snippet short
        @Scheduled(fixedDelay = 500)
        @LeaderOnly(value = "payments", minRemaining = "2s")
        void payOne() {
            // Takes a second at most, and ends before the lease can.
            pay();
        }
        // end

        int paid() {
            return paid.get();
        }

        private void pay() {
            paid.incrementAndGet();
        }
    }
}
