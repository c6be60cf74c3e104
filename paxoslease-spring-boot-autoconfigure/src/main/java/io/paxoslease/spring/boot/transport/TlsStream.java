package io.paxoslease.spring.boot.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.regex.Pattern;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

/**
 * Bytes encrypted by TLS. The first {@link #read} or {@link #write} begins the handshake, and each carries it on; what is offered to
 * {@code write} before it is over is not taken.
 *
 * <p>The expensive steps of the handshake are run by a {@link Calculator}. Until it says that it is done, the stream is busy and belongs to it: reads and
 * writes do nothing. Afterwards the owner must read, then write, without waiting for the selector, since what is next may be here already.
 *
 * <p>Memory is bounded whatever the other side does: one record received, one to send, and no further bytes from a peer that does not read the
 * answers that its own bytes demand.
 */
final class TlsStream implements ByteStream {

    /** Has no renegotiation. */
    static final String[] NEWEST = {"TLSv1.3"};

    private static final Pattern IP_ADDRESS = Pattern.compile("[\\d.]+|.*:.*");
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** So that the short records of a handshake are sent together. */
    private static final int ROOM_FOR_SHORT_RECORDS = 4 * 1024;

    private final SocketChannel socket;
    private final SSLEngine engine;
    private final Calculator calculator;
    private final Runnable whenDone;

    private final int recordBytes;
    private final ByteBuffer received;
    private final ByteBuffer encrypted;
    private boolean begun;

    /** Hands the engine over: set by the owner before the task is, cleared by the calculator's thread after it. */
    private volatile boolean busy;

    /** Whether the last advance stopped because the engine was handed over, though it may have been given back since. */
    private boolean handedOver;

    /**
     * Takes over a connected, non-blocking socket and an engine that was not used.
     *
     * @param calculator runs the expensive steps of the handshake
     * @param whenDone called by a thread of the calculator when the stream is no longer busy, perhaps after the owner has seen that already
     */
    TlsStream(SocketChannel socket, SSLEngine engine, Calculator calculator, Runnable whenDone) {
        this.socket = socket;
        this.engine = engine;
        this.calculator = calculator;
        this.whenDone = whenDone;
        recordBytes = engine.getSession().getPacketBufferSize();
        received = ByteBuffer.allocate(recordBytes);
        encrypted = ByteBuffer.allocate(recordBytes + ROOM_FOR_SHORT_RECORDS);
    }

    /**
     * The calling side, which accepts only a certificate for this host.
     *
     * @param host a name or an address, an IPv6 address with or without brackets
     * @param versions which versions of TLS are offered
     */
    static TlsStream client(
            SocketChannel socket,
            SSLContext context,
            String host,
            int port,
            String[] versions,
            Calculator calculator,
            Runnable whenDone) {
        String name = host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
        SSLEngine engine = context.createSSLEngine(name, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(versions);
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        if (!IP_ADDRESS.matcher(name).matches()) {
            // By itself the JDK does not tell a name without a dot, by which a server may choose its certificate.
            parameters.setServerNames(List.of(new SNIHostName(name.replaceFirst("\\.$", ""))));
        }
        engine.setSSLParameters(parameters);
        return new TlsStream(socket, engine, calculator, whenDone);
    }

    /** The answering side, which accepts only clients with a certificate. */
    static TlsStream server(SocketChannel socket, SSLContext context, Calculator calculator, Runnable whenDone) {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(NEWEST);
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        return new TlsStream(socket, engine, calculator, whenDone);
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        if (busy) {
            return 0;
        }
        int before = into.position();
        boolean ended = !owesAnAnswer() && socket.read(received) < 0;
        try {
            ended |= advance(into);
        } catch (SSLException failure) {
            sayGoodbye();
            throw failure;
        }
        try {
            flush();
        } catch (IOException lost) {
            // What was read before, perhaps an early answer, still counts; the end shows when the rest is read.
        }
        int added = into.position() - before;
        // What came with the end, such as the reason for it, may have to wait for a task.
        return added == 0 && ended && !handedOver ? -1 : added;
    }

    @Override
    public void write(ByteBuffer from) throws IOException {
        if (busy) {
            return;
        }
        flush();
        // Until the socket is full, because only then is it waited for.
        do {
            try {
                do {
                    advance(NOTHING);
                } while (isReadyFor(from) && wrap(from));
            } catch (SSLException failure) {
                sayGoodbye();
                throw failure;
            }
            flush();
        } while (isReadyFor(from) && encrypted.position() == 0);
    }

    private boolean isReadyFor(ByteBuffer from) {
        return !busy && from.hasRemaining() && engine.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING;
    }

    @Override
    public int interestOps() {
        if (busy) {
            return 0;
        } else if (owesAnAnswer()) {
            return SelectionKey.OP_WRITE;
        }
        return encrypted.position() > 0 ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
    }

    @Override
    public boolean isQuiet() {
        return received.position() == 0 && !isHandshaking();
    }

    @Override
    public boolean isHandshaking() {
        return busy || engine.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING;
    }

    @Override
    public void close() {
        if (!busy) {
            sayGoodbye();
        }
        try {
            socket.close();
        } catch (IOException ignored) {
            // it is gone either way
        }
    }

    /** Whether the engine has to send something and there is no room for it: what it reads now could only add to that. */
    private boolean owesAnAnswer() {
        return encrypted.remaining() < recordBytes && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP;
    }

    /**
     * Lets the engine do all that it can with what was received.
     *
     * @param into where plain text goes, or {@link #NOTHING}, for the handshake only
     * @return whether the other side will send nothing more
     */
    private boolean advance(ByteBuffer into) throws IOException {
        if (!begun) {
            begun = true;
            engine.beginHandshake();
        }
        handedOver = false;
        received.flip();
        try {
            while (true) {
                HandshakeStatus status = engine.getHandshakeStatus();
                if (status == HandshakeStatus.NEED_TASK) {
                    runTask();
                    handedOver = busy;
                    if (handedOver) {
                        return false;
                    }
                } else if (status == HandshakeStatus.NEED_WRAP
                        && (wrap(NOTHING) || engine.getHandshakeStatus() != status)) {
                    continue;
                } else if (status == HandshakeStatus.NOT_HANDSHAKING && into == NOTHING) {
                    return false;
                } else if (!unwrap(into) && engine.getHandshakeStatus() == status) {
                    return engine.isInboundDone();
                }
            }
        } finally {
            received.compact();
        }
    }

    /** Hands the engine to the calculator, which may have returned it already when this returns. */
    private void runTask() throws IOException {
        Runnable task = engine.getDelegatedTask();
        if (task == null) {
            throw new SSLException("The handshake is stuck");
        }
        busy = true;
        try {
            calculator.run(task, () -> {
                busy = false;
                whenDone.run();
            });
        } catch (RejectedExecutionException full) {
            busy = false;
            throw new SSLException("too many handshakes at once", full);
        } catch (RuntimeException | OutOfMemoryError noThread) {
            busy = false;
            throw new SSLException("no handshake: " + noThread, noThread);
        }
    }

    /** Decrypts one record; says whether there was one. */
    private boolean unwrap(ByteBuffer into) throws IOException {
        SSLEngineResult result;
        try {
            result = engine.unwrap(received, into);
        } catch (RuntimeException failure) {
            throw new SSLException("What was received cannot be handled", failure);
        }
        if (result.getStatus() == Status.BUFFER_OVERFLOW && into != NOTHING) {
            throw new IOException("no room for a record in " + into);
        } else if (result.getStatus() == Status.BUFFER_UNDERFLOW && received.remaining() == received.capacity()) {
            throw new SSLException("record longer than " + recordBytes + " bytes");
        }
        return result.bytesConsumed() > 0 || result.bytesProduced() > 0;
    }

    /** Encrypts one record, or what the engine itself has to say; says whether there was something and room for it. */
    private boolean wrap(ByteBuffer from) throws IOException {
        if (encrypted.remaining() < recordBytes) {
            flush();
            if (encrypted.remaining() < recordBytes) {
                return false;
            }
        }
        SSLEngineResult result;
        try {
            result = engine.wrap(from, encrypted);
        } catch (RuntimeException failure) {
            throw new SSLException("Nothing can be sent", failure);
        }
        if (result.getStatus() == Status.BUFFER_OVERFLOW) {
            throw new SSLException("record to send longer than " + recordBytes + " bytes");
        } else if (result.getStatus() == Status.CLOSED && from.hasRemaining()) {
            throw new ClosedChannelException();
        }
        return result.bytesProduced() > 0;
    }

    private void flush() throws IOException {
        if (encrypted.position() > 0) {
            encrypted.flip();
            try {
                socket.write(encrypted);
            } finally {
                encrypted.compact();
            }
        }
    }

    /** Sends the alert that says why, or that this is the end, if the socket takes it at once. */
    private void sayGoodbye() {
        try {
            engine.closeOutbound();
            while (!engine.isOutboundDone() && wrap(NOTHING)) {
                // an alert may be followed by another
            }
            flush();
        } catch (IOException | RuntimeException ignored) {
            // the other side sees only that the connection ends
        }
    }
}
