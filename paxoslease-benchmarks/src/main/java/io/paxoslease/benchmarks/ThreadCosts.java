package io.paxoslease.benchmarks;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the Java threads of this process have cost: those that live, and those that said so at their end. Not the compiler's and the collector's:
 * a cell that just started on a busy machine mostly compiles. Safe to use from any thread.
 */
final class ThreadCosts {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final LongAdder endedNanos = new LongAdder();
    private final LongAdder endedBytes = new LongAdder();

    /** To be called by a thread at its end, for afterwards nobody can tell. */
    void keepThisThread() {
        endedNanos.add(THREADS.getCurrentThreadCpuTime());
        endedBytes.add(THREADS.getCurrentThreadAllocatedBytes());
    }

    /** The processor time of all. */
    long nanos() {
        long sum = endedNanos.sum();
        for (long id : THREADS.getAllThreadIds()) {
            sum += Math.max(0, THREADS.getThreadCpuTime(id));
        }
        return sum;
    }

    /** What all have allocated. */
    long allocatedBytes() {
        long sum = endedBytes.sum();
        for (long bytes : THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds())) {
            sum += Math.max(0, bytes);
        }
        return sum;
    }
}
