package io.paxoslease.spring;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

/**
 * Thrown by a method with {@code @LeaderOnly(otherwise = THROW)} on a node that does not lead. Where it leaves a controller the answer is 503: another
 * instance may do better.
 */
@ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
public class NotLeaderException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String leaseName;
    private final String node;
    private final @Nullable String leader;

    /**
     * Creates the exception.
     *
     * @param leaseName the name of the lease
     * @param node the id of the node that was called
     * @param leader the id of the node that leads as far as is known: a hint
     * @param reason why the call was refused, a sentence without its end
     */
    public NotLeaderException(String leaseName, String node, @Nullable String leader, String reason) {
        super(reason + "; lease '" + leaseName + "', node '" + node + "', "
                + (leader == null ? "no leader is known" : "leader as far as is known '" + leader + "'"));
        this.leaseName = leaseName;
        this.node = node;
        this.leader = leader;
    }

    /** The name of the lease. */
    public String leaseName() {
        return leaseName;
    }

    /** The id of the node that was called. */
    public String node() {
        return node;
    }

    /** The id of the node that leads as far as this node was told: good for a redirect, never a permission. */
    public Optional<String> leader() {
        return Optional.ofNullable(leader);
    }
}
