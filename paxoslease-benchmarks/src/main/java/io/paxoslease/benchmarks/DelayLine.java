package io.paxoslease.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A long line: a port whose connections lead to another port, and what is written at one end can be read at the other a while later, however much
 * it is. The first bytes of a connection take one round trip more, which is that of the handshake. It ends with the process.
 */
final class DelayLine {

    private static final byte[] END = new byte[0];

    private final ServerSocket near;
    private final int far;
    private final long oneWayNanos;

    private record Parcel(byte[] bytes, long dueNanos) {}

    /** Opens the line. */
    DelayLine(int far, long oneWayNanos) throws IOException {
        this.near = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
        this.far = far;
        this.oneWayNanos = oneWayNanos;
        begin(this::accept);
    }

    /** Where it begins. */
    int port() {
        return near.getLocalPort();
    }

    private interface Work {

        void run() throws IOException, InterruptedException;
    }

    private static void begin(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException ended) {
                // one of the ends is gone, and the other one hears of it
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (true) {
            Socket here = near.accept();
            long openNanos = System.nanoTime() + 2 * oneWayNanos;
            begin(() -> connect(here, openNanos));
        }
    }

    private void connect(Socket here, long openNanos) throws IOException {
        Socket there;
        try {
            there = new Socket(InetAddress.getLoopbackAddress(), far);
        } catch (IOException refused) {
            here.close();
            throw refused;
        }
        carry(here, there, openNanos);
        carry(there, here, openNanos);
    }

    private void carry(Socket from, Socket to, long openNanos) throws IOException {
        to.setTcpNoDelay(true);
        BlockingQueue<Parcel> underWay = new LinkedBlockingQueue<>();
        begin(() -> read(from.getInputStream(), underWay, openNanos));
        begin(() -> {
            try (to) {
                write(underWay, to.getOutputStream());
            }
        });
    }

    private void read(InputStream from, BlockingQueue<Parcel> underWay, long openNanos) throws IOException {
        byte[] buffer = new byte[65_536];
        int length;
        try {
            while ((length = from.read(buffer)) >= 0) {
                underWay.add(new Parcel(Arrays.copyOf(buffer, length), dueNanos(openNanos)));
            }
        } finally {
            underWay.add(new Parcel(END, dueNanos(openNanos)));
        }
    }

    private long dueNanos(long openNanos) {
        long now = System.nanoTime();
        return now + Math.max(0, openNanos - now) + oneWayNanos;
    }

    private static void write(BlockingQueue<Parcel> underWay, OutputStream to)
            throws IOException, InterruptedException {
        while (true) {
            Parcel parcel = underWay.take();
            TimeUnit.NANOSECONDS.sleep(parcel.dueNanos() - System.nanoTime());
            if (parcel.bytes() == END) {
                return;
            }
            to.write(parcel.bytes());
        }
    }
}
