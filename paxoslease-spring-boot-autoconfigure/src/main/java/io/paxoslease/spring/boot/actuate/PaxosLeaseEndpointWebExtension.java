package io.paxoslease.spring.boot.actuate;

import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
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
     * More about one lease, or a lease with a slash in its name.
     *
     * @param name its name, or the beginning
     * @param part {@code history}, or the rest of the name
     * @return the lease of this name, else the history; null if there is neither
     */
    @ReadOperation
    public @Nullable Object part(@Selector String name, @Selector String part) {
        return path(name, part);
    }

    /**
     * A lease with slashes in its name.
     *
     * @param path its name; with {@code history} behind it, what happened to it on this node; empty behind a trailing slash
     * @return the lease, else the history; null if there is neither; the node for an empty path
     */
    @ReadOperation
    public @Nullable Object path(@Selector(match = Match.ALL_REMAINING) String... path) {
        if (path.length == 0) {
            return endpoint.cell();
        }
        LeaseDescriptor lease = endpoint.lease(String.join("/", path));
        if (lease != null) {
            return lease;
        }
        int last = path.length - 1;
        return endpoint.part(String.join("/", Arrays.copyOf(path, last)), path[last]);
    }

    /**
     * Changes this node's candidacy for a lease with slashes in its name.
     *
     * @param path the name of the lease
     * @param action {@code resign}, {@code start} or {@code stop}
     * @return as {@link #act(String, String)}
     */
    @WriteOperation
    public WebEndpointResponse<Object> actOnPath(
            @Selector(match = Match.ALL_REMAINING) String[] path, @Nullable String action) {
        return act(String.join("/", path), action);
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
