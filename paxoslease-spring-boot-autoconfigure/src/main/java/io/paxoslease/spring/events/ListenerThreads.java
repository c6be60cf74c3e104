package io.paxoslease.spring.events;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;

/** The threads on which listeners run: they come when needed and go when idle. Safe to use from any thread. */
final class ListenerThreads {

    private static final Log LOG = LogFactory.getLog(LeaseEventPublisher.class);
    private static final long COMPLAINT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final ThreadPoolExecutor threads;
    /** Why no thread could be started, until that is told. */
    private final AtomicReference<@Nullable Throwable> noThread = new AtomicReference<>();

    private long complainAtNanos = System.nanoTime();

    ListenerThreads(ThreadFactory factory) {
        this.threads =
                new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), factory);
    }

    static ThreadFactory of(ApplicationContext context) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, "paxoslease-listeners-" + number.incrementAndGet());
            thread.setDaemon(true);
            thread.setContextClassLoader(context.getClassLoader());
            return thread;
        };
    }

    /** Whether there was a thread for it. Where threads run short, everything goes on with those that there are. */
    boolean start(Runnable work) {
        try {
            threads.execute(work);
            return true;
        } catch (RuntimeException | OutOfMemoryError failure) {
            noThread.set(failure);
            return false;
        }
    }

    /** Where threads run short, each event may find none. Not to be called under a lock: a log may block. */
    void complainIfNone() {
        Throwable failure = noThread.getAndSet(null);
        if (failure != null && mayComplain()) {
            try {
                LOG.error("A thread for the listeners of lease events could not be started", failure);
            } catch (Throwable unheard) {
                // nobody is left to tell
            }
        }
    }

    private synchronized boolean mayComplain() {
        long nowNanos = System.nanoTime();
        if (nowNanos - complainAtNanos < 0) {
            return false;
        }
        complainAtNanos = nowNanos + COMPLAINT_NANOS;
        return true;
    }

    /** Lets what was started run to its end; threads go as soon as they are idle. */
    void close() {
        threads.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }
}
