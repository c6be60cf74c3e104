package io.paxoslease.spring.boot.actuate;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.paxoslease.node.LeaseStatus;
import org.jspecify.annotations.Nullable;

/**
 * One lease in what the endpoint {@code lease} answers. The names of the components are the JSON format.
 *
 * @param state {@code HELD}, {@code FOLLOWING}, {@code SEEKING} or {@code STOPPED}
 * @param leader the node that leads, null if unknown; a hint unless it is this node
 * @param heldHere whether this node holds the lease
 * @param fencingToken the token of this node's tenure, null if it does not hold the lease
 * @param leaseTime T
 * @param remaining how long the lease lasts unless it is extended, null if no leader is known; a hint unless it is held here
 * @param acquiredAt when this node's tenure began, null if it does not hold the lease
 * @param nextExtensionIn when this node extends the lease next, null if it will not
 * @param extensions how often this node's tenure was extended
 * @param candidate whether this node seeks or holds the lease
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record LeaseDescriptor(
        String state,
        @Nullable String leader,
        boolean heldHere,
        @Nullable Long fencingToken,
        String leaseTime,
        @Nullable String remaining,
        @Nullable String acquiredAt,
        @Nullable String nextExtensionIn,
        long extensions,
        boolean candidate) {

    static LeaseDescriptor of(LeaseStatus status) {
        return new LeaseDescriptor(
                status.state().name(),
                status.leader(),
                status.heldHere(),
                status.fencingToken(),
                status.leaseTime().toString(),
                Iso.millisOrNull(status.remaining()),
                Iso.instantOrNull(status.acquiredAt()),
                Iso.millisOrNull(status.nextExtensionIn()),
                status.extensions(),
                status.candidate());
    }
}
