package io.paxoslease.sample;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Short locks for tests: all nodes want the same few, now and then with patience, and give them back within moments. */
@Component
@ConditionalOnProperty("sample.lock-rate")
class LockJob {

    private static final int LOCKS = 3;
    private static final Duration LEASE_TIME = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofMillis(200);
    private static final int LONGEST_MILLIS = 40;

    private final LeaseManager leases;
    private final GuardedRuns runs;
    private final Random random = new Random();

    LockJob(LeaseManager leases, GuardedRuns runs) {
        this.leases = leases;
        this.runs = runs;
    }

    /** Takes a lock, works for a moment and gives it back; does nothing if another node has it. */
    @Scheduled(fixedDelayString = "${sample.lock-rate}")
    public void lock() throws InterruptedException {
        Optional<Lease> lock = take(Jobs.LOCK + random.nextInt(LOCKS));
        if (lock.isPresent()) {
            try (Lease lease = lock.get()) {
                runs.record(lease, run -> {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(LONGEST_MILLIS)));
                    return run.stillHeld() ? "held" : "lost";
                });
            }
        }
    }

    private Optional<Lease> take(String name) throws InterruptedException {
        try {
            return random.nextInt(4) == 0
                    ? Optional.of(leases.acquire(name, LEASE_TIME, PATIENCE))
                    : leases.tryAcquire(name, LEASE_TIME);
        } catch (LeaseUnavailableException held) {
            return Optional.empty();
        }
    }
}
