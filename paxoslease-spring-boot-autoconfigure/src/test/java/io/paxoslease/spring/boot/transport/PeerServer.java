package io.paxoslease.spring.boot.transport;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A hand-made server on a loopback port that behaves as badly as a test wants. */
final class PeerServer implements Closeable {

    private final ServerSocket server;
    private final Behaviour behaviour;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    final AtomicInteger connections = new AtomicInteger();
    final List<Request> requests = new CopyOnWriteArrayList<>();
    private final String scheme;
    private final Thread acceptor;

    interface Behaviour {
        void serve(Peer peer) throws Exception;
    }

    record Request(String head, byte[] body) {}

    /** One accepted connection, counted from 1. */
    final class Peer {
        final int number;
        final Socket socket;
        private final InputStream in;
        private final OutputStream out;

        Peer(int number, Socket socket) throws IOException {
            this.number = number;
            this.socket = socket;
            this.in = new BufferedInputStream(socket.getInputStream());
            this.out = socket.getOutputStream();
        }

        /** Reads a request; null if the client closed the connection. */
        Request request() throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = in.read();
                if (next < 0) {
                    return null;
                }
                head.append((char) next);
            }
            String length = Arrays.stream(head.toString().split("\r\n"))
                    .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("content-length:"))
                    .findFirst()
                    .orElseThrow()
                    .substring("content-length:".length())
                    .trim();
            Request request = new Request(head.toString(), in.readNBytes(Integer.parseInt(length)));
            requests.add(request);
            return request;
        }

        void write(String text) throws IOException {
            out.write(text.getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
        }

        void answer(byte[] body) throws IOException {
            write("HTTP/1.1 200 OK\r\nContent-Length: " + body.length + "\r\n\r\n"
                    + new String(body, StandardCharsets.ISO_8859_1));
        }

        /** Answers each request with its own body. */
        void echo() throws IOException {
            for (Request next = request(); next != null; next = request()) {
                answer(next.body());
            }
        }
    }

    private PeerServer(ServerSocket server, String scheme, Behaviour behaviour) {
        this.server = server;
        this.scheme = scheme;
        this.behaviour = behaviour;
        this.acceptor = start(this::accept);
    }

    static PeerServer start(Behaviour behaviour) throws IOException {
        return new PeerServer(new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1")), "http", behaviour);
    }

    static PeerServer on(ServerSocket server, String scheme, Behaviour behaviour) {
        return new PeerServer(server, scheme, behaviour);
    }

    URI url() {
        return URI.create(scheme + "://127.0.0.1:" + server.getLocalPort());
    }

    private static Thread start(Runnable task) {
        Thread thread = new Thread(task, "peer-server");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                sockets.add(socket);
                int number = connections.incrementAndGet();
                start(() -> serve(number, socket));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(int number, Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            behaviour.serve(new Peer(number, socket));
        } catch (Exception ended) {
            // the test looks at the other side
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        try {
            // Until then a connection may still be accepted.
            acceptor.join(5_000);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
