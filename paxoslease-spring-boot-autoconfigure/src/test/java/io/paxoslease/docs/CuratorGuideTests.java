package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** The examples of the guides from Curator and on limits: compiled and run here, shown there exactly as they are. */
class CuratorGuideTests {

    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() {
        application = new SpringApplicationBuilder(GuideApplication.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off")
                .run();
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @Test
    void theLatchLeadsIsToldAndGivesUp() {
        ReportLatch latch = application.getBean(ReportLatch.class);
        Awaitility.await().until(() -> latch.hasLeadership() && latch.log.contains("leader"));

        latch.close();

        assertThat(latch.hasLeadership()).isFalse();
        Awaitility.await().until(() -> latch.log.equals(List.of("leader", "not leader")));
    }

    @Test
    void theSelectorWorksUnderALeaseThatIsFreeAfterwards() throws Exception {
        IndexSelector selector = new IndexSelector(application.getBean(LeaseManager.class), 3);

        selector.takeLeadership();

        assertThat(selector.done).hasSize(3).allMatch(line -> line.matches("part with token \\d+"));
        assertThat(selector.leases.tryAcquire("index", Duration.ofSeconds(1))).hasValueSatisfying(Lease::release);
    }

    @Test
    void theMutexExcludesWhoIsTooLate() throws Exception {
        LeaseManager leases = application.getBean(LeaseManager.class);
        ImportMutex mutex = new ImportMutex(leases);

        assertThat(mutex.importFile("a.csv")).isTrue();
        try (Lease other = leases.tryAcquire("import", Duration.ofSeconds(10)).orElseThrow()) {
            assertThat(mutex.importFile("b.csv")).isFalse();
            assertThat(other.isHeld()).isTrue();
        }

        assertThat(mutex.done).singleElement().asString().matches("a.csv with token \\d+");
    }

    @Test
    void aLeaseIsNotReentrant() {
        LeaseManager leases = application.getBean(LeaseManager.class);

        // snippet reentrant
        Lease outer = leases.tryAcquire("stock", Duration.ofSeconds(10)).orElseThrow();
        assertThat(leases.tryAcquire("stock", Duration.ofSeconds(10))).isEmpty();
        outer.release();
        // end
    }

    @Configuration
    @EnableAutoConfiguration
    @Import(ReportLatch.class)
    static class GuideApplication {}
}

// snippet latch
@Component
class ReportLatch {

    final List<String> log = new CopyOnWriteArrayList<>();
    private final LeaderElection election;

    ReportLatch(LeaseManager leases) {
        election = leases.election("reports");
        election.start();
    }

    boolean hasLeadership() {
        return election.isLeader();
    }

    @EventListener
    void isLeader(LeaseAcquiredEvent event) {
        if (event.leaseName().equals("reports")) {
            log.add("leader");
        }
    }

    @EventListener({LeaseLostEvent.class, LeaseReleasedEvent.class})
    void notLeader(LeaseEvent event) {
        if (event.leaseName().equals("reports")) {
            log.add("not leader");
        }
    }

    void close() {
        election.stop();
    }
}
// end

class IndexSelector {

    final List<String> done = new CopyOnWriteArrayList<>();
    final LeaseManager leases;
    private int parts;

    IndexSelector(LeaseManager leases, int parts) {
        this.leases = leases;
        this.parts = parts;
    }

    // snippet selector
    void takeLeadership() throws InterruptedException, LeaseUnavailableException {
        try (Lease lease = leases.acquire("index", Duration.ofSeconds(10), Duration.ofHours(1))
                .autoExtend()) {
            while (lease.isHeld() && hasMore()) {
                indexNext(lease.fencingToken());
            }
        }
    }
    // end

    private boolean hasMore() {
        return parts > 0;
    }

    private void indexNext(long token) {
        parts--;
        done.add("part with token " + token);
    }
}

class ImportMutex {

    final List<String> done = new CopyOnWriteArrayList<>();
    private final LeaseManager leases;

    ImportMutex(LeaseManager leases) {
        this.leases = leases;
    }

    // snippet mutex
    boolean importFile(String file) throws InterruptedException {
        try (Lease lease = leases.acquire("import", Duration.ofSeconds(10), Duration.ofSeconds(1))
                .autoExtend()) {
            load(file, lease.fencingToken());
            return true;
        } catch (LeaseUnavailableException somebodyElseImports) {
            return false;
        }
    }
    // end

    private void load(String file, long token) {
        done.add(file + " with token " + token);
    }
}
