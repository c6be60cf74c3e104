package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.PaxosLeaseProperties.Transport;
import io.paxoslease.spring.boot.transport.FrameOrigin;
import io.paxoslease.wire.WireSettings;
import java.net.InetAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What tells the frames of members from those of strangers: a shared secret, else the certificates of mutual TLS, else that both ends are on this
 * machine.
 */
final class Authentication {

    private final PaxosLeaseProperties properties;
    private final AnsweringServer server;
    private final LocalAddresses addresses;
    private final Map<String, URI> members;
    private final Consumer<String> warnings;

    Authentication(
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

    static boolean isTls(URI url) {
        return "tls".equalsIgnoreCase(url.getScheme());
    }

    /** Where frames may come from. */
    FrameOrigin origin() {
        if (hasSecret() || properties.security().allowUnauthenticated()) {
            return FrameOrigin.ANYWHERE;
        }
        return hasMutualTls() ? FrameOrigin.CERTIFIED : FrameOrigin.OWN_MACHINE;
    }

    /** Whether nodes that call this one's web server, as they may while the cell changes to TCP, would have nothing to show there. */
    boolean isOfTheOwnPortOnly() {
        return properties.transport() == Transport.TCP && !hasSecret() && hasMutualTls();
    }

    private boolean hasSecret() {
        String secret = properties.security().sharedSecret();
        return secret != null && !secret.isEmpty();
    }

    private boolean hasMutualTls() {
        if (properties.transport() == Transport.TCP) {
            return members.values().stream().allMatch(Authentication::isTls);
        }
        return properties.ssl().bundle() != null
                && server.requiresCertificates()
                && members.values().stream().allMatch(url -> "https".equalsIgnoreCase(url.getScheme()));
    }

    /** Fails if anybody on the network could vote. */
    void require() {
        if (members.isEmpty() || origin() != FrameOrigin.OWN_MACHINE) {
            return;
        }
        List<String> remote = members.entrySet().stream()
                .filter(member -> !addresses.isLoopback(member.getValue().getHost()))
                .map(Map.Entry::getKey)
                .toList();
        if (!remote.isEmpty()) {
            throw Settings.invalid(
                    "security.shared-secret",
                    null,
                    "it is not set, but the members " + remote
                            + " are not on the loopback interface: anybody on the network could vote",
                    "Set paxoslease.security.shared-secret to the same long random text on all nodes, or use "
                            + (properties.transport() == Transport.TCP
                                    ? "tls:// URLs with paxoslease.ssl.bundle"
                                    : "https URLs with paxoslease.ssl.bundle and " + server.clientAuthProperty()
                                            + "=need")
                            + ". In a network that only your nodes can"
                            + " reach you may set paxoslease.security.allow-unauthenticated=true.");
        }
        InetAddress address = properties.tcp().address();
        if (properties.transport() == Transport.TCP && address != null && !address.isLoopbackAddress()) {
            throw Settings.invalid(
                    "tcp.address",
                    address.getHostAddress(),
                    "without paxoslease.security.shared-secret anybody who reaches that address could vote",
                    "Set paxoslease.security.shared-secret to the same long random text on all nodes, or remove"
                            + " paxoslease.tcp.address: the node then listens on the loopback interface, where its own"
                            + " URL is.");
        }
    }

    /** Fails if a member's URL needs certificates that are not there. */
    void requireBundle() {
        if (properties.ssl().bundle() == null) {
            members.forEach((id, url) -> {
                if (isTls(url)) {
                    throw Settings.invalid(
                            "ssl.bundle",
                            null,
                            "it is not set, but the URL of member '" + id + "' is " + url,
                            "Set it to an SSL bundle with this node's key and with the certificates that it trusts, or use tcp://.");
                }
            });
        }
    }

    /** The one that this node uses and those that it accepts, none if frames are not authenticated. */
    List<WireSettings.Secret> secrets() {
        List<String> accepted = properties.security().acceptedSecrets();
        if (!hasSecret()) {
            if (!accepted.isEmpty()) {
                throw Settings.invalid(
                        "security.accepted-secrets",
                        null,
                        "paxoslease.security.shared-secret is not set, so that no frame is authenticated",
                        "Set paxoslease.security.shared-secret, too.");
            }
            return List.of();
        }
        List<WireSettings.Secret> secrets = new ArrayList<>();
        secrets.add(secret(
                "security.shared-secret", String.valueOf(properties.security().sharedSecret())));
        for (int i = 0; i < accepted.size(); i++) {
            secrets.add(secret("security.accepted-secrets[" + i + "]", accepted.get(i)));
        }
        return secrets;
    }

    /** White space around makes none longer: it is what is left of one that is missing, or the end of a file. */
    private WireSettings.Secret secret(String name, String text) {
        Settings.requireResolved(name, null, text);
        boolean spaced = !text.equals(text.strip());
        if (spaced) {
            warnings.accept(
                    Settings.PREFIX + name + " begins or ends with white space, such as the line break that echo"
                            + " writes, which belongs to it: a node that is given it without is refused by the others. Remove it on all"
                            + " nodes as you would change the secret.");
        }
        try {
            WireSettings.Secret secret = new WireSettings.Secret(text.strip());
            return spaced ? new WireSettings.Secret(text) : secret;
        } catch (IllegalArgumentException tooShort) {
            throw Settings.invalid(
                    name,
                    null,
                    String.valueOf(tooShort.getMessage()).replaceFirst("^The shared secret", "it")
                            + (spaced ? " without the white space around it" : ""),
                    "Use a long random text, for example the output of: openssl rand -base64 32");
        }
    }
}
