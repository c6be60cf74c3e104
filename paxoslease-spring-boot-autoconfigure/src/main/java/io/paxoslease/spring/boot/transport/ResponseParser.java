package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameReply;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads one HTTP/1.1 response, in pieces of any size, strictly and with bounded memory (RFC 9112). It takes a body with a
 * {@code Content-Length} or in chunks; what other clients tolerate (bare line feeds, folded headers, both lengths at once, a body that ends
 * with the connection) is refused, since a doubtful end of one answer would be taken for the start of the next.
 */
final class ResponseParser implements ReplyParser {

    /** Bounds status line and headers together, including those of interim responses; also a chunk's size line, and the trailers. */
    static final int MAX_HEAD_BYTES = 16 * 1024;

    private static final String START = "HTTP/1.";

    /** How an alert of TLS begins, with which some servers that want it refuse what does not. */
    private static final int TLS_ALERT = 0x15;

    private enum Part {
        STATUS_LINE,
        HEADER,
        BODY,
        CHUNK_SIZE,
        CHUNK,
        CHUNK_END,
        TRAILER,
        COMPLETE
    }

    private final int maxBodyBytes;
    private Part part = Part.STATUS_LINE;
    private boolean started;

    private byte[] line = new byte[128];
    private int lineBytes;
    private int headBytes;

    private int status;
    private boolean keepAlive;
    private long contentLength = -1;
    private boolean chunked;

    private byte[] body = {};
    private int bodyBytes;
    private int remaining;

    ResponseParser(int maxBodyBytes) {
        this.maxBodyBytes = maxBodyBytes;
    }

    @Override
    public boolean isStarted() {
        return started;
    }

    @Override
    public boolean keepsAlive() {
        return keepAlive;
    }

    @Override
    public @Nullable FrameReply read(ByteBuffer in) throws ProtocolException {
        started |= in.hasRemaining();
        while (part != Part.COMPLETE && in.hasRemaining()) {
            if (part == Part.BODY || part == Part.CHUNK) {
                readBody(in);
            } else if (readLine(in)) {
                String text = new String(line, 0, lineBytes, StandardCharsets.ISO_8859_1);
                lineBytes = 0;
                onLine(text);
            }
        }
        return part == Part.COMPLETE ? new FrameReply(status, Arrays.copyOf(body, bodyBytes)) : null;
    }

    /** Takes one line without its end. */
    private boolean readLine(ByteBuffer in) throws ProtocolException {
        while (in.hasRemaining()) {
            byte b = in.get();
            if (++headBytes > MAX_HEAD_BYTES) {
                throw new ProtocolException("more than " + MAX_HEAD_BYTES + " bytes of headers");
            }
            boolean afterReturn = lineBytes > 0 && line[lineBytes - 1] == '\r';
            if (b == '\n' && afterReturn) {
                lineBytes--;
                return true;
            }
            if (b == '\n' || afterReturn) {
                throw notHttp("a line does not end with CR LF");
            }
            if (part == Part.STATUS_LINE && lineBytes < START.length() && b != START.charAt(lineBytes)) {
                throw notHttp("it does not begin with " + START + (b == TLS_ALERT ? " (does it expect https?)" : ""));
            }
            if (lineBytes == line.length) {
                line = Arrays.copyOf(line, 2 * lineBytes);
            }
            line[lineBytes++] = b;
        }
        return false;
    }

    private void onLine(String text) throws ProtocolException {
        switch (part) {
            case STATUS_LINE -> onStatusLine(text);
            case HEADER -> {
                if (text.isEmpty()) {
                    onHeadersEnd();
                } else {
                    onHeader(text);
                }
            }
            case CHUNK_SIZE -> onChunkSize(text);
            case CHUNK_END -> {
                if (!text.isEmpty()) {
                    throw notHttp("a chunk is longer than its size");
                }
                part = Part.CHUNK_SIZE;
            }
            case TRAILER -> part = text.isEmpty() ? Part.COMPLETE : Part.TRAILER;
            default -> throw new IllegalStateException("No line is read in part " + part);
        }
    }

    private void onStatusLine(String text) throws ProtocolException {
        boolean valid = text.length() >= 12
                && (text.charAt(7) == '0' || text.charAt(7) == '1')
                && text.charAt(8) == ' '
                && text.charAt(9) >= '1'
                && text.charAt(9) <= '9'
                && isDigit(text.charAt(10))
                && isDigit(text.charAt(11))
                && (text.length() == 12 || text.charAt(12) == ' ');
        if (!valid) {
            throw notHttp("its status line is malformed");
        }
        status = Integer.parseInt(text, 9, 12, 10);
        keepAlive = text.charAt(7) == '1';
        contentLength = -1;
        chunked = false;
        part = Part.HEADER;
    }

    private void onHeader(String text) throws ProtocolException {
        int colon = text.indexOf(':');
        if (colon <= 0 || text.charAt(0) <= ' ' || text.charAt(colon - 1) <= ' ') {
            throw notHttp("a header is malformed");
        }
        String value = text.substring(colon + 1).strip();
        switch (text.substring(0, colon).toLowerCase(Locale.ROOT)) {
            case "content-length" -> {
                if (contentLength >= 0
                        || value.isEmpty()
                        || value.length() > 18
                        || !value.chars().allMatch(ResponseParser::isDigit)) {
                    throw notHttp("its Content-Length is malformed");
                }
                contentLength = Long.parseLong(value);
            }
            case "transfer-encoding" -> {
                if (chunked || !value.equalsIgnoreCase("chunked")) {
                    throw notHttp("its Transfer-Encoding is not just \"chunked\"");
                }
                chunked = true;
            }
            case "connection" -> {
                for (String option : value.split(",")) {
                    keepAlive &= !option.strip().equalsIgnoreCase("close");
                }
            }
            default -> {}
        }
    }

    private void onHeadersEnd() throws ProtocolException {
        if (status == 101) {
            throw notHttp("it switches to another protocol");
        } else if (status < 200) {
            part = Part.STATUS_LINE;
        } else if (chunked && contentLength >= 0) {
            throw notHttp("it has a Content-Length and a Transfer-Encoding");
        } else if (status == 204 || status == 304) {
            part = Part.COMPLETE;
        } else if (chunked) {
            part = Part.CHUNK_SIZE;
        } else if (contentLength < 0 && status == FrameChannels.OK) {
            throw notHttp("it has no Content-Length");
        } else if (contentLength < 0) {
            // Its body lasts until the connection ends, as many servers and proxies tell errors; the status is enough.
            keepAlive = false;
            part = Part.COMPLETE;
        } else {
            expect(contentLength);
            part = remaining == 0 ? Part.COMPLETE : Part.BODY;
        }
    }

    private void onChunkSize(String text) throws ProtocolException {
        int end = 0;
        while (end < text.length() && Character.digit(text.charAt(end), 16) >= 0) {
            end++;
        }
        boolean extended = end < text.length() && (text.charAt(end) == ';' || text.charAt(end) == ' ');
        if (end == 0 || end > 15 || (end < text.length() && !extended)) {
            throw notHttp("the size of a chunk is malformed");
        }
        expect(Long.parseLong(text, 0, end, 16));
        part = remaining == 0 ? Part.TRAILER : Part.CHUNK;
        headBytes = 0;
    }

    private void expect(long bytes) throws ProtocolException {
        if (bytes > maxBodyBytes - bodyBytes) {
            throw new ProtocolException("more than " + maxBodyBytes + " bytes");
        }
        remaining = (int) bytes;
    }

    private void readBody(ByteBuffer in) {
        int count = Math.min(remaining, in.remaining());
        if (bodyBytes + count > body.length) {
            body = Arrays.copyOf(body, Math.max(2 * body.length, bodyBytes + count));
        }
        in.get(body, bodyBytes, count);
        bodyBytes += count;
        remaining -= count;
        if (remaining == 0) {
            part = part == Part.BODY ? Part.COMPLETE : Part.CHUNK_END;
        }
    }

    private static boolean isDigit(int character) {
        return character >= '0' && character <= '9';
    }

    private static ProtocolException notHttp(String reason) {
        return new ProtocolException("something that is not HTTP: " + reason);
    }
}
