package io.paxoslease.spring.bounded;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Ports that nobody used a moment ago, on any address: web servers take them on all. */
public final class FreePorts {

    private static final int MOST_TAKEN = 200;

    private FreePorts() {}

    /** So many different ones, outside of the range from which the system takes ports for outgoing connections. */
    public static int[] take(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            for (int taken = 0; sockets.size() < count; ) {
                int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
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
