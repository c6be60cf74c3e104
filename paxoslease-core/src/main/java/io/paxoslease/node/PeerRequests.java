package io.paxoslease.node;

import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What other nodes ask of this one: its acceptor answers, and its engine learns who owns a lease or wants it (X6). Safe to use from any thread.
 */
final class PeerRequests {

    /** How many requests of a frame the acceptor handles before others have their turn. */
    private static final int REQUESTS_AT_ONCE = 64;

    private final @Nullable LocalAcceptor acceptor;
    private final LeaseEngine engine;
    private final NodeClock clock;
    private final Consumer<NodeLoop.Step> steps;
    private final Consumer<Throwable> defects;

    /** Gives what the engine is to learn to {@code steps}, which performs it, and what the acceptor throws to {@code defects}. */
    PeerRequests(
            @Nullable LocalAcceptor acceptor,
            LeaseEngine engine,
            NodeClock clock,
            Consumer<NodeLoop.Step> steps,
            Consumer<Throwable> defects) {
        this.acceptor = acceptor;
        this.engine = engine;
        this.clock = clock;
        this.steps = steps;
        this.defects = defects;
    }

    /** For each request its answer, null where the acceptor takes no part and for releases. */
    List<@Nullable Response> answer(List<Request> requests) {
        List<@Nullable Response> responses = new ArrayList<>(requests.size());
        // Read after the requests arrived, so that no exclusion ends before its T counted from the sending has passed.
        Now arrived = clock.now();
        for (int from = 0; from < requests.size(); from += REQUESTS_AT_ONCE) {
            answer(requests.subList(from, Math.min(requests.size(), from + REQUESTS_AT_ONCE)), arrived, responses);
        }
        for (int i = 0; i < requests.size(); i++) {
            if (isWorthAStep(requests.get(i).resource(), responses.get(i))) {
                steps.accept((now, output) -> hint(requests, responses, now, output));
                break;
            }
        }
        return responses;
    }

    private boolean isWorthAStep(String resource, @Nullable Response response) {
        AcceptedLease lease = reported(response);
        return engine.cares(resource) || (lease != null && engine.isOwn(lease.ballot()));
    }

    private static @Nullable AcceptedLease reported(@Nullable Response response) {
        return response == null ? null : response.lease();
    }

    private void answer(List<Request> requests, Now arrived, List<@Nullable Response> responses) {
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            if (engine.shouldKnowRivals(request.resource()) && !(request instanceof ReleaseRequest)) {
                // Before the rival is refused: a release that follows must find it noted.
                steps.accept((now, output) -> engine.onRival(request.resource(), now));
            }
        }
        if (acceptor == null) {
            responses.addAll(Collections.nCopies(requests.size(), null));
        } else {
            try {
                acceptor.handle(requests, arrived, responses);
            } catch (RuntimeException | Error defect) {
                defects.accept(defect);
                throw defect;
            }
        }
    }

    /** X6. What this node's acceptor learns helps its own candidates to wait for the right moment. */
    private void hint(List<Request> requests, List<@Nullable Response> responses, Now now, Output output) {
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            if (request instanceof ReleaseRequest release) {
                if (isHeldAgain(release, now)) {
                    engine.onTakenAgain(release.resource(), now, output);
                } else {
                    engine.onOwnerGone(release.resource(), release.ballot(), now, output);
                }
                continue;
            }
            engine.onRival(request.resource(), now);
            Response response = responses.get(i);
            AcceptedLease lease = reported(response);
            if (lease != null) {
                engine.onRivalRefused(request.resource(), lease.ballot(), now, output);
            } else if (response instanceof ProposeResponse proposal && proposal.accepted()) {
                hint(request.resource(), now, output);
            }
        }
    }

    /** Whether the owner took the lease again before its release arrived: frames may pass each other. */
    private boolean isHeldAgain(ReleaseRequest release, Now now) {
        AcceptedLease accepted =
                acceptor == null || !engine.cares(release.resource()) ? null : acceptor.lease(release.resource(), now);
        return accepted != null
                && accepted.ballot().owner().equals(release.ballot().owner())
                && accepted.ballot().counter() > release.ballot().counter();
    }

    /** X6. What this node's acceptor knows of the owner. */
    void hint(String leaseName, Now now, Output output) {
        AcceptedLease accepted = acceptor == null ? null : acceptor.lease(leaseName, now);
        if (accepted != null) {
            engine.onOwnerSeen(leaseName, accepted.ballot().owner(), accepted.remainingNanos(), now, output);
        }
    }
}
