package io.paxoslease.benchmarks;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What messages and disks cost by themselves: 100 bytes there and back, and 100 bytes that have reached the disk. */
final class Floors {

    private static final int BYTES = 100;

    private Floors() {}

    /** Process 1 sends back what process 0 sends; each worker has a connection and each connection a thread. */
    static Workers.Work tcp(int index, int port) throws IOException {
        if (index == 0) {
            DataInputStream[] in = new DataInputStream[128];
            Socket[] sockets = new Socket[128];
            byte[] ping = new byte[BYTES];
            return (worker, round) -> {
                if (sockets[worker] == null) {
                    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                    socket.setTcpNoDelay(true);
                    in[worker] = new DataInputStream(socket.getInputStream());
                    sockets[worker] = socket;
                }
                sockets[worker].getOutputStream().write(ping);
                in[worker].readFully(new byte[BYTES]);
                return true;
            };
        }
        ServerSocket server = new ServerSocket();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 128);
        daemon(() -> {
            while (true) {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                daemon(() -> {
                    DataInputStream in = new DataInputStream(socket.getInputStream());
                    byte[] pong = new byte[BYTES];
                    while (true) {
                        in.readFully(pong);
                        socket.getOutputStream().write(pong);
                    }
                });
            }
        });
        return PeerNode.SERVES;
    }

    /** Appends a record to a file and has it written to the disk. */
    static Workers.Work disk(Path directory) throws IOException {
        FileChannel file =
                FileChannel.open(directory.resolve("floor"), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        return (worker, round) -> {
            file.write(ByteBuffer.allocate(BYTES));
            file.force(false);
            return true;
        };
    }

    private interface Serving {
        void run() throws IOException;
    }

    private static void daemon(Serving serving) {
        Thread thread = new Thread(() -> {
            try {
                serving.run();
            } catch (IOException closed) {
                // the other side has ended
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
