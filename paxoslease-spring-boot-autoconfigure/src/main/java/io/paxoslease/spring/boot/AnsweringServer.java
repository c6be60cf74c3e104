package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import org.springframework.core.env.Environment;

/**
 * The web server in which this node's acceptor answers over HTTP, as it is set: known before it runs.
 *
 * @param portProperty the property that has its port
 * @param port its port, 0 if it is drawn
 * @param clientAuthProperty the property that says whether clients must show a certificate
 * @param requiresCertificates whether they must
 */
record AnsweringServer(String portProperty, int port, String clientAuthProperty, boolean requiresCertificates) {

    private static final int DEFAULT_PORT = 8080;

    /** The server of users, unless Actuator's is chosen and there is one: it has a port and TLS settings of its own then. */
    static AnsweringServer of(Port chosen, Environment environment) {
        int port = environment.getProperty("server.port", Integer.class, DEFAULT_PORT);
        Integer management = environment.getProperty("management.server.port", Integer.class);
        // As Spring Boot decides it: two ports that are drawn are not the same.
        return chosen == Port.MANAGEMENT && management != null && (management == 0 || management != port)
                ? of("management.server.", management, environment)
                : of("server.", port, environment);
    }

    private static AnsweringServer of(String prefix, int port, Environment environment) {
        String clientAuth = prefix + "ssl.client-auth";
        return new AnsweringServer(
                prefix + "port", port, clientAuth, "need".equalsIgnoreCase(environment.getProperty(clientAuth)));
    }
}
