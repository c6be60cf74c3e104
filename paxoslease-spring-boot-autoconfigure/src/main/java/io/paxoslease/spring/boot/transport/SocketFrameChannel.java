package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import io.paxoslease.wire.Lines;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Carries frames over connections that stay open, with one thread for all members: as HTTP/1.1 POSTs, because general HTTP clients take
 * several times as long as the exchange itself, or as they are; encrypted by the JDK's TLS or not. {@link FrameChannels} makes it.
 *
 * <p>Stages complete on that thread, so what depends on them must be short and must not block; a frame that is refused at once completes
 * before {@link #exchange} returns. The thread that calls {@link #exchange} writes to an idle connection itself, which saves a change of
 * threads; everything else is done by the thread of this channel, host names are resolved by others.
 *
 * <p>Up to four exchanges with a member run at once, each on a connection of its own, some more wait for one. A frame that was written to a
 * connection which the member had closed meanwhile is sent once more on a new one, so a member may see it twice. Host names are resolved
 * for each new connection, as far as the cache of the JVM lets them. Where that fails, also for want of a thread, or lasts longer than
 * exchanges may, a member is called at the addresses that its name had last.
 */
public final class SocketFrameChannel implements FrameChannel {

    private static final System.Logger LOG = System.getLogger(SocketFrameChannel.class.getName());
    private static final int READ_BYTES = 64 * 1024;

    private final String name;
    private final Lines lines;
    private final Complaint failures;

    private final Map<String, SocketMember> members = new LinkedHashMap<>();
    private final ThreadPoolExecutor resolver;
    private final Queue<Runnable> settled = new ConcurrentLinkedQueue<>();
    private final Queue<SocketConnection> resumed = new ConcurrentLinkedQueue<>();

    private volatile @Nullable Selector selector;
    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    private final Object alarm = new Object();
    /** When the thread looks for overdue exchanges next: never later than the first deadline, often earlier. Guarded by alarm. */
    private long wakeAtNanos = System.nanoTime();

    SocketFrameChannel(String name) {
        this.name = name;
        this.lines = new Lines(LOG, name);
        this.failures = new Complaint(lines, "The channel of " + name + " goes on after a failure");
        this.resolver = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> daemon(task, "dns"));
    }

    /** Only before the first exchange. */
    void add(String member, Protocol protocol) {
        members.put(member, new SocketMember(this, protocol));
    }

    private Thread daemon(Runnable task, String suffix) {
        Thread made = new Thread(task, "paxoslease-" + name + "-" + suffix);
        made.setDaemon(true);
        return made;
    }

    @Override
    public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
        SocketMember receiver = members.get(member);
        if (receiver == null) {
            return CompletableFuture.failedFuture(new IOException("no URL is known for it"));
        }
        Exchange exchange = new Exchange(frame, timeoutNanos, System.nanoTime());
        try {
            if (selector == null || closed) {
                open(receiver.url());
            }
            try {
                receiver.start(exchange);
            } finally {
                wakeBy(exchange.deadlineNanos);
            }
            return exchange.stage;
        } catch (IOException refused) {
            return CompletableFuture.failedFuture(refused);
        } catch (RuntimeException | OutOfMemoryError failure) {
            // no thread or no memory left; what was begun ends at its time limit
            return CompletableFuture.failedFuture(receiver.url().lost(failure));
        }
    }

    private synchronized void open(MemberUrl url) throws IOException {
        if (closed) {
            throw url.closed();
        }
        if (selector == null) {
            ByteBuffer input = ByteBuffer.allocateDirect(READ_BYTES);
            Selector opened = Selector.open();
            Thread started = daemon(() -> run(opened, input), "channel");
            // Before anything is remembered: if there is no thread to be had, the next exchange tries again.
            try {
                started.start();
            } catch (OutOfMemoryError none) {
                opened.close();
                throw none;
            }
            thread = started;
            selector = opened;
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        wakeUp();
    }

    private void run(Selector selector, ByteBuffer input) {
        while (!closed) {
            try {
                selector.select(key -> ready(key, input), millisToSleep());
                for (SocketConnection next = resumed.poll(); next != null; next = resumed.poll()) {
                    next.member().resume(next, input);
                }
                expire();
                deliver();
            } catch (Throwable impossible) {
                goOnAfter(impossible, failures);
                // For what is settled but not delivered.
                selector.wakeup();
            }
            // For which there was no thread.
            lines.write();
        }
        members.values().forEach(SocketMember::close);
        deliver();
        resolver.shutdown();
        try {
            selector.close();
        } catch (IOException ignored) {
            // nothing is left that it could do
        }
    }

    private static void ready(SelectionKey key, ByteBuffer input) {
        if (key.attachment() instanceof SocketConnection connection) {
            connection.member().ready(connection, input);
        }
    }

    /** A failure that cannot even be told must not end the thread. So callers make no words: where there is no memory, that fails too. */
    static void goOnAfter(Throwable failure, Complaint failures) {
        try {
            failures.tell("", failure);
        } catch (RuntimeException | Error unheard) {
            // nobody is left to tell
        }
        sleepABit();
    }

    /** A failure that comes at every turn must not keep a processor busy. */
    static void sleepABit() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException ignored) {
            // nobody interrupts this thread to any purpose
        }
    }

    /** Completes stages outside of all locks: what depends on them may call this channel. */
    private void deliver() {
        for (Runnable next = settled.poll(); next != null; next = settled.poll()) {
            next.run();
        }
    }

    /** Has the thread of this channel complete a stage. */
    void settle(Runnable completion) {
        settled.add(completion);
        wakeUp();
    }

    /** Has the thread of this channel read and write although the selector has no news. */
    void resume(SocketConnection connection) {
        resumed.add(connection);
        wakeUp();
    }

    /** Has the thread of this channel look at its connections and at what is settled. */
    void wakeUp() {
        Selector current = selector;
        if (current != null && Thread.currentThread() != thread) {
            current.wakeup();
        }
    }

    /** The selector, which exists once there was an exchange. */
    Selector selector() {
        return Objects.requireNonNull(selector, "no exchange yet");
    }

    /** Where host names are resolved, and whatever else may take long. */
    Executor resolver() {
        return resolver;
    }

    private long millisToSleep() {
        synchronized (alarm) {
            long nanos = wakeAtNanos - System.nanoTime();
            return Math.max(1, (nanos + 999_999) / 1_000_000);
        }
    }

    /** Under load deadlines come in order and most are met, so this neither wakes the thread often nor keeps it searching. */
    private void wakeBy(long deadlineNanos) {
        synchronized (alarm) {
            if (deadlineNanos - wakeAtNanos >= 0) {
                return;
            }
            wakeAtNanos = deadlineNanos;
        }
        wakeUp();
    }

    private void expire() {
        long now = System.nanoTime();
        synchronized (alarm) {
            if (now - wakeAtNanos < 0) {
                return;
            }
            // First: an exchange that starts during the search is either found or sets the alarm itself.
            wakeAtNanos = now + Exchange.MAX_TIMEOUT_NANOS;
        }
        for (SocketMember member : members.values()) {
            member.expire(now).ifPresent(nanos -> wakeBy(now + nanos));
        }
    }
}
