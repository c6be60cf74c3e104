package io.paxoslease.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Ports that nobody used a moment ago. */
final class Ports {

    private static final int RANGE = 6_000;

    /** Of each of up to two JVMs that run tests side by side its own, and outside of where the system takes ports for outgoing connections. */
    private static final int FIRST = 20_000 + RANGE * ((Integer.getInteger("paxoslease.fork", 1) - 1) % 2);

    private Ports() {}

    /** The first of some free ports in a row. */
    static int freeRow(int length) throws IOException {
        for (int attempt = 0; attempt < 200; attempt++) {
            int first = ThreadLocalRandom.current().nextInt(FIRST, FIRST + RANGE - length);
            if (isFree(first, length)) {
                return first;
            }
        }
        throw new IOException("No " + length + " free ports in a row");
    }

    private static boolean isFree(int first, int length) throws IOException {
        List<ServerSocket> taken = new ArrayList<>();
        try {
            for (int i = 0; i < length; i++) {
                taken.add(new ServerSocket(first + i, 1, InetAddress.getByName("127.0.0.1")));
            }
            return true;
        } catch (IOException used) {
            return false;
        } finally {
            for (ServerSocket socket : taken) {
                socket.close();
            }
        }
    }
}
