package io.paxoslease.wire;

import io.paxoslease.node.RequestHandler;
import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Accepts every proposal, and remembers what it was asked. */
final class GrantingAcceptor implements RequestHandler {

    final List<Request> handled = new ArrayList<>();
    final List<Incarnation> greeted = new ArrayList<>();
    final List<String> maxima = new ArrayList<>();
    final List<String> otherVoters = new ArrayList<>();
    boolean majorityVotes;
    AcceptorState state = AcceptorState.VOTING;
    long quarantineNanos;

    @Nullable
    RuntimeException failure;

    /** Whose live leases block all; null if all is granted. */
    @Nullable
    Incarnation holder;

    static Response granted(ProposeRequest propose) {
        return new ProposeResponse(
                propose.resource(), propose.ballot(), true, propose.ballot().counter(), null);
    }

    private Response answer(ProposeRequest propose) {
        return holder == null
                ? granted(propose)
                : new ProposeResponse(
                        propose.resource(),
                        propose.ballot(),
                        false,
                        propose.ballot().counter(),
                        new AcceptedLease(new Ballot(1, holder), 1));
    }

    @Override
    public List<@Nullable Response> onRequests(List<Request> requests) {
        if (failure != null) {
            throw failure;
        }
        handled.addAll(requests);
        List<@Nullable Response> responses = new ArrayList<>();
        for (Request request : requests) {
            responses.add(
                    state == AcceptorState.VOTING && request instanceof ProposeRequest propose
                            ? answer(propose)
                            : null);
        }
        return responses;
    }

    @Override
    public void onHello(Incarnation sender) {
        greeted.add(sender);
    }

    @Override
    public void onOtherMaximum(Incarnation sender, long maxLeaseNanos) {
        maxima.add(sender.nodeId() + " " + Words.duration(maxLeaseNanos));
    }

    @Override
    public void onOtherVoter(String who) {
        otherVoters.add(who);
    }

    @Override
    public boolean majorityVotes() {
        return majorityVotes;
    }

    @Override
    public AcceptorState acceptorState() {
        return state;
    }

    @Override
    public long quarantineRemainingNanos() {
        return quarantineNanos;
    }
}
