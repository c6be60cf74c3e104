package io.paxoslease.spring.boot;

import java.net.InetAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of PaxosLease.
 *
 * @param enabled Whether leases and leader elections are available.
 * @param nodeId Unique id of this node. By default the member whose URL is this host and port, else the host name.
 * @param cellName Name of the cell. Messages of another cell are refused.
 * @param members Base URL of each acceptor by its node id, for example http://10.0.0.1:8080; with transport tcp, tcp://10.0.0.1:7411 or, encrypted,
 *     tls://10.0.0.1:7411. Empty for a standalone cell of one. A node whose id is not listed proposes only.
 * @param transport How nodes talk to each other: over HTTP through the application's web server, or over TCP on a port of their own.
 * @param leaseTime Lease time of elections, and default for leases.
 * @param maxLeaseTime Longest lease time that any node of the cell may ask for, and how long a restarted acceptor stays silent. By default the lease
 *     time. Must be the same on all nodes.
 * @param maxClockDrift Bound on the error of a clock's rate, from 0 to below 0.5.
 * @param roundTimeout How long one network round may take at most. Adapts downward to measured round trips. By default one second, or half of the lease
 *     time if that is less.
 * @param oneRoundTrip Whether a lease is taken and extended in one round trip where no rival is known of, instead of two. After a collision two
 *     are taken in any case.
 * @param defaultLease Name of the lease that a bare @LeaderOnly uses.
 * @param leases Settings of single leases by name.
 * @param endpoint Where acceptors answer over HTTP.
 * @param tcp Where this node's acceptor answers over TCP.
 * @param security Who may talk to this node.
 * @param ssl TLS for calls between nodes.
 * @param shutdown What happens when the application stops.
 * @param history What is remembered of what happened to the leases.
 */
@ConfigurationProperties("paxoslease")
public record PaxosLeaseProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String nodeId,
        @DefaultValue("default") String cellName,
        @Nullable Map<String, String> members,
        @DefaultValue("http") Transport transport,
        @DefaultValue("10s") Duration leaseTime,
        @Nullable Duration maxLeaseTime,
        @DefaultValue("0.01") double maxClockDrift,
        @Nullable Duration roundTimeout,
        @DefaultValue("true") boolean oneRoundTrip,
        @DefaultValue("leader") String defaultLease,
        @Nullable Map<String, LeaseProperties> leases,
        @DefaultValue EndpointProperties endpoint,
        @DefaultValue TcpProperties tcp,
        @DefaultValue SecurityProperties security,
        @DefaultValue SslProperties ssl,
        @DefaultValue ShutdownProperties shutdown,
        @DefaultValue HistoryProperties history) {

    public PaxosLeaseProperties {
        members = members == null ? Map.of() : new TreeMap<>(members);
        leases = leases == null ? Map.of() : new LinkedHashMap<>(leases);
    }

    @Override
    public Map<String, String> members() {
        return members == null ? Map.of() : members;
    }

    @Override
    public Map<String, LeaseProperties> leases() {
        return leases == null ? Map.of() : leases;
    }

    /** How nodes talk to each other. */
    public enum Transport {
        /** Through the application's web server. */
        HTTP,
        /** On a port of their own. */
        TCP
    }

    /**
     * Settings of one lease.
     *
     * @param leaseTime Lease time. By default that of all elections.
     * @param candidate Whether this node seeks the lease: true from the start, false in no election, by default when something in the application uses it.
     * @param priority How early this node tries for the lease when it becomes free, from 0 to 10. Each step below 10 waits 20 ms longer.
     */
    public record LeaseProperties(
            @Nullable Duration leaseTime,
            @Nullable Boolean candidate,
            @DefaultValue("10") int priority) {}

    /**
     * Where acceptors answer.
     *
     * @param basePath Path of the acceptor endpoint.
     * @param port Which of the application's web servers has the acceptor endpoint.
     */
    public record EndpointProperties(
            @DefaultValue("/paxoslease") String basePath,
            @DefaultValue("application") Port port) {

        /** The web servers of an application. */
        public enum Port {
            /** The one that its users call. */
            APPLICATION,
            /** The one of Actuator, if it has a port of its own; else the same. */
            MANAGEMENT
        }
    }

    /**
     * Where this node's acceptor answers over TCP.
     *
     * @param port Port to listen on. By default that of this node's own URL.
     * @param address Address to listen on. By default all, or that of this node's own URL where there is neither a secret nor mutual
     *     TLS nor allow-unauthenticated.
     */
    public record TcpProperties(
            @Nullable Integer port, @Nullable InetAddress address) {}

    /**
     * Who may talk to this node.
     *
     * @param sharedSecret Secret of at least 16 bytes that authenticates every frame between nodes.
     * @param acceptedSecrets More secrets that frames of other nodes may be authenticated with, for a change of the shared secret without an
     *     interruption.
     * @param allowUnauthenticated Whether members beyond the loopback interface are allowed without a shared secret or mutual TLS.
     */
    public record SecurityProperties(
            @Nullable String sharedSecret,
            @Nullable List<String> acceptedSecrets,
            @DefaultValue("false") boolean allowUnauthenticated) {

        public SecurityProperties {
            acceptedSecrets = acceptedSecrets == null ? List.of() : List.copyOf(acceptedSecrets);
        }

        @Override
        public List<String> acceptedSecrets() {
            return acceptedSecrets == null ? List.of() : acceptedSecrets;
        }

        @Override
        public String toString() {
            return "SecurityProperties[sharedSecret=" + (sharedSecret == null ? "none" : "hidden")
                    + ", acceptedSecrets=" + acceptedSecrets().size() + " hidden, allowUnauthenticated="
                    + allowUnauthenticated + "]";
        }
    }

    /**
     * TLS for calls between nodes.
     *
     * @param bundle Name of the SSL bundle with which this node calls https and tls members, and with which a tls member answers.
     */
    public record SslProperties(@Nullable String bundle) {

        public SslProperties {
            bundle = bundle == null || bundle.isEmpty() ? null : bundle;
        }
    }

    /**
     * What happens when the application stops.
     *
     * @param drainTimeout How long to wait for guarded calls that still run before their leases are released. Keep it below
     *     spring.lifecycle.timeout-per-shutdown-phase.
     */
    public record ShutdownProperties(@DefaultValue("20s") Duration drainTimeout) {}

    /**
     * What is remembered of what happened to the leases.
     *
     * @param events How many events of each lease this node remembers. Repeated extensions count as one. 0 for no history.
     * @param leases How many leases have a history at most.
     */
    public record HistoryProperties(
            @DefaultValue("64") int events,
            @DefaultValue("256") int leases) {}
}
