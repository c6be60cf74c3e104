package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameHandler;
import io.paxoslease.wire.Lines;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Answers the frames of other nodes on a port of its own, as {@link TcpProtocol} draws them. One thread reads, has them handled and writes the
 * answers, which spares the change of threads that a web server makes for each request; handshakes of encrypted connections are
 * calculated by others.
 *
 * <p>Nobody is authenticated before a whole frame is read, so all is bounded: the number of connections, of frames of which only a part has
 * come, the time for such a part and for taking the answer, for a handshake, and how long a connection may be idle. Where connections or
 * unfinished frames are too many, the one goes first that brought no valid frame and was idle, or at its frame, for longest: strangers
 * displace each other, not members.
 */
public final class TcpFrameServer implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(TcpFrameServer.class.getName());

    private static final int BACKLOG = 128;
    /** Whether a certificate was revoked may be asked over the network: one that takes long must not keep the other members out. */
    private static final int MAX_HANDSHAKES = 4;

    private static final int MAX_HANDSHAKES_WAITING = 64;
    private static final int INPUT_BYTES = 64 * 1024;
    private static final long CLOSE_MILLIS = 2_000;

    /** Which connections come first when one has to go. */
    private static final Comparator<TcpPeer> LEAST_WORTH =
            Comparator.comparing(TcpPeer::isProven).thenComparing(TcpPeer::idleNanos, Comparator.reverseOrder());

    /**
     * How much strangers may take.
     *
     * @param connections how many connections there are at most
     * @param unfinished how many of them may have sent a part of a frame
     * @param busyTime how long such a part with its answer, or a handshake, may take
     * @param idleTime how long a connection may be idle
     */
    record Limits(int connections, int unfinished, Duration busyTime, Duration idleTime) {

        static final Limits DEFAULT = new Limits(512, 64, Duration.ofSeconds(10), Duration.ofMinutes(2));
    }

    private final String name;
    private final Lines lines;
    private final Complaint failures;
    /** The others see connections on which nobody answers. Why that is so shows only here. */
    private final Complaint notAccepting;

    private final FrameHandler handler;
    private final Limits limits;
    private final @Nullable Supplier<? extends @Nullable SSLContext> sslContext;
    private final ThreadPoolExecutor handshakes;
    private final Queue<TcpPeer> resumed = new ConcurrentLinkedQueue<>();

    /** In the order of their arrival; used by the thread of the server only. */
    private final Set<TcpPeer> peers = new LinkedHashSet<>();

    private volatile @Nullable Selector selector;
    private @Nullable Thread thread;
    private int port;
    private volatile boolean closed;

    /**
     * Prepares the server; there is neither port nor thread before {@link #open}.
     *
     * @param name names the threads, usually the node id
     * @param handler gets the frames, all by the same thread
     * @param sslContext asked for each new connection, each of which has to show a certificate that it trusts, and before each frame, which
     *     is not taken from a connection that another one let in; must be quick; null if connections are not encrypted
     */
    public TcpFrameServer(
            String name, FrameHandler handler, @Nullable Supplier<? extends @Nullable SSLContext> sslContext) {
        this(name, handler, sslContext, Limits.DEFAULT);
    }

    TcpFrameServer(
            String name,
            FrameHandler handler,
            @Nullable Supplier<? extends @Nullable SSLContext> sslContext,
            Limits limits) {
        this.name = name;
        String who = "The TCP server of " + name;
        this.lines = new Lines(LOG, name);
        this.failures = new Complaint(lines, who + " goes on after a failure");
        this.notAccepting = new Complaint(lines, who + " cannot accept connections");
        this.handler = handler;
        this.sslContext = sslContext;
        this.limits = limits;
        this.handshakes = new ThreadPoolExecutor(
                MAX_HANDSHAKES,
                MAX_HANDSHAKES,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MAX_HANDSHAKES_WAITING),
                task -> daemon(task, "tls-server"));
        handshakes.allowCoreThreadTimeOut(true);
    }

    private Thread daemon(Runnable task, String suffix) {
        Thread made = new Thread(task, "paxoslease-" + name + "-" + suffix);
        made.setDaemon(true);
        return made;
    }

    /**
     * Binds the port and begins to answer. Whoever connects after it returns is answered.
     *
     * @param address of which interface, null for all
     * @param port which port, 0 for any that is free
     * @throws IOException if the port cannot be had
     * @throws IllegalStateException if it is open or closed already
     */
    public synchronized void open(@Nullable InetAddress address, int port) throws IOException {
        if (closed || thread != null) {
            throw new IllegalStateException("The port of " + name + " was opened before");
        }
        Selector opened = Selector.open();
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            server.bind(new InetSocketAddress(address, port), BACKLOG);
            server.configureBlocking(false);
            server.register(opened, SelectionKey.OP_ACCEPT);
            this.port = server.socket().getLocalPort();
            ByteBuffer input = ByteBuffer.allocateDirect(INPUT_BYTES);
            Thread started = daemon(() -> run(opened, server, input), "tcp-server");
            selector = opened;
            started.start();
            thread = started;
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            server.close();
            opened.close();
            throw failure;
        }
    }

    /** The port, once it is open. */
    public synchronized int port() {
        return port;
    }

    /** Closes the port and all connections. */
    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            closed = true;
            running = thread;
        }
        wakeUp();
        if (running != null && running != Thread.currentThread()) {
            try {
                running.join(CLOSE_MILLIS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void wakeUp() {
        Selector current = selector;
        if (current != null) {
            current.wakeup();
        }
    }

    private void run(Selector selector, ServerSocketChannel server, ByteBuffer input) {
        long sweepAtNanos = System.nanoTime();
        while (!closed) {
            try {
                selector.select(key -> ready(key, server, input), peers.isEmpty() ? 0 : sweepMillis());
                for (TcpPeer peer = resumed.poll(); peer != null; peer = resumed.poll()) {
                    serve(peer, input);
                }
                if (System.nanoTime() - sweepAtNanos >= 0) {
                    sweepAtNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(sweepMillis());
                    List.copyOf(peers).stream().filter(TcpPeer::isOverdue).forEach(this::drop);
                }
            } catch (Throwable failure) {
                SocketFrameChannel.goOnAfter(failure, failures);
            }
            // For which there was no thread.
            lines.write();
        }
        List.copyOf(peers).forEach(this::drop);
        handshakes.shutdown();
        close(server);
        close(selector);
    }

    private long sweepMillis() {
        return Math.max(1, limits.busyTime().toMillis() / 2);
    }

    private void ready(SelectionKey key, ServerSocketChannel server, ByteBuffer input) {
        if (key.attachment() instanceof TcpPeer peer) {
            serve(peer, input);
        } else {
            accept(key.selector(), server);
        }
    }

    private void serve(TcpPeer peer, ByteBuffer input) {
        if (!peers.contains(peer)) {
            return;
        }
        try {
            if (!peer.isAcceptedUnder(trust())) {
                throw new SSLException("trust was renewed");
            }
            boolean unfinished = peer.isUnfinished();
            peer.serve(input);
            if (!unfinished && peer.isUnfinished() && unfinished() > limits.unfinished()) {
                dropOneOf(TcpPeer::isUnfinished);
            }
        } catch (IOException gone) {
            drop(peer);
        } catch (RuntimeException | OutOfMemoryError failure) {
            drop(peer);
            throw failure;
        }
    }

    private long unfinished() {
        return peers.stream().filter(TcpPeer::isUnfinished).count();
    }

    private void dropOneOf(Predicate<TcpPeer> which) {
        peers.stream().filter(which).min(LEAST_WORTH).ifPresent(this::drop);
    }

    private void accept(Selector selector, ServerSocketChannel server) {
        SocketChannel socket = null;
        try {
            socket = server.accept();
            if (socket != null) {
                socket.configureBlocking(false);
                socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
                TcpPeer peer = peer(socket);
                peer.register(selector);
                peers.add(peer);
                if (peers.size() > limits.connections()) {
                    dropOneOf(other -> other != peer);
                }
            }
        } catch (IOException failure) {
            if (socket == null) {
                notAccepting.tell(": " + failure.getMessage(), null);
                SocketFrameChannel.sleepABit();
            } else {
                LOG.log(Level.DEBUG, "The TCP server of " + name + " could not accept a connection", failure);
            }
            close(socket);
        } catch (RuntimeException | OutOfMemoryError failure) {
            close(socket);
            throw failure;
        }
    }

    private @Nullable SSLContext trust() {
        return sslContext == null ? null : sslContext.get();
    }

    private TcpPeer peer(SocketChannel socket) throws IOException {
        if (sslContext == null) {
            return new TcpPeer(socket, null, done -> new PlainStream(socket), handler, limits, this::resume);
        }
        SSLContext context = trust();
        if (context == null) {
            throw new SSLException("there is no SSL bundle");
        }
        return new TcpPeer(
                socket,
                context,
                done -> TlsStream.server(socket, context, this::calculate, done),
                handler,
                limits,
                this::resume);
    }

    private void calculate(Runnable calculation, Runnable giveBack) {
        handshakes.execute(() -> {
            try {
                calculation.run();
            } finally {
                giveBack.run();
            }
        });
    }

    /** A handshake was calculated; comes from another thread. */
    private void resume(TcpPeer peer) {
        resumed.add(peer);
        wakeUp();
    }

    private void drop(TcpPeer peer) {
        peers.remove(peer);
        peer.close();
    }

    private static void close(@Nullable AutoCloseable channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (Exception ignored) {
            // it is gone either way
        }
    }
}
