package io.paxoslease.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Threads that do the same over and over, each with names of its own; virtual ones with {@code -Dvirtual=true} on Java 21 or later. */
final class Workers {

    private static final String[][] NAMES = new String[128][64];

    static {
        for (int worker = 0; worker < NAMES.length; worker++) {
            for (int i = 0; i < NAMES[worker].length; i++) {
                NAMES[worker][i] = String.format("%04x%012x", worker, i);
            }
        }
    }

    private static final boolean VIRTUAL = Boolean.getBoolean("virtual");
    private static final ThreadFactory THREADS = VIRTUAL ? virtualThreads() : Thread::new;

    private Workers() {}

    /** By reflection, because this is compiled for Java 17 too. */
    private static ThreadFactory virtualThreads() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("Virtual threads need Java 21 or later", missing);
        }
    }

    /** What a worker repeats. */
    interface Work {

        /** Answers whether it succeeded; throwing is a failure too. */
        boolean run(int worker, long round) throws Exception;
    }

    /** One of the names of 16 characters that this worker alone uses, in turn. */
    static String name(int worker, long round) {
        return NAMES[worker][(int) (round % NAMES[worker].length)];
    }

    /**
     * Lets the workers work for that time and waits for all of them.
     *
     * @param costs where each worker keeps those of its thread
     * @return {@link Samples#summary}
     */
    static String run(int workers, long millis, Work work, ThreadCosts costs) throws InterruptedException {
        Samples all = new Samples();
        List<Thread> threads = new ArrayList<>();
        long start = System.nanoTime();
        long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
        for (int i = 0; i < workers; i++) {
            int worker = i;
            Thread thread = THREADS.newThread(() -> {
                Samples own = new Samples();
                long begin = System.nanoTime();
                for (long round = 0; begin - end < 0; round++) {
                    boolean good;
                    try {
                        good = work.run(worker, round);
                    } catch (Exception failure) {
                        good = false;
                    }
                    long now = System.nanoTime();
                    own.add(now - begin, good);
                    begin = now;
                }
                all.add(own);
                if (!VIRTUAL) {
                    costs.keepThisThread();
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return all.summary(System.nanoTime() - start);
    }
}
