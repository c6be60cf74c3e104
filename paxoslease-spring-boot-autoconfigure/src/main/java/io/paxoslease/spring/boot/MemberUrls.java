package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.PaxosLeaseProperties.Transport;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.springframework.core.env.Environment;

/**
 * The base URLs of the members, as they are set. Each has a scheme of the transport, and a host and a port that can be connected to; no two are
 * the same.
 */
final class MemberUrls {

    static final int MAX_PORT = 65_535;

    private final boolean tcp;
    private final List<String> schemes;
    private final String remedy;

    private MemberUrls(Transport transport) {
        this.tcp = transport == Transport.TCP;
        this.schemes = tcp ? List.of("tcp", "tls") : List.of("http", "https");
        this.remedy = tcp
                ? "Set the address of the member's own port, for example tcp://10.0.0.1:7411, or leave paxoslease.transport at http."
                : "Set the base URL of the member, for example http://10.0.0.1:8080 or https://node-1.example.com.";
    }

    /** By node id, in the order of the properties. */
    static Map<String, URI> of(PaxosLeaseProperties properties, Environment environment) {
        requireIds(environment);
        return new MemberUrls(properties.transport()).read(properties.members());
    }

    /** The port that a URL leads to, also where it does not name it. */
    static int port(URI url) {
        return url.getPort() >= 0 ? url.getPort() : "https".equalsIgnoreCase(url.getScheme()) ? 443 : 80;
    }

    /** In a list an id would be a position: with another entry there it would be that of two processes, and no node would see it. */
    private static void requireIds(Environment environment) {
        if (UnreadProperties.isList(Settings.PREFIX + "members", environment)) {
            throw Settings.invalid(
                    "members[0]",
                    null,
                    "members are not a list: each needs an id that stays its own when the others change",
                    "Write an id before each URL, such as node-1: http://10.0.0.1:8080, the same on all nodes, a"
                            + " number in quotes.");
        }
    }

    private Map<String, URI> read(Map<String, String> texts) {
        Map<String, URI> urls = new LinkedHashMap<>();
        Map<String, String> byAddress = new HashMap<>();
        texts.forEach((id, text) -> {
            Settings.requireName("members", "the id of a member", id);
            Settings.requireResolved("members." + id, withoutPassword(text), text);
            URI url = read(id, text);
            String other = byAddress.put(address(url), id);
            if (other != null) {
                throw Settings.invalid(
                        "members." + id,
                        text,
                        "the members '" + other + "' and '" + id
                                + "' have the same URL, but each acceptor is one process",
                        "Give each member the base URL of its own application instance. Ids that differ in capital letters"
                                + " or dashes only are one name to Spring, which gives both the same URL.");
            }
            urls.put(id, url);
        });
        return urls;
    }

    private URI read(String id, String text) {
        URI url;
        try {
            url = new URI(text.replaceFirst("/+$", ""));
        } catch (URISyntaxException malformed) {
            throw refused(id, text, "this is not a URL (" + malformed.getReason() + ")", remedy);
        }
        // A password that is not encoded ends the host, too.
        boolean user = url.getRawUserInfo() != null || (url.getHost() == null && text.contains("@"));
        if (user || url.getRawQuery() != null || url.getRawFragment() != null) {
            throw refused(id, text, "a member's URL must not have a user, a query or a fragment", remedy);
        }
        requireSchemeAndHost(id, text, url);
        if (tcp && (url.getPort() < 0 || !url.getRawPath().isEmpty())) {
            throw refused(
                    id, text, "a member's URL must have a port and no path with paxoslease.transport=tcp", remedy);
        }
        if (url.getPort() > MAX_PORT || url.getPort() == 0) {
            throw refused(id, text, "the port " + url.getPort() + " is none, ports are from 1 to " + MAX_PORT, remedy);
        }
        return url;
    }

    private void requireSchemeAndHost(String id, String text, URI url) {
        String scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
        if (!schemes.contains(scheme) || url.getRawAuthority() == null) {
            boolean otherTransport = !tcp && (scheme.equals("tcp") || scheme.equals("tls"));
            throw refused(
                    id,
                    text,
                    "a member's URL must start with " + schemes.get(0) + ":// or " + schemes.get(1)
                            + ":// and name a host",
                    otherTransport
                            ? "Set paxoslease.transport=tcp on all nodes, or give the base URL of the application."
                            : remedy);
        }
        if (url.getHost() == null) {
            throw refused(
                    id,
                    text,
                    "'" + url.getRawAuthority()
                            + "' is no host name, or host name and port: a host name has letters, digits, dashes and dots, no underscore;"
                            + " an IPv6 address is in brackets; ports are from 1 to " + MAX_PORT,
                    "Correct it. Of a host whose name has other characters set an alias or the address.");
        }
    }

    private static InvalidCellConfigurationException refused(String id, String text, String rule, String remedy) {
        return Settings.invalid("members." + id, withoutPassword(text), rule, remedy);
    }

    /** The password may make the text no URL, and the text may lack what makes it one. */
    static String withoutPassword(String text) {
        return text.replaceAll("(?s):(?!//).*@", ":...@");
    }

    private static String address(URI url) {
        return url.getHost().toLowerCase(Locale.ROOT) + ":" + port(url) + url.getRawPath();
    }
}
