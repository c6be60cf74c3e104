package io.paxoslease.spring.boot;

import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.NodeSettings.LeaseSettings;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Timing;
import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import io.paxoslease.spring.boot.PaxosLeaseProperties.LeaseProperties;
import io.paxoslease.spring.boot.PaxosLeaseProperties.Transport;
import io.paxoslease.spring.boot.transport.FrameOrigin;
import io.paxoslease.wire.WireSettings;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * The properties, checked and turned into what the node and the wire need. Everything that is wrong stops the start with an
 * {@link InvalidCellConfigurationException}; what is merely unwise is a warning.
 *
 * @param node settings of the node
 * @param wire settings of the frames
 * @param members base URLs by node id, empty if standalone
 * @param transport how nodes talk to each other
 * @param basePath where acceptors answer over HTTP
 * @param port which web server this node's acceptor answers in, null for none
 * @param origin what authenticates other nodes in place of a shared secret
 * @param warnings sentences to log
 * @param channelWarnings those to log where this node's own channel connects it with the others
 */
record CellConfiguration(
        NodeSettings node,
        WireSettings wire,
        Map<String, URI> members,
        Transport transport,
        String basePath,
        @Nullable Port port,
        FrameOrigin origin,
        List<String> warnings,
        List<String> channelWarnings) {

    private static final String PREFIX = "paxoslease.";
    private static final Duration DEFAULT_ROUND_TIMEOUT = Duration.ofSeconds(1);
    private static final String SERVER_PORT = "server.port";
    private static final String MANAGEMENT_PORT = "management.server.port";
    private static final String SHUTDOWN_PHASE = "spring.lifecycle.timeout-per-shutdown-phase";
    private static final Duration DEFAULT_SHUTDOWN_PHASE = Duration.ofSeconds(30);
    private static final Duration SUSPICIOUSLY_SHORT = Duration.ofMillis(100);
    private static final Duration HASTY_ROUND = Duration.ofMillis(10);
    private static final int MAX_PORT = 65_535;

    /** Checks the properties. */
    static CellConfiguration of(PaxosLeaseProperties properties, Environment environment, LocalAddresses addresses) {
        return new Builder(properties, environment, addresses).build();
    }

    boolean standalone() {
        return node.standalone();
    }

    /** The base URLs of the other members. */
    Map<String, URI> peers() {
        Map<String, URI> peers = new LinkedHashMap<>(members);
        peers.remove(node.nodeId());
        return peers;
    }

    /** Whether this node answers other nodes. */
    boolean isAcceptor() {
        return node.cell().indexOf(node.nodeId()) >= 0;
    }

    /** Whether this node answers other nodes on a port of its own. */
    boolean answersOverTcp() {
        return !standalone() && isAcceptor() && transport == Transport.TCP;
    }

    /** This node's own URL, if it is a member. */
    Optional<URI> ownUrl() {
        return Optional.ofNullable(members.get(node.nodeId()));
    }

    /** Whether what arrives on this node's own port is encrypted, and its sender has a certificate that is trusted. */
    boolean answersEncrypted() {
        return ownUrl().filter(CellConfiguration::isTls).isPresent();
    }

    /**
     * The address that this node listens on over TCP, null for all.
     *
     * @param configured what the properties say
     * @throws UnknownHostException if the host of its own URL has none
     */
    @Nullable
    InetAddress tcpAddress(@Nullable InetAddress configured) throws UnknownHostException {
        return configured == null && origin == FrameOrigin.OWN_MACHINE
                ? InetAddress.getByName(ownUrl().orElseThrow().getHost())
                : configured;
    }

    private static boolean isTls(URI url) {
        return "tls".equalsIgnoreCase(url.getScheme());
    }

    /** Whether this node answers other nodes in that web server. */
    boolean answersIn(Port server) {
        return !standalone() && isAcceptor() && port == server;
    }

    private static final class Builder {

        private final PaxosLeaseProperties properties;
        private final Environment environment;
        private final LocalAddresses addresses;
        private final List<String> warnings = new ArrayList<>();
        private final List<String> channelWarnings = new ArrayList<>();

        Builder(PaxosLeaseProperties properties, Environment environment, LocalAddresses addresses) {
            this.properties = properties;
            this.environment = environment;
            this.addresses = addresses;
        }

        CellConfiguration build() {
            Map<String, URI> members = members();
            String nodeId = nodeId(members);
            Timing timing = timing();
            Duration leaseTime = properties.leaseTime();
            warnAboutUnit("lease-time", leaseTime);
            requireDrainTimeout();
            requireTcpPort();
            Duration roundTimeout = roundTimeout(leaseTime);
            String basePath = basePath();
            requireAuthentication(members);
            requireBundle(members);
            requireHistory();
            boolean standalone = members.isEmpty();
            warnAboutUnreadProperties(standalone);
            Cell cell = cell(standalone ? List.of(nodeId) : List.copyOf(members.keySet()));
            warnAboutSize(cell, standalone);
            NodeSettings node = new NodeSettings(
                    nodeId,
                    cell,
                    timing,
                    leaseTime,
                    roundTimeout,
                    standalone,
                    properties.oneRoundTrip(),
                    NodeSettings.defaultMaxResources(),
                    leases(timing, leaseTime));
            WireSettings wire =
                    new WireSettings(cell, timing, roundTimeout, secrets(), WireSettings.DEFAULT_MAX_FRAME_BYTES);
            return new CellConfiguration(
                    node,
                    wire,
                    members,
                    properties.transport(),
                    basePath,
                    webServer(members),
                    origin(members),
                    List.copyOf(warnings),
                    List.copyOf(channelWarnings));
        }

        /** An instance whose members are misspelt would be a cell of its own, and lead beside all others. */
        private void warnAboutUnreadProperties(boolean standalone) {
            UnreadProperties.in(environment).forEach((name, place) -> {
                String rule = "PaxosLease does not read it" + place;
                if (standalone) {
                    throw new InvalidCellConfigurationException(
                            name,
                            null,
                            rule + ", and without paxoslease.members this instance would lead whatever others do",
                            "Correct its name or its indentation, or remove it.");
                }
                warnings.add("Property " + name + ": " + rule + ". Correct its name, or remove it.");
            });
        }

        private Map<String, URI> members() {
            requireIds();
            Map<String, URI> members = new LinkedHashMap<>();
            Map<String, String> byAddress = new TreeMap<>();
            properties.members().forEach((id, url) -> {
                String property = PREFIX + "members." + id;
                requireResolved("members." + id, withoutPassword(url), url);
                URI uri = url(property, url);
                String other = byAddress.put(address(uri) + uri.getRawPath(), id);
                if (other != null) {
                    throw invalid(
                            property,
                            url,
                            "the members '" + other + "' and '" + id
                                    + "' have the same URL, but each acceptor is one process",
                            "Give each member the base URL of its own application instance. Ids that differ in capital letters"
                                    + " or dashes only are one name to Spring, which gives both the same URL.");
                }
                members.put(id, uri);
            });
            return members;
        }

        /** In a list an id would be a position: with another entry there it would be that of two processes, and no node would see it. */
        private void requireIds() {
            if (UnreadProperties.isList(PREFIX + "members", environment)) {
                throw invalid(
                        PREFIX + "members[0]",
                        null,
                        "members are not a list: each needs an id that stays its own when the others change",
                        "Write an id before each URL, such as node-1: http://10.0.0.1:8080, the same on all nodes, a"
                                + " number in quotes.");
            }
        }

        /** Nodes may still call over HTTP while the cell changes to TCP, but not without the certificates that stand in for a secret. */
        private @Nullable Port webServer(Map<String, URI> members) {
            return properties.transport() == Transport.TCP && !hasSecret() && hasMutualTls(members)
                    ? null
                    : properties.endpoint().port();
        }

        private void requireBundle(Map<String, URI> members) {
            if (properties.ssl().bundle() == null) {
                members.forEach((id, url) -> {
                    if (isTls(url)) {
                        throw invalid(
                                PREFIX + "ssl.bundle",
                                null,
                                "it is not set, but the URL of member '" + id + "' is " + url,
                                "Set it to an SSL bundle with this node's key and with the certificates that it trusts, or use tcp://.");
                    }
                });
            }
        }

        private void requireHistory() {
            int events = properties.history().events();
            if (events < 0) {
                throw invalid(
                        PREFIX + "history.events",
                        events,
                        "a number of events cannot be negative",
                        "Set 0 for no history, or leave it at 64.");
            }
            int leases = properties.history().leases();
            if (leases < 1) {
                throw invalid(
                        PREFIX + "history.leases",
                        leases,
                        "at least one lease must have a history",
                        "Leave it at 256, or set paxoslease.history.events=0 for no history at all.");
            }
        }

        private URI url(String property, String url) {
            boolean tcp = properties.transport() == Transport.TCP;
            List<String> schemes = tcp ? List.of("tcp", "tls") : List.of("http", "https");
            String remedy = tcp
                    ? "Set the address of the member's own port, for example tcp://10.0.0.1:7411, or leave paxoslease.transport at http."
                    : "Set the base URL of the member, for example http://10.0.0.1:8080 or https://node-1.example.com.";
            try {
                URI uri = new URI(url.replaceFirst("/+$", ""));
                String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
                // A password that is not encoded ends the host, too.
                boolean user = uri.getRawUserInfo() != null || (uri.getHost() == null && url.contains("@"));
                if (user || uri.getRawQuery() != null || uri.getRawFragment() != null) {
                    throw invalid(
                            property,
                            withoutPassword(url),
                            "a member's URL must not have a user, a query or a fragment",
                            remedy);
                }
                if (schemes.contains(scheme) && uri.getHost() == null && uri.getRawAuthority() != null) {
                    throw invalid(
                            property,
                            withoutPassword(url),
                            "'" + uri.getRawAuthority()
                                    + "' is no host name, or host name and port: a host name has letters, digits, dashes and dots, no underscore;"
                                    + " an IPv6 address is in brackets; ports are from 1 to " + MAX_PORT,
                            "Correct it. Of a host whose name has other characters set an alias or the address.");
                }
                if (!schemes.contains(scheme) || uri.getHost() == null) {
                    boolean otherTransport = !tcp && (scheme.equals("tcp") || scheme.equals("tls"));
                    throw invalid(
                            property,
                            withoutPassword(url),
                            "a member's URL must start with " + schemes.get(0) + ":// or " + schemes.get(1)
                                    + ":// and name a host",
                            otherTransport
                                    ? "Set paxoslease.transport=tcp on all nodes, or give the base URL of the application."
                                    : remedy);
                }
                if (tcp && (uri.getPort() < 0 || !uri.getRawPath().isEmpty())) {
                    throw invalid(
                            property,
                            withoutPassword(url),
                            "a member's URL must have a port and no path with paxoslease.transport=tcp",
                            remedy);
                }
                if (uri.getPort() > MAX_PORT || uri.getPort() == 0) {
                    throw invalid(
                            property,
                            withoutPassword(url),
                            "the port " + uri.getPort() + " is none, ports are from 1 to " + MAX_PORT,
                            remedy);
                }
                return uri;
            } catch (URISyntaxException malformed) {
                throw invalid(
                        property, withoutPassword(url), "this is not a URL (" + malformed.getReason() + ")", remedy);
            }
        }

        private static String withoutPassword(String url) {
            return url.replaceAll("(//[^/@:]*:).*@", "$1...@");
        }

        private static String address(URI uri) {
            return uri.getHost().toLowerCase(Locale.ROOT) + ":" + port(uri);
        }

        private static int port(URI uri) {
            return uri.getPort() >= 0 ? uri.getPort() : "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
        }

        /** The id that is set, else the member that this process must be by host and port, else the host name. */
        private String nodeId(Map<String, URI> members) {
            String configured = properties.nodeId();
            if (configured != null && !configured.isBlank()) {
                warnIfProposerOnly(configured, members);
                warnIfPortIsDrawn(configured, members);
                return name("node-id", configured);
            }
            Integer port = properties.transport() == Transport.TCP
                    ? properties.tcp().port()
                    : Integer.valueOf(listeningPort());
            List<String> here = members.entrySet().stream()
                    .filter(member -> (port == null || port(member.getValue()) == port)
                            && addresses.isLocal(member.getValue().getHost()))
                    .map(Map.Entry::getKey)
                    .toList();
            if (here.size() > 1) {
                throw invalid(
                        PREFIX + "node-id",
                        null,
                        "it is not set, and the members " + here + " all have an address of this host"
                                + (port == null ? "" : " with port " + port),
                        "Set paxoslease.node-id to the id of this process.");
            }
            String nodeId = here.isEmpty() ? addresses.hostName() : here.get(0);
            warnIfProposerOnly(nodeId, members);
            return name("node-id", nodeId);
        }

        private int listeningPort() {
            return port(listeningPortProperty());
        }

        private int serverPort() {
            return port(SERVER_PORT);
        }

        private int port(String property) {
            return environment.getProperty(property, Integer.class, 8080);
        }

        private String listeningPortProperty() {
            return properties.endpoint().port() == Port.MANAGEMENT
                            && environment.getProperty(MANAGEMENT_PORT, Integer.class) != null
                    ? MANAGEMENT_PORT
                    : SERVER_PORT;
        }

        private void warnIfProposerOnly(String nodeId, Map<String, URI> members) {
            if (!members.isEmpty() && !members.containsKey(nodeId)) {
                channelWarnings.add(
                        "Node '" + nodeId + "' is not one of the members " + members.keySet()
                                + ": it can lead but has no vote (proposer-only). If it should be one of them, set paxoslease.node-id.");
            }
        }

        private void warnIfPortIsDrawn(String nodeId, Map<String, URI> members) {
            if (members.containsKey(nodeId) && properties.transport() != Transport.TCP && listeningPort() == 0) {
                channelWarnings.add("Node '" + nodeId
                        + "' is a member, but the port of its web server is drawn (" + listeningPortProperty() + "=0):"
                        + " nobody reaches it at " + members.get(nodeId) + ", and a process that listens there may have"
                        + " its name and vote too. Set the port; for leases in tests use @AutoConfigureTestLeases.");
            }
        }

        private Timing timing() {
            Duration leaseTime = properties.leaseTime();
            Duration configuredMax = properties.maxLeaseTime();
            Duration max = configuredMax == null ? leaseTime : configuredMax;
            requireRange("lease-time", leaseTime);
            requireRange("max-lease-time", max);
            if (leaseTime.compareTo(max) > 0) {
                throw invalid(
                        PREFIX + "lease-time",
                        leaseTime,
                        "it is longer than paxoslease.max-lease-time = " + words(max),
                        "Shorten the lease time, or raise max-lease-time on all nodes of the cell.");
            }
            double drift = properties.maxClockDrift();
            if (!(drift >= 0 && drift < 0.5)) {
                throw invalid(
                        PREFIX + "max-clock-drift",
                        drift,
                        "it must be at least 0 and below 0.5",
                        "Leave it at 0.01 unless the clocks of your machines are known to run worse.");
            }
            return new Timing(max.toNanos(), drift);
        }

        /** Ten seconds were meant, and 10 was written. */
        private void warnAboutUnit(String property, Duration leaseTime) {
            if (leaseTime.compareTo(SUSPICIOUSLY_SHORT) < 0) {
                warnings.add(
                        PREFIX + property + " is " + words(leaseTime)
                                + ", so that any pause costs the lease. A number without a unit means milliseconds; write 10s for ten seconds.");
            }
        }

        private void requireDrainTimeout() {
            Duration timeout = properties.shutdown().drainTimeout();
            if (timeout.isNegative()) {
                throw invalid(
                        PREFIX + "shutdown.drain-timeout",
                        timeout,
                        "it must not be negative",
                        "Choose a time such as 20s, or 0s to wait for no guarded call.");
            }
            if (!timeout.isZero() && timeout.compareTo(SUSPICIOUSLY_SHORT) < 0) {
                warnings.add("paxoslease.shutdown.drain-timeout is " + words(timeout)
                        + ", so that leases are released while guarded calls still run. A number without a unit means milliseconds;"
                        + " write 20s for twenty seconds, or 0s to wait for no guarded call.");
            }
            BindResult<Duration> configured = Binder.get(environment).bind(SHUTDOWN_PHASE, Duration.class);
            Duration phase = configured.isBound() ? configured.get() : DEFAULT_SHUTDOWN_PHASE;
            if (timeout.compareTo(phase) >= 0) {
                warnings.add("paxoslease.shutdown.drain-timeout is " + words(timeout) + ", which is not below "
                        + SHUTDOWN_PHASE + ", " + words(phase)
                        + ": Spring stops waiting first, and ends what guarded calls still use.");
            }
        }

        private void requireTcpPort() {
            Integer port = properties.tcp().port();
            if (port != null && (port < 1 || port > MAX_PORT)) {
                throw invalid(
                        PREFIX + "tcp.port",
                        port,
                        "ports are from 1 to " + MAX_PORT,
                        "Leave it out, which means the port of this node's own URL, or set the one behind that URL.");
            }
        }

        private static void requireRange(String name, Duration time) {
            if (time.compareTo(Duration.ofNanos(Timing.MIN_LEASE_NANOS)) < 0
                    || time.compareTo(Duration.ofNanos(Timing.MAX_LEASE_NANOS)) > 0) {
                throw invalid(
                        PREFIX + name,
                        time,
                        "it must be from 10ms to 7d",
                        "Choose a time such as 10s; a few seconds suit most jobs. A number without a unit means milliseconds.");
            }
        }

        private Duration roundTimeout(Duration leaseTime) {
            Duration configured = properties.roundTimeout();
            if (configured == null) {
                Duration half = leaseTime.dividedBy(2);
                return half.compareTo(DEFAULT_ROUND_TIMEOUT) < 0 ? half : DEFAULT_ROUND_TIMEOUT;
            }
            if (configured.isZero() || configured.isNegative() || configured.compareTo(leaseTime) >= 0) {
                throw invalid(
                        PREFIX + "round-timeout",
                        configured,
                        "it must be more than zero and less than paxoslease.lease-time = " + words(leaseTime),
                        "Leave it unset, or choose some round trips of your network; an extension must fit into the lease several times.");
            }
            if (configured.compareTo(HASTY_ROUND) < 0) {
                warnings.add("paxoslease.round-timeout is " + words(configured)
                        + ", so that members count as not reachable although nothing is wrong with them. A number without"
                        + " a unit means milliseconds; write 1s for one second.");
            }
            return configured;
        }

        private String basePath() {
            String path = properties.endpoint().basePath();
            if (!path.matches("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)+")) {
                throw invalid(
                        PREFIX + "endpoint.base-path",
                        path,
                        "it must begin with a slash, not end with one, consist of letters, digits and . _ ~ -, and have no part . or ..",
                        "Use a path such as /paxoslease, the same on all nodes.");
            }
            return path;
        }

        private void requireAuthentication(Map<String, URI> members) {
            List<String> remote = members.entrySet().stream()
                    .filter(member -> !addresses.isLoopback(member.getValue().getHost()))
                    .map(Map.Entry::getKey)
                    .toList();
            if (members.isEmpty() || origin(members) != FrameOrigin.OWN_MACHINE) {
                return;
            }
            if (remote.isEmpty()) {
                requireLoopbackAddress();
                return;
            }
            throw invalid(
                    PREFIX + "security.shared-secret",
                    null,
                    "it is not set, but the members " + remote
                            + " are not on the loopback interface: anybody on the network could vote",
                    "Set paxoslease.security.shared-secret to the same long random text on all nodes, or use "
                            + (properties.transport() == Transport.TCP
                                    ? "tls:// URLs with paxoslease.ssl.bundle"
                                    : "https URLs with paxoslease.ssl.bundle and " + clientAuth() + "=need")
                            + ". In a network that only your nodes can"
                            + " reach you may set paxoslease.security.allow-unauthenticated=true.");
        }

        private void requireLoopbackAddress() {
            InetAddress address = properties.tcp().address();
            if (properties.transport() == Transport.TCP && address != null && !address.isLoopbackAddress()) {
                throw invalid(
                        PREFIX + "tcp.address",
                        address.getHostAddress(),
                        "without paxoslease.security.shared-secret anybody who reaches that address could vote",
                        "Set paxoslease.security.shared-secret to the same long random text on all nodes, or remove"
                                + " paxoslease.tcp.address: the node then listens on the loopback interface, where its own"
                                + " URL is.");
            }
        }

        private FrameOrigin origin(Map<String, URI> members) {
            if (hasSecret() || properties.security().allowUnauthenticated()) {
                return FrameOrigin.ANYWHERE;
            }
            return hasMutualTls(members) ? FrameOrigin.CERTIFIED : FrameOrigin.OWN_MACHINE;
        }

        private boolean hasSecret() {
            String secret = properties.security().sharedSecret();
            return secret != null && !secret.isEmpty();
        }

        private boolean hasMutualTls(Map<String, URI> members) {
            if (properties.transport() == Transport.TCP) {
                return members.values().stream().allMatch(CellConfiguration::isTls);
            }
            return properties.ssl().bundle() != null
                    && "need".equalsIgnoreCase(environment.getProperty(clientAuth()))
                    && members.values().stream().allMatch(uri -> "https".equalsIgnoreCase(uri.getScheme()));
        }

        /** Actuator's server has TLS settings of its own where it has a port of its own. */
        private String clientAuth() {
            return listeningPort() == serverPort() ? "server.ssl.client-auth" : "management.server.ssl.client-auth";
        }

        private List<WireSettings.Secret> secrets() {
            List<String> accepted = properties.security().acceptedSecrets();
            if (!hasSecret()) {
                if (!accepted.isEmpty()) {
                    throw invalid(
                            PREFIX + "security.accepted-secrets",
                            null,
                            "paxoslease.security.shared-secret is not set, so that no frame is authenticated",
                            "Set paxoslease.security.shared-secret, too.");
                }
                return List.of();
            }
            List<WireSettings.Secret> secrets = new ArrayList<>();
            secrets.add(secret(
                    "security.shared-secret",
                    String.valueOf(properties.security().sharedSecret())));
            for (int i = 0; i < accepted.size(); i++) {
                secrets.add(secret("security.accepted-secrets[" + i + "]", accepted.get(i)));
            }
            return secrets;
        }

        private static WireSettings.Secret secret(String property, String text) {
            requireResolved(property, null, text);
            try {
                return new WireSettings.Secret(text);
            } catch (IllegalArgumentException tooShort) {
                throw invalid(
                        PREFIX + property,
                        null,
                        String.valueOf(tooShort.getMessage()).replaceFirst("^The shared secret", "it"),
                        "Use a long random text, for example the output of: openssl rand -base64 32");
            }
        }

        private Cell cell(List<String> acceptors) {
            name("cell-name", properties.cellName());
            try {
                return new Cell(properties.cellName(), acceptors);
            } catch (IllegalArgumentException outOfRange) {
                throw invalid(
                        PREFIX + "members", acceptors, String.valueOf(outOfRange.getMessage()), "List 3 or 5 members.");
            }
        }

        private void warnAboutSize(Cell cell, boolean standalone) {
            if (standalone) {
                return;
            }
            if (cell.size() == 1) {
                warnings.add("The cell '" + cell.name() + "' has the single member " + cell.acceptors()
                        + ": nobody can lead while it is down. List 3 members to survive the loss of one.");
            } else if (cell.size() % 2 == 0) {
                warnings.add("The cell '" + cell.name() + "' has " + cell.size()
                        + " members. An even number gains nothing: "
                        + (cell.size() == 2 ? "1 member survives" : cell.size() - 1 + " members survive")
                        + " as many failures.");
            }
        }

        private Map<String, LeaseSettings> leases(Timing timing, Duration leaseTime) {
            name("default-lease", properties.defaultLease());
            Map<String, LeaseSettings> leases = new LinkedHashMap<>();
            properties.leases().forEach((name, lease) -> {
                name("leases", "the name of a lease", name);
                leases.put(name, lease(name, lease, timing, leaseTime));
            });
            return leases;
        }

        private LeaseSettings lease(String name, LeaseProperties lease, Timing timing, Duration leaseTime) {
            String property = PREFIX + "leases." + name;
            Duration configured = lease.leaseTime();
            Duration time = configured == null ? leaseTime : configured;
            try {
                timing.requireLeaseTime(time.toNanos());
            } catch (IllegalArgumentException | ArithmeticException outOfRange) {
                throw invalid(
                        property + ".lease-time",
                        time,
                        "it must be from 10ms to paxoslease.max-lease-time = "
                                + words(Duration.ofNanos(timing.maxLeaseNanos())),
                        "Shorten it, or raise paxoslease.max-lease-time on all nodes.");
            }
            if (configured != null) {
                warnAboutUnit("leases." + name + ".lease-time", configured);
            }
            if (lease.priority() < 0 || lease.priority() > LeaseSettings.HIGHEST_PRIORITY) {
                throw invalid(
                        property + ".priority",
                        lease.priority(),
                        "it must be from 0 to 10",
                        "Leave it at 10 on the nodes that should lead by preference, and lower it on the others.");
            }
            return new LeaseSettings(time, !Boolean.FALSE.equals(lease.candidate()), lease.priority());
        }

        private static String name(String property, String name) {
            return name(property, "it", name);
        }

        /** Spring leaves a placeholder without a value as it is: the same text on all nodes, and no secret. */
        private static void requireResolved(String property, @Nullable String shown, String text) {
            if (text.matches("(?s).*\\$\\{.*}.*")) {
                throw invalid(
                        PREFIX + property,
                        shown,
                        "it has a placeholder ${...} without a value",
                        "Set the property or the environment variable that the placeholder names.");
            }
        }

        private static String name(String property, String what, String name) {
            requireResolved(property, name, name);
            try {
                return io.paxoslease.protocol.Names.require(property, name, 255);
            } catch (IllegalArgumentException wrong) {
                throw invalid(PREFIX + property, name, what + said(wrong, property), "Choose a short name.");
            }
        }

        /** What is wrong, without naming the property and its value once more. */
        private static String said(IllegalArgumentException wrong, String property) {
            return String.valueOf(wrong.getMessage()).replaceFirst("^The " + property + "( '.*?')?", "");
        }

        private static InvalidCellConfigurationException invalid(
                String property, @Nullable Object value, String rule, String remedy) {
            String text =
                    value instanceof Duration duration ? words(duration) : value == null ? null : value.toString();
            return new InvalidCellConfigurationException(property, text, rule, remedy);
        }

        /** A duration as it is written in a property, in the largest unit of which it is a whole number. */
        private static String words(Duration duration) {
            if (duration.toNanosPart() != 0) {
                return duration.toNanosPart() % 1_000_000 == 0 ? duration.toMillis() + "ms" : duration.toString();
            }
            if (duration.isZero() || duration.toSecondsPart() != 0) {
                return duration.toSeconds() + "s";
            }
            return duration.toMinutesPart() != 0
                    ? duration.toMinutes() + "m"
                    : duration.toHoursPart() != 0 ? duration.toHours() + "h" : duration.toDays() + "d";
        }
    }
}
