package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The connections to one member and the exchanges with it. An exchange goes to an idle connection, else to a new one, else waits:
 *
 * <pre>
 *           slot free                address known               answer
 * waiting -----------> unresolved -----------------> connection --------> settled
 *                          ^          an idle connection was dead   |
 *                          +----------------------------------------+
 * </pre>
 *
 * A connection and an unresolved exchange take one slot each, a connection that is late none. Guarded by this object's monitor, which is
 * never held for long and under which no stage completes.
 */
final class SocketMember {

    static final int MAX_CONNECTIONS = 4;
    /** With that of the connection that is late. */
    static final int MAX_HANDSHAKES = MAX_CONNECTIONS + 1;

    static final int MAX_WAITING = 64;

    /**
     * How long one connection may take after its first exchange is overdue. If it were given up with that, a member with whom a handshake
     * takes longer, because it is far away or short of processors, would never be reached, only kept busy.
     */
    static final long MAX_LATE_NANOS = 5_000_000_000L;

    /** How long a look-up takes at least before it is what is wrong. */
    private static final long LONG_LOOK_UP_NANOS = 100_000_000L;

    private final SocketFrameChannel channel;
    private final MemberUrl url;
    private final Protocol protocol;

    private final List<SocketConnection> connections = new ArrayList<>();
    private final ArrayDeque<SocketConnection> idle = new ArrayDeque<>();
    private final Semaphore calculations = new Semaphore(MAX_HANDSHAKES);
    private final Queue<Exchange> unresolved = new ArrayDeque<>();
    private final Queue<Exchange> waiting = new ArrayDeque<>();
    private boolean resolving;
    /** When the look-up began that is under way. */
    private long lookUpBeganNanos;

    private boolean closed;

    /** What the name led to last. Members seldom move, least of all while there is nobody to ask where they are. */
    private List<InetAddress> known = List.of();

    /** Whether the last look-up found nothing. */
    private boolean unknownHost;

    /** Whether exchanges ended while they waited for a look-up, and none has succeeded since. */
    private boolean slow;

    /** Which of several addresses is tried first; moves on when one does not answer the first exchange, or a stranger answers there. */
    private int firstAddress;

    SocketMember(SocketFrameChannel channel, Protocol protocol) {
        this.channel = channel;
        this.url = protocol.url;
        this.protocol = protocol;
    }

    MemberUrl url() {
        return url;
    }

    /**
     * Begins an exchange.
     *
     * @throws IOException if it is refused at once
     */
    synchronized void start(Exchange exchange) throws IOException {
        if (closed) {
            throw url.closed();
        }
        if (waiting.size() >= MAX_WAITING) {
            throw url.tooBusy();
        }
        waiting.add(exchange);
        startWaiting();
    }

    private @Nullable SocketConnection pollIdle() {
        long oldest = System.nanoTime() - protocol.maxIdleNanos();
        SSLContext trust = protocol.trust();
        SocketConnection last = idle.pollLast();
        while (last != null && !(last.isIdleSince(oldest) && last.isOpenedUnder(trust))) {
            drop(last);
            last = idle.pollLast();
        }
        return last;
    }

    private boolean isSlotFree() {
        return connections.size() + unresolved.size() - (isOneLate() ? 1 : 0) < MAX_CONNECTIONS;
    }

    private void resolve(Exchange exchange) {
        unresolved.add(exchange);
        if (!resolving) {
            try {
                channel.resolver().execute(this::lookUp);
                resolving = true;
                lookUpBeganNanos = System.nanoTime();
            } catch (RuntimeException | OutOfMemoryError noThread) {
                if (known.isEmpty()) {
                    throw noThread;
                }
            }
        }
        if ((slow || !resolving) && !known.isEmpty()) {
            connectUnresolved();
            channel.wakeUp();
        }
    }

    /** May block for long, so it has a thread of its own. One look-up serves all exchanges that need a connection when it ends. */
    private void lookUp() {
        List<InetAddress> addresses = List.of();
        try {
            addresses = protocol.addresses();
        } catch (UnknownHostException unknown) {
            // no addresses says the same
        } finally {
            connectTo(addresses);
        }
    }

    private synchronized void connectTo(List<InetAddress> addresses) {
        resolving = false;
        unknownHost = addresses.isEmpty();
        if (!unknownHost) {
            known = addresses;
            slow = false;
        }
        connectUnresolved();
        startWaiting();
        channel.wakeUp();
    }

    private void connectUnresolved() {
        List<InetAddress> addresses = new ArrayList<>(known);
        Collections.rotate(addresses, -firstAddress);
        for (Exchange next = unresolved.poll(); next != null; next = unresolved.poll()) {
            connect(next, addresses);
        }
    }

    private void connect(Exchange exchange, List<InetAddress> addresses) {
        IOException failure = null;
        for (int tried = 0; tried < addresses.size(); tried++) {
            try {
                connections.add(SocketConnection.open(
                        this,
                        exchange,
                        addresses.subList(tried, addresses.size()),
                        firstAddress,
                        url.port(),
                        channel.selector(),
                        protocol));
                return;
            } catch (IOException next) {
                failure = next;
            } catch (RuntimeException | OutOfMemoryError next) {
                failure = new IOException(next.toString(), next);
            }
        }
        fail(exchange, noConnection(failure));
    }

    /** Where the name leads nowhere any more, that is what there is to mend; but where no socket is to be had, no name is found either. */
    private IOException noConnection(@Nullable IOException failure) {
        boolean noSocket = failure != null && failure.getClass() == SocketException.class;
        return unknownHost && !noSocket ? url.unknownHost() : url.noConnection(failure);
    }

    /** As many as there are connections for: nothing waits while one is idle or a slot is free. */
    private void startWaiting() {
        while (!waiting.isEmpty()) {
            SocketConnection connection;
            try {
                connection = pollIdle();
            } catch (RuntimeException noTrust) {
                // As where the JVM's trust store cannot be read: what stayed here would keep out the rest.
                fail(waiting.remove(), url.notTrusted(noTrust));
                continue;
            }
            if (connection != null) {
                send(connection, waiting.remove());
            } else if (isSlotFree()) {
                resolve(waiting.remove());
            } else {
                return;
            }
        }
    }

    private void send(SocketConnection connection, Exchange exchange) {
        try {
            if (!connection.send(exchange, protocol.request(exchange.frame), protocol.newParser())) {
                channel.wakeUp();
            }
        } catch (SSLException noHandshake) {
            drop(connection);
            fail(exchange, url.notTrusted(noHandshake));
        } catch (RuntimeException | OutOfMemoryError failure) {
            // It is neither idle nor in use.
            drop(connection);
            fail(exchange, url.lost(failure));
        }
    }

    /** The selector has news of a connection; comes from the thread of the channel. */
    synchronized void ready(SocketConnection connection, ByteBuffer input) {
        if (!connections.contains(connection)) {
            return;
        }
        Exchange exchange = connection.exchange();
        if (exchange == null) {
            if (!connection.staysIdle(input)) {
                idle.remove(connection);
                drop(connection);
            }
        } else if (connection.isConnecting()) {
            finishConnect(connection, exchange);
        } else {
            transfer(connection, exchange, input);
        }
        startWaiting();
    }

    /** Whether a certificate is trusted may have to be asked over the network: no other exchange waits for that. */
    void calculate(Runnable calculation, Runnable giveBack) {
        // A connection that is given up meanwhile leaves its slot, not its thread.
        if (!calculations.tryAcquire()) {
            throw new RejectedExecutionException("handshakes of the " + MAX_HANDSHAKES + " connections before go on");
        }
        try {
            channel.resolver().execute(() -> {
                try {
                    calculation.run();
                } finally {
                    // First: the connection may go on with the next step at once.
                    calculations.release();
                    giveBack.run();
                }
            });
        } catch (RuntimeException | OutOfMemoryError failure) {
            calculations.release();
            throw failure;
        }
    }

    /** The handshake of a connection goes on; comes from any thread. */
    void resume(SocketConnection connection) {
        channel.resume(connection);
    }

    /** What {@link #resume} asked for, on the thread of the channel. */
    synchronized void resume(SocketConnection connection, ByteBuffer input) {
        Exchange exchange = connections.contains(connection) ? connection.exchange() : null;
        if (exchange != null) {
            transfer(connection, exchange, input);
            startWaiting();
        }
    }

    private void finishConnect(SocketConnection connection, Exchange exchange) {
        try {
            connection.finishConnect();
            send(connection, exchange);
            keepIfOpened(connection);
        } catch (IOException failure) {
            List<InetAddress> others = connection.otherAddresses();
            drop(connection);
            if (others.isEmpty()) {
                fail(exchange, noConnection(failure));
            } else {
                connect(exchange, others);
            }
        }
    }

    private void transfer(SocketConnection connection, Exchange exchange, ByteBuffer input) {
        try {
            FrameReply reply = connection.transfer(input);
            if (reply != null) {
                channel.settle(() -> exchange.stage.complete(reply));
                release(connection, input, reply);
            } else {
                keepIfOpened(connection);
            }
        } catch (ProtocolException unacceptable) {
            metStranger(connection);
            drop(connection);
            fail(exchange, url.answeredWith(unacceptable));
        } catch (SSLException untrusted) {
            if (!isForWantOfThreads(untrusted)) {
                metStranger(connection);
            }
            drop(connection);
            fail(exchange, url.notTrusted(untrusted));
        } catch (IOException lost) {
            boolean dead = connection.wasDead();
            boolean silent = connection.isNew();
            drop(connection);
            if (silent) {
                passOver(connection);
            }
            if (dead) {
                // Once: the next connection is a new one.
                resolve(exchange);
            } else {
                fail(exchange, silent ? url.lostInSilence(lost) : url.lost(lost));
            }
        }
    }

    /** What is no frame may be from somebody who has the member's address by now, or had it: the next exchange asks where that is. */
    private void release(SocketConnection connection, ByteBuffer input, FrameReply reply) {
        boolean frame = FrameChannels.isFrame(reply);
        if (connection.becomeIdle(input, System.nanoTime()) && frame && reply.status() == FrameChannels.OK) {
            idle.add(connection);
        } else {
            drop(connection);
        }
        if (!frame && reply.status() != FrameChannels.NOT_ACCEPTED) {
            metStranger(connection);
        }
    }

    /** It says nothing of the member, then. */
    private static boolean isForWantOfThreads(SSLException noHandshake) {
        Throwable cause = noHandshake.getCause();
        return cause instanceof RejectedExecutionException || cause instanceof OutOfMemoryError;
    }

    private void metStranger(SocketConnection connection) {
        known = List.of();
        passOver(connection);
    }

    /** The next exchange begins with the next address; once, however many found out. */
    private void passOver(SocketConnection connection) {
        if (connection.firstAddress() == firstAddress) {
            firstAddress++;
        }
    }

    private void keepIfOpened(SocketConnection connection) {
        if (connection.hasOpened()) {
            connection.becomeIdle(System.nanoTime());
            idle.add(connection);
        }
    }

    private void drop(SocketConnection connection) {
        connections.remove(connection);
        connection.close();
    }

    private void fail(Exchange exchange, IOException failure) {
        channel.settle(() -> exchange.stage.completeExceptionally(failure));
    }

    /** Fails what is overdue and says after how long that is the case next. */
    synchronized OptionalLong expire(long nowNanos) {
        for (SocketConnection connection : List.copyOf(connections)) {
            Exchange exchange = connection.exchange();
            if (exchange != null && exchange.isOverdue(nowNanos)) {
                fail(
                        exchange,
                        connection.isConnecting()
                                ? unknownHost ? url.unknownHost() : url.noConnection(exchange)
                                : url.noAnswer(exchange));
                if (!connection.isNew()) {
                    drop(connection);
                    // The idle ones would cost a time-out each.
                    idle.forEach(this::drop);
                    idle.clear();
                    continue;
                }
                passOver(connection);
                if (isOneLate()) {
                    drop(connection);
                } else {
                    connection.goOnLate(exchange.late(MAX_LATE_NANOS, nowNanos));
                }
            }
        }
        slow |= unresolved.removeIf(exchange -> expire(exchange, nowNanos));
        waiting.removeIf(exchange -> expire(exchange, nowNanos));
        startWaiting();
        return underWay()
                .mapToLong(exchange -> exchange.deadlineNanos - nowNanos)
                .min();
    }

    private boolean isOneLate() {
        return connections.stream().map(SocketConnection::exchange).anyMatch(each -> each != null && each.late);
    }

    private boolean expire(Exchange exchange, long nowNanos) {
        boolean overdue = exchange.isOverdue(nowNanos);
        if (overdue) {
            long lookUpNanos = resolving ? nowNanos - lookUpBeganNanos : 0;
            fail(
                    exchange,
                    lookUpNanos < LONG_LOOK_UP_NANOS
                            ? url.noConnection(exchange)
                            : url.notLookedUp(exchange, lookUpNanos));
        }
        return overdue;
    }

    private Stream<Exchange> underWay() {
        Stream<Exchange> connected =
                connections.stream().map(SocketConnection::exchange).filter(Objects::nonNull);
        return Stream.of(connected, unresolved.stream(), waiting.stream()).flatMap(Function.identity());
    }

    /** Fails all exchanges and takes no more; comes from the thread of the channel. */
    synchronized void close() {
        closed = true;
        underWay().forEach(exchange -> fail(exchange, url.closed()));
        connections.forEach(SocketConnection::close);
        connections.clear();
        idle.clear();
        unresolved.clear();
        waiting.clear();
    }
}
