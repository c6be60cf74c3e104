package io.paxoslease.sample;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The wire between the nodes of a {@link FaultyNetwork}: every IP packet passes here, and is carried, dropped, delayed (and so overtaken by
 * others), duplicated, or turned into a TCP reset, as the link between its two ends says.
 *
 * <p>Packets come and go as datagrams; the sender's host tells the node they come from, the last byte of the IP destination the node they go to.
 */
final class PacketHub implements AutoCloseable {

    /**
     * What happens to packets on the way from one node to another.
     *
     * @param loss the share that is dropped
     * @param duplication the share that arrives twice
     * @param reset the share of TCP packets that arrive as a reset of their connection
     * @param delayMillis how late packets are at least
     * @param jitterMillis how much later they may be; makes them overtake each other
     */
    record Link(double loss, double duplication, double reset, int delayMillis, int jitterMillis) {

        static final Link CLEAR = new Link(0, 0, 0, 0, 0);
        static final Link CUT = new Link(1, 0, 0, 0, 0);
    }

    private static final int TCP = 6;

    private final DatagramSocket socket;
    private final SocketAddress[] ends;
    private final Link[][] links;
    private final SplittableRandom random;
    private final ScheduledThreadPoolExecutor late = new ScheduledThreadPoolExecutor(1, PacketHub::daemon);
    private final Map<String, AtomicLong> counts = new ConcurrentHashMap<>();

    /**
     * Opens the hub on a free port.
     *
     * @param hosts where the datagrams of each node come from, in the order of the nodes
     */
    PacketHub(List<String> hosts, long seed) throws SocketException {
        this.socket = new DatagramSocket(0);
        this.ends = hosts.stream()
                .map(host -> new InetSocketAddress(host, socket.getLocalPort()))
                .toArray(SocketAddress[]::new);
        this.links = new Link[hosts.size()][hosts.size()];
        this.random = new SplittableRandom(seed);
        clear();
        daemon(this::carry).start();
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "packet-hub");
        thread.setDaemon(true);
        return thread;
    }

    /** Both ends of a datagram have this port. */
    int port() {
        return socket.getLocalPort();
    }

    /** Changes the way from one node to another; the way back stays as it is. */
    synchronized void set(int from, int to, Link link) {
        links[from][to] = link;
    }

    /** Heals everything. What is late already stays late. */
    synchronized void clear() {
        for (Link[] row : links) {
            Arrays.fill(row, Link.CLEAR);
        }
    }

    private synchronized Link link(int from, int to) {
        return links[from][to];
    }

    /** How many packets met which fate. */
    Map<String, AtomicLong> counts() {
        return new TreeMap<>(counts);
    }

    private void carry() {
        byte[] buffer = new byte[65_536];
        while (!socket.isClosed()) {
            try {
                DatagramPacket datagram = new DatagramPacket(buffer, buffer.length);
                socket.receive(datagram);
                int from = Arrays.asList(ends).indexOf(datagram.getSocketAddress());
                byte[] packet = Arrays.copyOf(buffer, datagram.getLength());
                // IPv4 only; a new interface also announces itself by IPv6.
                if (from >= 0 && packet.length >= 20 && packet[0] >> 4 == 4) {
                    int to = packet[19] - 1;
                    if (to >= 0 && to < ends.length && to != from) {
                        carry(packet, to, link(from, to));
                    }
                }
            } catch (IOException closedOrRefused) {
                // A node that is not there yet refuses datagrams; that is one more lost packet.
                count("refused");
            }
        }
    }

    private void carry(byte[] packet, int to, Link link) {
        if (random.nextDouble() < link.loss()) {
            count("dropped");
            return;
        }
        byte[] carried = packet;
        if (random.nextDouble() < link.reset() && isTcp(packet)) {
            carried = resetOf(packet);
            count("reset");
        }
        int copies = random.nextDouble() < link.duplication() ? 2 : 1;
        for (int copy = 0; copy < copies; copy++) {
            send(carried, to, link);
        }
        count(copies == 2 ? "duplicated" : "carried");
    }

    private void send(byte[] packet, int to, Link link) {
        int delayMillis = link.delayMillis() + (link.jitterMillis() > 0 ? random.nextInt(link.jitterMillis()) : 0);
        if (delayMillis == 0) {
            deliver(packet, to);
        } else {
            count("delayed");
            late.schedule(() -> deliver(packet, to), delayMillis, TimeUnit.MILLISECONDS);
        }
    }

    private void deliver(byte[] packet, int to) {
        try {
            socket.send(new DatagramPacket(packet, packet.length, ends[to]));
        } catch (IOException closedOrRefused) {
            count("refused");
        }
    }

    private void count(String fate) {
        counts.computeIfAbsent(fate, name -> new AtomicLong()).incrementAndGet();
    }

    private static boolean isTcp(byte[] packet) {
        return packet[9] == TCP && packet.length >= headerLength(packet) + 20;
    }

    private static int headerLength(byte[] packet) {
        return (packet[0] & 15) * 4;
    }

    /** The same headers without the data, with the flags RST and ACK: in sequence, so that the receiver believes it. */
    static byte[] resetOf(byte[] packet) {
        int ip = headerLength(packet);
        byte[] reset = Arrays.copyOf(packet, ip + 20);
        put(reset, 2, reset.length);
        put(reset, 10, 0);
        put(reset, 10, checksum(reset, 0, ip, 0));
        reset[ip + 12] = 5 << 4;
        reset[ip + 13] = 0x14;
        put(reset, ip + 16, 0);
        // The TCP checksum covers the addresses, the protocol and the length too.
        put(reset, ip + 16, checksum(reset, 12, reset.length, TCP + 20 - sumOf(reset, 20, ip)));
        return reset;
    }

    private static void put(byte[] packet, int at, int value) {
        packet[at] = (byte) (value >> 8);
        packet[at + 1] = (byte) value;
    }

    private static int sumOf(byte[] packet, int from, int to) {
        int sum = 0;
        for (int i = from; i < to; i += 2) {
            sum += (packet[i] & 255) << 8 | packet[i + 1] & 255;
        }
        return sum;
    }

    private static int checksum(byte[] packet, int from, int to, int more) {
        int sum = sumOf(packet, from, to) + more;
        while (sum >> 16 != 0) {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        return ~sum & 0xffff;
    }

    @Override
    public void close() {
        socket.close();
        late.shutdownNow();
    }
}
