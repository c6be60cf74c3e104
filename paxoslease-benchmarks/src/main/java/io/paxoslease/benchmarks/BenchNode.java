package io.paxoslease.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.node.RequestHandler;
import io.paxoslease.spring.boot.transport.PaxosLeaseServlet;
import io.paxoslease.spring.boot.transport.TcpFrameServer;
import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameHandler;
import io.paxoslease.wire.FrameReply;
import io.paxoslease.wire.FrameServer;
import io.paxoslease.wire.WireListener;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.WebServer;

/**
 * One process of the cell that {@link CellBenchmark} starts: a node behind a Tomcat, as an application has it, or with
 * {@code -Dtransport=tcp} on a port of its own, or {@code https} and {@code tls}, the same encrypted. It does what the lines on its
 * standard input say and answers each with one line.
 */
final class BenchNode {

    private static final byte[] ECHO = new byte[150];

    private final BenchCell cell;
    private final LeaseNode node;
    private final FrameChannel echo;
    private final String echoPeer;
    private final LongAdder extensions = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder lost = new LongAdder();
    private final LongAdder held = new LongAdder();
    private volatile String lastAcquired = "never";
    private final ThreadCosts costs = new ThreadCosts();
    private boolean listening;

    private BenchNode(String nodeId, BenchCell cell) throws IOException {
        this.cell = cell;
        SecureRandom random = new SecureRandom();
        this.node = cell.node(nodeId, random);
        Map<String, URI> others = cell.others(nodeId);
        this.echoPeer = others.isEmpty() ? nodeId : others.keySet().iterator().next();
        this.echo = cell.channel("echo", cell.others(""), "/echo");
        FrameServer server = new FrameServer(node.incarnation(), cell.wire, node, WireListener.NONE, random);
        FrameHandler mirror = new FrameHandler() {
            @Override
            public int maxFrameBytes() {
                return cell.wire.maxFrameBytes();
            }

            @Override
            public FrameReply handle(byte[] frame, @Nullable String address) {
                return new FrameReply(200, frame);
            }
        };
        int port = cell.port(nodeId);
        SslBundle certificate = cell.certificate;
        if (BenchCell.TCP) {
            SSLContext context = certificate == null ? null : certificate.createSslContext();
            new TcpFrameServer(nodeId, echoing(server, mirror), context == null ? null : () -> context)
                    .open(InetAddress.getLoopbackAddress(), port);
        } else {
            TomcatServletWebServerFactory tomcat = new TomcatServletWebServerFactory(port);
            if (certificate != null) {
                Ssl ssl = Ssl.forBundle("node");
                ssl.setClientAuth(Ssl.ClientAuth.NEED);
                tomcat.setSsl(ssl);
                tomcat.setSslBundles(new DefaultSslBundleRegistry("node", certificate));
            }
            WebServer web = tomcat.getWebServer(context -> {
                context.addServlet("paxoslease", new PaxosLeaseServlet(() -> server))
                        .addMapping("/paxoslease/messages");
                context.addServlet("echo", new PaxosLeaseServlet(() -> mirror)).addMapping("/echo/messages");
            });
            web.start();
        }
        node.openAcceptor();
        node.start();
    }

    /** There are no paths by which one port could tell an echo from the protocol. */
    private static FrameHandler echoing(FrameHandler server, FrameHandler mirror) {
        return new FrameHandler() {
            @Override
            public int maxFrameBytes() {
                return server.maxFrameBytes();
            }

            @Override
            public FrameReply handle(byte[] frame, @Nullable String address) {
                return (Arrays.equals(frame, ECHO) ? mirror : server).handle(frame, address);
            }
        };
    }

    private void listen() {
        if (!listening) {
            listening = true;
            node.addListener(this::count);
        }
    }

    private void count(LeaseTransition transition) {
        switch (transition.kind()) {
            case EXTENDED -> extensions.increment();
            case EXTENSION_FAILED -> failed.increment();
            case LOST -> {
                lost.increment();
                held.decrement();
            }
            case RELEASED -> held.decrement();
            case ACQUIRED -> {
                lastAcquired = transition.leaseName() + " " + System.nanoTime();
                held.increment();
            }
            default -> {}
        }
    }

    public static void main(String[] arguments) throws Exception {
        BenchCell.serve(() -> {
            BenchNode node =
                    new BenchNode(arguments[0], new BenchCell(Arrays.copyOfRange(arguments, 1, arguments.length)));
            while (node.node.acceptorState() != RequestHandler.AcceptorState.VOTING) {
                Thread.sleep(20);
            }
            return node::perform;
        });
    }

    private String perform(String[] words) throws Exception {
        return switch (words[0]) {
            case "cycles" -> cycles(Integer.parseInt(words[1]), Long.parseLong(words[2]));
            case "async-cycles" -> asyncCycles(Integer.parseInt(words[1]), Long.parseLong(words[2]));
            case "echo" -> echo(Integer.parseInt(words[1]), Long.parseLong(words[2]));
            case "wakes" -> wakes(Integer.parseInt(words[1]), Long.parseLong(words[2]));
            case "idle" -> idle(Long.parseLong(words[1]), Long.parseLong(words[2]));
            case "hold" ->
                hold(
                        Long.parseLong(words[1]),
                        Integer.parseInt(words[2]),
                        Long.parseLong(words[3]),
                        Long.parseLong(words[4]));
            case "release" -> {
                node.releaseAll();
                yield "released";
            }
            case "counters" -> counters();
            case "elect" -> {
                listen();
                node.election(words[1]).start();
                yield "standing";
            }
            case "leads" -> Boolean.toString(node.election(words[1]).isLeader());
            case "resign" -> {
                long start = System.nanoTime();
                node.election(words[1]).resign();
                yield Long.toString(start);
            }
            case "ends" ->
                Long.toString(node.election(words[1])
                        .lease()
                        .map(lease -> System.nanoTime() + lease.remaining().toNanos())
                        .orElse(System.nanoTime()));
            case "acquired" -> lastAcquired;
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    /** Each worker is a thread that takes a lease of a name of its own choice, releases it, and takes another. */
    private String cycles(int workers, long millis) throws InterruptedException {
        Duration time = Duration.ofMillis(1_000);
        return inThreads(workers, millis, (worker, round) -> {
            Lease lease = node.tryAcquire(Workers.name(worker, round), time).orElse(null);
            if (lease != null) {
                lease.release();
            }
            return lease != null;
        });
    }

    /** The same without threads: each worker is a chain of callbacks. */
    private String asyncCycles(int workers, long millis) throws InterruptedException {
        long start = System.nanoTime();
        long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
        CountDownLatch done = new CountDownLatch(workers);
        Samples all = new Samples();
        for (int worker = 0; worker < workers; worker++) {
            chain(worker, 0, end, all, done);
        }
        done.await();
        return all.summary(System.nanoTime() - start);
    }

    private void chain(int worker, long round, long end, Samples samples, CountDownLatch done) {
        long begin = System.nanoTime();
        if (begin - end >= 0) {
            done.countDown();
            return;
        }
        node.tryAcquireAsync(Workers.name(worker, round), Duration.ofMillis(1_000))
                .whenComplete((lease, failure) -> {
                    if (lease.isPresent()) {
                        lease.get().release();
                    }
                    samples.add(System.nanoTime() - begin, lease.isPresent());
                    chain(worker, round + 1, end, samples, done);
                });
    }

    private String echo(int workers, long millis) throws InterruptedException {
        return inThreads(workers, millis, (worker, round) -> {
            echo.exchange(echoPeer, ECHO, 1_000_000_000L).toCompletableFuture().get();
            return true;
        });
    }

    /** What a thread's cycle has beyond that of a callback, by itself: each worker sleeps until another thread of this process wakes it. */
    private String wakes(int workers, long millis) throws InterruptedException {
        Queue<CompletableFuture<Boolean>> asleep = new ConcurrentLinkedQueue<>();
        AtomicBoolean ended = new AtomicBoolean();
        Thread waker = new Thread(() -> {
            while (!ended.get()) {
                CompletableFuture<Boolean> next = asleep.poll();
                if (next != null) {
                    next.complete(true);
                } else {
                    LockSupport.parkNanos(1_000);
                }
            }
            costs.keepThisThread();
        });
        waker.start();
        String answer = inThreads(workers, millis, (worker, round) -> {
            CompletableFuture<Boolean> woken = new CompletableFuture<>();
            asleep.add(woken);
            return woken.get(1, TimeUnit.SECONDS);
        });
        ended.set(true);
        waker.join();
        return answer;
    }

    /**
     * An acquisition and an echo in turn, each when nothing else is under way: the release before has arrived long ago. Both by the same member:
     * one is not as quick as the other.
     */
    private String idle(long millis, long pauseMicros) throws Exception {
        Samples acquisitions = new Samples();
        Samples echoes = new Samples();
        long pauseNanos = TimeUnit.MICROSECONDS.toNanos(pauseMicros);
        long start = System.nanoTime();
        for (long round = 0; System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(millis); round++) {
            LockSupport.parkNanos(pauseNanos);
            long begin = System.nanoTime();
            Lease lease = node.tryAcquire(Workers.name(0, round), Duration.ofSeconds(1))
                    .orElse(null);
            acquisitions.add(System.nanoTime() - begin, lease != null);
            if (lease != null) {
                lease.release();
            }
            LockSupport.parkNanos(pauseNanos);
            String member = Objects.requireNonNullElse(cell.lastMember, echoPeer);
            begin = System.nanoTime();
            echo.exchange(member, ECHO, 1_000_000_000L).toCompletableFuture().get();
            echoes.add(System.nanoTime() - begin, true);
        }
        long took = System.nanoTime() - start;
        return acquisitions.summary(took) + " " + echoes.summary(took);
    }

    private String inThreads(int workers, long millis, Workers.Work work) throws InterruptedException {
        return Workers.run(workers, millis, work, costs);
    }

    /** Takes leases that extend themselves, some hundred at a time, not more than that many a second, and keeps no reference to them. */
    private String hold(long first, int count, long leaseMillis, long perSecond) throws InterruptedException {
        listen();
        Semaphore window = new Semaphore(512);
        AtomicLong missed = new AtomicLong();
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            window.acquire();
            LockSupport.parkNanos(start + i * 1_000_000_000L / perSecond - System.nanoTime());
            node.tryAcquireAsync(String.format("held%012d", first + i), Duration.ofMillis(leaseMillis))
                    .whenComplete((lease, failure) -> {
                        window.release();
                        if (lease != null && lease.isPresent()) {
                            lease.get().autoExtend();
                        } else {
                            missed.incrementAndGet();
                        }
                    });
        }
        window.acquire(512);
        return count - missed.get() + " " + missed.get() + " " + (System.nanoTime() - start) / 1_000_000;
    }

    private String counters() {
        long process =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
        return cell.frames.sum() + " " + cell.bytes.sum() + " " + extensions.sum() + " " + failed.sum() + " "
                + lost.sum() + " "
                + costs.nanos() + " " + System.nanoTime() + " " + process + " " + held.sum() + " "
                + costs.allocatedBytes();
    }
}
