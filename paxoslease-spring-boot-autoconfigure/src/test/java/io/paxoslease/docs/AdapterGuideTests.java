package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.Lease;
import io.paxoslease.spring.boot.PaxosLeaseIntegrationAutoConfiguration;
import io.paxoslease.spring.boot.PaxosLeaseShedLockAutoConfiguration;
import io.paxoslease.spring.integration.PaxosLeaseLockRegistry;
import io.paxoslease.spring.shedlock.PaxosLeaseLockProvider;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** The examples of the guides from ShedLock and from Spring Integration: compiled and run here, shown there exactly as they are. */
class AdapterGuideTests {

    private static final String SOURCES = "paxoslease-spring-boot-autoconfigure/src/test/java/io/paxoslease/";
    private static final Pattern SNIPPET =
            Pattern.compile("(?m)^( *)// snippet (\\w+)\\n(.*?)^ *// end$", Pattern.DOTALL);

    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() {
        application = new SpringApplicationBuilder(GuideApplication.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off", "paxoslease.integration.roles=cluster")
                .run();
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @Test
    void theShedLockJobRunsUnderItsLock() {
        List<String> done = application.getBean(ShedLockInvoiceJob.class).done();

        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> done.size() > 1);
        assertThat(done).allMatch(line -> line.matches("invoices with token \\d+"));
    }

    @Test
    void theImportRunsUnderTheRegistrysLock() throws InterruptedException {
        Importer importer = application.getBean(Importer.class);

        importer.importFile("a.csv");

        assertThat(importer.done).singleElement().asString().matches("a.csv with token \\d+");
        assertThat(application.getBean(PaxosLeaseLockRegistry.class).lease("import"))
                .isEmpty();
    }

    @Test
    void theCandidateAndTheListenerAreTold() {
        ReportsCandidate candidate = application.getBean(ReportsCandidate.class);
        Awaitility.await().until(() -> candidate.leading);

        application.getBean(Roles.class).log.clear();
        candidate.handOver();

        Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> !candidate.leading);
        Awaitility.await()
                .until(() -> application
                        .getBean(Roles.class)
                        .log
                        .containsAll(List.of("reports is led elsewhere", "reports is led here")));
    }

    @Test
    void theGuidesShowTheExamplesAsTheyAre() {
        Map<String, String> snippets = new LinkedHashMap<>();
        for (String source : List.of("docs/AdapterGuideTests", "spring/integration/SpringCloudTaskTests")) {
            Matcher matcher = SNIPPET.matcher(Documents.read(SOURCES + source + ".java"));
            while (matcher.find()) {
                snippets.put(
                        "snippet: " + source.substring(source.lastIndexOf('/') + 1) + " " + matcher.group(2),
                        matcher.group(3).replaceAll("(?m)^" + matcher.group(1), ""));
            }
        }
        Map<String, String> shown = new LinkedHashMap<>();
        for (String guide : List.of("docs/guides/from-shedlock.md", "docs/guides/from-spring-integration.md")) {
            Documents.blocks(guide).stream()
                    .filter(block -> block.language().equals("java"))
                    .forEach(block -> shown.put(block.marker(), block.text()));
        }

        assertThat(shown).isEqualTo(snippets);
    }

    @Configuration
    @EnableAutoConfiguration
    @ImportAutoConfiguration({PaxosLeaseShedLockAutoConfiguration.class, PaxosLeaseIntegrationAutoConfiguration.class})
    @Import({
        SchedulingConfiguration.class,
        ShedLockInvoiceJob.class,
        Importer.class,
        ReportsCandidate.class,
        Roles.class
    })
    static class GuideApplication {}
}

// snippet configuration
@Configuration
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = "PT30M")
class SchedulingConfiguration {}
// end

@Component
class ShedLockInvoiceJob {

    private final List<String> done = new CopyOnWriteArrayList<>();
    private final PaxosLeaseLockProvider locks;

    ShedLockInvoiceJob(PaxosLeaseLockProvider locks) {
        this.locks = locks;
    }

    // snippet job
    @Scheduled(fixedRate = 100)
    @SchedulerLock(name = "invoices", lockAtLeastFor = "PT0.05S")
    void sendInvoices() {
        LockAssert.assertLocked();
        long token = locks.lease("invoices").map(Lease::fencingToken).orElseThrow();
        send("invoices", token);
    }
    // end

    List<String> done() {
        return done;
    }

    private void send(String what, long token) {
        done.add(what + " with token " + token);
    }
}

@Component
class Importer {

    final List<String> done = new CopyOnWriteArrayList<>();
    private final LockRegistry<?> locks;
    private final PaxosLeaseLockRegistry leases;

    Importer(LockRegistry<?> locks, PaxosLeaseLockRegistry leases) {
        this.locks = locks;
        this.leases = leases;
    }

    // snippet lock
    void importFile(String file) throws InterruptedException {
        locks.executeLocked("import", () -> {
            long token = leases.lease("import").map(Lease::fencingToken).orElseThrow();
            load(file, token);
        });
    }
    // end

    private void load(String file, long token) {
        done.add(file + " with token " + token);
    }
}

// snippet candidate
@Component
class ReportsCandidate extends AbstractCandidate {

    volatile boolean leading;
    private volatile Context context;

    ReportsCandidate() {
        super("any id", "reports");
    }

    @Override
    public void onGranted(Context granted) {
        context = granted;
        leading = true;
    }

    @Override
    public void onRevoked(Context ended) {
        leading = false;
    }

    void handOver() {
        context.yield();
    }
}
// end

@Component
class Roles {

    final List<String> log = new CopyOnWriteArrayList<>();

    // snippet listener
    @EventListener
    void granted(OnGrantedEvent event) {
        log.add(event.getRole() + " is led here");
    }

    @EventListener
    void revoked(OnRevokedEvent event) {
        log.add(event.getRole() + " is led elsewhere");
    }
    // end
}
