package io.paxoslease.spring.bounded;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Ports that nobody used a moment ago, on any address: web servers take them on all. */
public final class FreePorts {

    private static final int MOST_TAKEN = 200;
    private static final int RANGE = 3_000;

    /** Of each of up to four JVMs that run tests side by side its own, and outside of where the system takes ports for outgoing connections. */
    private static final int FIRST = 20_000 + RANGE * ((Integer.getInteger("paxoslease.fork", 1) - 1) % 4);

    private FreePorts() {}

    /** So many different ones. */
    public static int[] take(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int taken = 0; sockets.size() < count; ) {
                int port = ThreadLocalRandom.current().nextInt(FIRST, FIRST + RANGE);
                try {
                    sockets.add(new ServerSocket(port, 1));
                } catch (IOException used) {
                    if (++taken > MOST_TAKEN) {
                        throw used;
                    }
                }
            }
            return sockets.stream().mapToInt(ServerSocket::getLocalPort).toArray();
        } finally {
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        }
    }
}
