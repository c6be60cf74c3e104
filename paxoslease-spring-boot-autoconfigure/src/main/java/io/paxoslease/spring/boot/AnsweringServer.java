package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import org.springframework.core.env.Environment;

/**
 * The web server in which this node's acceptor answers over HTTP, as it is set: known before it runs. Its settings are read when they are asked
 * for, since an application that has no such server may share them with one that does.
 */
final class AnsweringServer {

    private static final int DEFAULT_PORT = 8080;

    private final Port chosen;
    private final Environment environment;

    AnsweringServer(Port chosen, Environment environment) {
        this.chosen = chosen;
        this.environment = environment;
    }

    /** Its port, 0 if it is drawn. */
    int port() {
        return port(portProperty());
    }

    /** The property that has its port. */
    String portProperty() {
        return prefix() + "port";
    }

    /** The property that says whether clients must show a certificate. */
    String clientAuthProperty() {
        return prefix() + "ssl.client-auth";
    }

    /** Whether they must. */
    boolean requiresCertificates() {
        return "need".equalsIgnoreCase(environment.getProperty(clientAuthProperty()));
    }

    /** The server of users, unless Actuator's is chosen and there is one: it has a port and TLS settings of its own then. */
    private String prefix() {
        Integer management =
                chosen == Port.MANAGEMENT ? environment.getProperty("management.server.port", Integer.class) : null;
        // As Spring Boot decides it: two ports that are drawn are not the same.
        return management != null && (management == 0 || management != port("server.port"))
                ? "management.server."
                : "server.";
    }

    private int port(String property) {
        return environment.getProperty(property, Integer.class, DEFAULT_PORT);
    }
}
