package io.paxoslease.node;

import io.paxoslease.protocol.Effect;
import io.paxoslease.protocol.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one event led to in the {@link LeaseEngine}, in order: what is to be sent, and what is to be told. Can be used for the next event once that
 * was done. Not safe for concurrent use.
 */
final class Output {

    /** So many of everything are enough for most events. */
    private static final int FEW = 2;

    /** For the record: an acquisition that failed, why, and a bit for each acceptor that said no. */
    record FailedAttempt(String resource, String reason, long rejectedBy) {}

    final List<Request> requests = new ArrayList<>(FEW);

    /** For each request, a bit for each acceptor that it is for. */
    private long[] acceptors = new long[FEW];

    final List<Notice> notices = new ArrayList<>(FEW);

    /** How many of them were told. */
    int told;

    final List<FailedAttempt> failedAttempts = new ArrayList<>(0);

    /** What the proposer reported and is not yet applied. */
    final List<Effect> effects = new ArrayList<>(FEW);

    /** Whether the engine has begun with the event. */
    boolean begun;

    /** Whether somebody wants to know of the begin and the end of each attempt. */
    boolean attemptsTold;

    /** Forgets the event. */
    void clear() {
        requests.clear();
        notices.clear();
        told = 0;
        failedAttempts.clear();
        effects.clear();
        begun = false;
        attemptsTold = false;
    }

    /** Whether a request, by its place among them, is to be sent to an acceptor. */
    boolean isFor(int acceptor, int request) {
        return (acceptors[request] >> acceptor & 1) != 0;
    }

    /** What is to be sent to an acceptor. */
    List<Request> requestsFor(int acceptor) {
        int count = 0;
        for (int i = 0; i < requests.size(); i++) {
            count += isFor(acceptor, i) ? 1 : 0;
        }
        if (count == requests.size()) {
            return requests;
        }
        List<Request> some = new ArrayList<>(count);
        for (int i = 0; i < requests.size() && some.size() < count; i++) {
            if (isFor(acceptor, i)) {
                some.add(requests.get(i));
            }
        }
        return some;
    }

    void send(Request request, long to) {
        if (requests.size() == acceptors.length) {
            acceptors = Arrays.copyOf(acceptors, 2 * acceptors.length);
        }
        acceptors[requests.size()] = to;
        requests.add(request);
    }

    void attemptBegan(String resource, AttemptListener.Purpose purpose) {
        if (attemptsTold) {
            notices.add(new Notice.AttemptBegan(resource, purpose));
        }
    }

    void attemptEnded(String resource, AttemptListener.Outcome outcome, @Nullable String reason) {
        if (attemptsTold) {
            notices.add(new Notice.AttemptEnded(resource, outcome, reason));
        }
    }
}
