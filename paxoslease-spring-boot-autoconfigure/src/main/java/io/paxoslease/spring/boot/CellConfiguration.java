package io.paxoslease.spring.boot;

import io.paxoslease.node.NodeSettings;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Timing;
import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import io.paxoslease.spring.boot.PaxosLeaseProperties.Transport;
import io.paxoslease.spring.boot.transport.FrameOrigin;
import io.paxoslease.wire.WireSettings;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
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

    /** Checks the properties. */
    static CellConfiguration of(PaxosLeaseProperties properties, Environment environment, LocalAddresses addresses) {
        return new Builder(properties, environment, addresses).build();
    }

    boolean standalone() {
        return node.standalone();
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
        return ownUrl().filter(Authentication::isTls).isPresent();
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

    /** Whether this node answers other nodes in a web server. */
    boolean answersOverHttp() {
        return !standalone() && isAcceptor() && port != null;
    }

    /** Whether this node answers other nodes in that web server. */
    boolean answersIn(Port server) {
        return answersOverHttp() && port == server;
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
            AnsweringServer server = new AnsweringServer(properties.endpoint().port(), environment);
            Map<String, URI> members = MemberUrls.of(properties, environment);
            String nodeId = new NodeIdentity(properties, server, addresses, members, channelWarnings::add).id();
            Times times = new Times(properties, warnings::add);
            Timing timing = times.timing();
            times.requireDrainTimeout(environment);
            requireTcpPort();
            Duration roundTimeout = times.roundTimeout();
            requireBasePath();
            Authentication authentication = new Authentication(properties, server, addresses, members, warnings::add);
            authentication.require();
            authentication.requireBundle();
            requireHistory();
            boolean standalone = members.isEmpty();
            warnAboutUnreadProperties(standalone);
            Cell cell = cell(standalone ? List.of(nodeId) : List.copyOf(members.keySet()));
            warnAboutSize(cell, standalone);
            Settings.requireName("default-lease", properties.defaultLease());
            NodeSettings node = new NodeSettings(
                    nodeId,
                    cell,
                    timing,
                    properties.leaseTime(),
                    roundTimeout,
                    standalone,
                    properties.oneRoundTrip(),
                    NodeSettings.defaultMaxResources(),
                    times.leases(timing));
            WireSettings wire = new WireSettings(
                    cell, timing, roundTimeout, authentication.secrets(), WireSettings.DEFAULT_MAX_FRAME_BYTES);
            return new CellConfiguration(
                    node,
                    wire,
                    members,
                    properties.transport(),
                    properties.endpoint().basePath(),
                    authentication.isOfTheOwnPortOnly()
                            ? null
                            : properties.endpoint().port(),
                    authentication.origin(),
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

        private void requireHistory() {
            int events = properties.history().events();
            if (events < 0) {
                throw Settings.invalid(
                        "history.events",
                        events,
                        "a number of events cannot be negative",
                        "Set 0 for no history, or leave it at 64.");
            }
            int leases = properties.history().leases();
            if (leases < 1) {
                throw Settings.invalid(
                        "history.leases",
                        leases,
                        "at least one lease must have a history",
                        "Leave it at 256, or set paxoslease.history.events=0 for no history at all.");
            }
        }

        private void requireTcpPort() {
            Integer port = properties.tcp().port();
            if (port != null && (port < 1 || port > MemberUrls.MAX_PORT)) {
                throw Settings.invalid(
                        "tcp.port",
                        port,
                        "ports are from 1 to " + MemberUrls.MAX_PORT,
                        "Leave it out, which means the port of this node's own URL, or set the one behind that URL.");
            }
        }

        private void requireBasePath() {
            String path = properties.endpoint().basePath();
            if (!path.matches("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)+")) {
                throw Settings.invalid(
                        "endpoint.base-path",
                        path,
                        "it must begin with a slash, not end with one, consist of letters, digits and . _ ~ -, and have no part . or ..",
                        "Use a path such as /paxoslease, the same on all nodes.");
            }
        }

        private Cell cell(List<String> acceptors) {
            Settings.requireName("cell-name", properties.cellName());
            try {
                return new Cell(properties.cellName(), acceptors);
            } catch (IllegalArgumentException outOfRange) {
                throw Settings.invalid(
                        "members", acceptors, String.valueOf(outOfRange.getMessage()), "List 3 or 5 members.");
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
    }
}
