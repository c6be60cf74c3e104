package io.paxoslease.spring.boot.actuate;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/** Turns what the endpoint {@code lease} refuses into an HTTP status and a body {@code {"error": "…"}}. */
@EndpointWebExtension(endpoint = PaxosLeaseEndpoint.class)
public final class PaxosLeaseEndpointWebExtension {

    private final PaxosLeaseEndpoint endpoint;

    /**
     * Makes an extension.
     *
     * @param endpoint the endpoint
     */
    public PaxosLeaseEndpointWebExtension(PaxosLeaseEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /**
     * Changes this node's candidacy for a lease.
     *
     * @param name the name of the lease
     * @param action {@code resign}, {@code start} or {@code stop}
     * @return 200 with the lease right afterwards; 404 for an unknown lease, 400 for an unknown action, 409 for one that does not fit the lease
     */
    @WriteOperation
    public WebEndpointResponse<Object> act(@Selector String name, @Nullable String action) {
        try {
            return new WebEndpointResponse<>(endpoint.act(name, action));
        } catch (LeaseActionException refused) {
            return new WebEndpointResponse<>(Map.of("error", String.valueOf(refused.getMessage())), refused.status());
        }
    }
}
