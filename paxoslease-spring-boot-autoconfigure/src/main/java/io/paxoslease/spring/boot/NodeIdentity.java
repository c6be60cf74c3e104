package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.PaxosLeaseProperties.Transport;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Which node this process is: the id that is set, else the member whose URL leads here, else the name of the host. */
final class NodeIdentity {

    private final PaxosLeaseProperties properties;
    private final AnsweringServer server;
    private final LocalAddresses addresses;
    private final Map<String, URI> members;
    private final Consumer<String> warnings;

    NodeIdentity(
            PaxosLeaseProperties properties,
            AnsweringServer server,
            LocalAddresses addresses,
            Map<String, URI> members,
            Consumer<String> warnings) {
        this.properties = properties;
        this.server = server;
        this.addresses = addresses;
        this.members = members;
        this.warnings = warnings;
    }

    /** The id; warns where it is not the one that was meant, as far as can be seen. */
    String id() {
        String configured = properties.nodeId();
        String id = configured == null || configured.isBlank() ? here() : configured;
        warnIfProposerOnly(id);
        warnIfPortIsDrawn(id);
        return Settings.requireName("node-id", id);
    }

    private String here() {
        Integer port = port();
        List<String> here = members.entrySet().stream()
                .filter(member -> (port == null || MemberUrls.port(member.getValue()) == port)
                        && addresses.isLocal(member.getValue().getHost()))
                .map(Map.Entry::getKey)
                .toList();
        if (here.size() > 1) {
            throw Settings.invalid(
                    "node-id",
                    null,
                    "it is not set, and the members " + here + " all have " + place(),
                    "Set paxoslease.node-id to the id of this process.");
        }
        return here.isEmpty() ? addresses.hostName() : here.get(0);
    }

    /** What the URL of the member that runs here has. */
    private String place() {
        Integer port = port();
        String property = properties.transport() == Transport.TCP ? "paxoslease.tcp.port" : server.portProperty();
        return "an address of this host" + (port == null ? "" : " with port " + port + " (" + property + ")");
    }

    /** The port of this node, null if that is the one of its URL. */
    private @Nullable Integer port() {
        return properties.transport() == Transport.TCP ? properties.tcp().port() : Integer.valueOf(server.port());
    }

    private void warnIfProposerOnly(String id) {
        if (!members.isEmpty() && !members.containsKey(id)) {
            boolean unset = !id.equals(properties.nodeId());
            warnings.accept("Node '" + id + "' is not one of the members " + members.keySet()
                    + (unset ? ", none of which has " + place() : "")
                    + ": it can lead but has no vote (proposer-only). If it should be one of them, "
                    + (unset ? "correct the port or the URL, or where addresses are translated " : "")
                    + "set paxoslease.node-id.");
        }
    }

    private void warnIfPortIsDrawn(String id) {
        if (members.containsKey(id) && properties.transport() != Transport.TCP && server.port() == 0) {
            warnings.accept("Node '" + id + "' is a member, but the port of its web server is drawn ("
                    + server.portProperty() + "=0): nobody reaches it at " + members.get(id)
                    + ", and a process that listens there may have its name and vote too. Set the port; for leases in tests"
                    + " use @AutoConfigureTestLeases.");
        }
    }
}
