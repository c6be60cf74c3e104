package io.paxoslease.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Ports that nobody used a moment ago. */
final class Ports {

    private Ports() {}

    /** The first of some free ports in a row, outside of the range from which the system takes ports for outgoing connections. */
    static int freeRow(int length) throws IOException {
        for (int attempt = 0; attempt < 200; attempt++) {
            int first = ThreadLocalRandom.current().nextInt(20_000, 32_000 - length);
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
