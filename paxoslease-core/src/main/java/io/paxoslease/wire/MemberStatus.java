package io.paxoslease.wire;

import io.paxoslease.node.RequestHandler.AcceptorState;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What this node knows about another member of the cell.
 *
 * @param nodeId the member
 * @param reachable whether the last exchange with it succeeded and it was not refused; a first one that fails does not count while later ones are
 *     under way
 * @param roundTrip the smoothed round trip time, null before the first answer
 * @param state the state of its acceptor as it said last, null if it never said
 * @param refused whether the two nodes refuse each other because their settings do not fit
 * @param problem what is wrong, in words that name both values; null if nothing is
 */
public record MemberStatus(
        String nodeId,
        boolean reachable,
        @Nullable Duration roundTrip,
        @Nullable AcceptorState state,
        boolean refused,
        @Nullable String problem) {}
