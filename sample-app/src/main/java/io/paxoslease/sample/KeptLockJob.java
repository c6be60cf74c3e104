package io.paxoslease.sample;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Locks for tests that all nodes want and keep for seconds, also while the application stops: what is at work under one then goes on to its end, after
 * the web server has given up its port.
 */
@Component
@ConditionalOnProperty("sample.keep-locks-up-to")
class KeptLockJob implements SmartLifecycle {

    private static final int LOCKS = 10;
    private static final Duration LEASE_TIME = Duration.ofSeconds(1);

    private final LeaseManager leases;
    private final GuardedRuns runs;
    private final long longestNanos;
    private final Random random = new Random();

    private volatile boolean running;
    private List<Thread> threads = List.of();

    KeptLockJob(LeaseManager leases, GuardedRuns runs, @Value("${sample.keep-locks-up-to}") Duration longest) {
        this.leases = leases;
        this.runs = runs;
        this.longestNanos = longest.toNanos();
    }

    /** Below that of the web server. */
    @Override
    public int getPhase() {
        return 0;
    }

    @Override
    public void start() {
        running = true;
        threads = IntStream.range(0, LOCKS)
                .mapToObj(number -> new Thread(() -> work(Jobs.LOCK + "kept-" + number), "kept-lock-" + number))
                .toList();
        threads.forEach(Thread::start);
    }

    private void work(String name) {
        while (running) {
            leases.tryAcquire(name, LEASE_TIME).ifPresent(this::keep);
            pause(200);
        }
    }

    private void keep(Lease lock) {
        long untilNanos = System.nanoTime() + random.nextLong(longestNanos);
        try (Lease lease = lock.autoExtend()) {
            runs.record(lease, run -> {
                while (run.stillHeld() && System.nanoTime() - untilNanos < 0) {
                    pause(5);
                }
                return "kept";
            });
        }
    }

    private static void pause(long millis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    @Override
    public void stop() {
        running = false;
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
