package io.paxoslease.spring.boot.transport;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** A sender whose every byte the test writes, on a connection to this machine. */
final class RawSender implements Closeable {

    record Response(int status, String head, String body) {

        boolean closes() {
            return head.toLowerCase(Locale.ROOT).contains("\r\nconnection: close\r\n");
        }
    }

    final Socket socket;
    final InputStream in;

    RawSender(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(20_000);
        in = new BufferedInputStream(socket.getInputStream());
    }

    RawSender write(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return this;
    }

    /** Writes one byte at a time until the other side answers or closes. */
    void trickle(int bytes, int millis) throws Exception {
        for (int i = 0; i < bytes && in.available() == 0; i++) {
            write("x");
            Thread.sleep(millis);
        }
    }

    Response response() throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException("closed after " + head);
            }
            head.append((char) next);
        }
        int length = Integer.parseInt(Arrays.stream(head.toString().split("\r\n"))
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("content-length:"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("No Content-Length: " + head))
                .substring("content-length:".length())
                .strip());
        String body = new String(in.readNBytes(length), StandardCharsets.ISO_8859_1);
        return new Response(Integer.parseInt(head.substring(9, 12)), head.toString(), body);
    }

    boolean isClosedByPeer() throws IOException {
        try {
            return in.read() < 0;
        } catch (SocketException reset) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
