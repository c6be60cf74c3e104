package io.paxoslease.spring.boot.transport;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.security.cert.CertPathBuilderException;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Where a member answers, and the words for what can go wrong with it; who reports them names the member. */
record MemberUrl(String member, URI url) {

    private static final Set<String> ENCRYPTED = Set.of("https", "tls");

    /** Joins base URL, base path and {@code /messages}; refuses URLs that would not do what they say. */
    static MemberUrl of(String member, URI base, String basePath) {
        String scheme = requireScheme(member, base, "http", "https");
        requireHost(member, base);
        String path = trimmed(base.getRawPath()) + trimmed(basePath) + FrameChannels.PATH;
        return new MemberUrl(member, URI.create(scheme + "://" + base.getRawAuthority() + path));
    }

    /** For the port of its own that a member has where frames are all that passes; refuses URLs that would not do what they say. */
    static MemberUrl ofSocket(String member, URI base) {
        requireScheme(member, base, "tcp", "tls");
        requireHost(member, base);
        require(
                base.getPort() > 0 && trimmed(base.getRawPath()).isEmpty(),
                member,
                base,
                "must have a port and no path: ");
        return new MemberUrl(member, base);
    }

    private static String requireScheme(String member, URI base, String plain, String encrypted) {
        String scheme = String.valueOf(base.getScheme()).toLowerCase(Locale.ROOT);
        require(
                scheme.equals(plain) || scheme.equals(encrypted),
                member,
                base,
                "must begin with " + plain + ":// or " + encrypted + "://, but is ");
        return scheme;
    }

    private static void requireHost(String member, URI base) {
        require(base.getHost() != null, member, base, "has no valid host name (letters, digits, dots and hyphens): ");
        require(base.getPort() <= 65_535, member, base, "must have a port of 65535 at most: ");
        require(
                base.getRawUserInfo() == null && base.getRawQuery() == null && base.getRawFragment() == null,
                member,
                base,
                "may have a scheme, host, port and path, but no user, query or fragment: ");
    }

    private static void require(boolean met, String member, URI base, String otherwise) {
        if (!met) {
            throw new IllegalArgumentException("The URL of member " + member + " " + otherwise + base);
        }
    }

    boolean isEncrypted() {
        return ENCRYPTED.contains(url.getScheme().toLowerCase(Locale.ROOT));
    }

    private static String trimmed(String path) {
        String start = path.isEmpty() || path.startsWith("/") ? path : "/" + path;
        return start.endsWith("/") ? start.substring(0, start.length() - 1) : start;
    }

    String host() {
        return url.getHost();
    }

    int port() {
        return url.getPort() >= 0 ? url.getPort() : isEncrypted() ? 443 : 80;
    }

    IOException unknownHost() {
        return new IOException("unknown host " + host() + " in " + url);
    }

    IOException noConnection(@Nullable IOException why) {
        String reason = why == null ? null : why.getMessage();
        boolean refused = why instanceof ConnectException && (reason == null || reason.contains("refused"));
        return new IOException(
                refused
                        ? "connection refused by " + url
                        : "cannot connect to " + url + (reason == null ? "" : ": " + reason),
                why);
    }

    IOException noConnection(Exchange overdue) {
        return new IOException("no connection to " + url + " within " + millis(overdue.timeoutNanos));
    }

    IOException notLookedUp(Exchange overdue, long nanos) {
        return new IOException(noConnection(overdue).getMessage() + ": the look-up of host " + host()
                + " has not ended for " + millis(nanos));
    }

    IOException noAnswer(Exchange overdue) {
        return new IOException("no answer from " + url + " within " + millis(overdue.timeoutNanos));
    }

    IOException answeredWith(IOException what) {
        return new IOException(url + " answered with " + what.getMessage(), what);
    }

    IOException notTrusted(Exception why) {
        Throwable root = why;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String reason = String.valueOf(why.getMessage());
        String rootReason = String.valueOf(root.getMessage());
        // That a certificate has expired, or a trust store cannot be read, is said only there.
        return new IOException(
                "no secure connection to " + url + ": " + reason
                        + (reason.contains(rootReason) ? "" : " (" + root + ")")
                        + (root instanceof CertPathBuilderException
                                ? " (trusted is what paxoslease.ssl.bundle trusts, without it what the JVM does)"
                                : ""),
                why);
    }

    IOException lost(Throwable why) {
        return new IOException("the connection to " + url + " was lost: " + why.getMessage(), why);
    }

    /** On a connection that brought nothing: over HTTP most servers that want TLS close it so, over TCP a member says it in an alert. */
    IOException lostInSilence(IOException why) {
        return url.getScheme().equals("http")
                ? new IOException(lost(why).getMessage() + " (does it expect https?)", why)
                : lost(why);
    }

    IOException tooBusy() {
        return new IOException("too many exchanges with " + url + " at once");
    }

    IOException closed() {
        return new IOException("not sent to " + url + ", because this node shuts down");
    }

    private static String millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos) + " ms";
    }
}
