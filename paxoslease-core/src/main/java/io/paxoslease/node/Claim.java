package io.paxoslease.node;

import io.paxoslease.Lease;
import io.paxoslease.protocol.Tenure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What one user of a node wants: a lease once, within some time, or for good. A resource has a queue of claims, and only the first
 * seeks or holds.
 *
 * <p>Written under the engine's lock. {@link #tenure} is what other threads read without it.
 */
final class Claim extends TimerHeap.Timer {

    /** How long a claim lasts. */
    enum Kind {
        /** A standing candidacy: seeks the lease again after it was lost. */
        STANDING,
        /** Waits for others until its give-up time, then holds one tenure. */
        PATIENT,
        /** Does not wait for others; retries only what no owner stands behind. Holds one tenure. */
        ONCE
    }

    /** For claims whose users have had their answer: hundreds of thousands are made in a second. */
    private static final CompletableFuture<Optional<Lease>> TOLD = CompletableFuture.completedFuture(Optional.empty());

    final String resource;
    final long leaseNanos;
    final Kind kind;

    /** When seeking ends without success; unused for standing claims. */
    final long giveUpNanos;

    /** How much longer than others this claim waits before it tries for a lease that became free. */
    final long yieldNanos;

    /** Whether the held lease is extended without being asked. */
    boolean autoExtend;

    /** Whether the application is to be told of this claim's end even if it refers to it no more. */
    volatile boolean pinned;

    /** Whether nobody but the engine can refer to this claim. */
    final boolean resumed;

    /** Whether its user wants nothing any more, or the node has stopped seeking for everybody. */
    volatile boolean withdrawn;

    /** Whether it ever resigned; then it does not try again before the time below, whatever it hears meanwhile. */
    boolean resigned;

    long restEndsNanos;

    /** The tenure held under this claim, null if none. */
    volatile @Nullable Tenure tenure;

    /** The lease object of the tenure held under this claim, null if none. */
    volatile @Nullable NodeLease lease;

    /** Claims that are let go together with this one while its lease is parked: see {@link ParkedClaims}. */
    @Nullable
    Claim @Nullable [] parkedWith;

    /** Completed once, with the first tenure or empty. */
    final CompletableFuture<Optional<Lease>> result;

    /** Why there was no tenure. */
    volatile String unavailableReason = Candidacy.NO_ANSWER;

    /** Callers that wait for the extension in flight. */
    private List<CompletableFuture<Boolean>> extensions = List.of();

    /** When the tenure began, by the wall clock; for display. */
    long acquiredAtMillis;

    /** How often the tenure was extended; for display. */
    long extensionCount;

    private Claim(String resource, long leaseNanos, Kind kind, long giveUpNanos, long yieldNanos, boolean resumed) {
        this.resource = resource;
        this.leaseNanos = leaseNanos;
        this.kind = kind;
        this.giveUpNanos = giveUpNanos;
        this.yieldNanos = yieldNanos;
        this.autoExtend = kind == Kind.STANDING;
        this.resumed = resumed;
        this.result = resumed ? TOLD : new CompletableFuture<>();
    }

    static Claim standing(String resource, long leaseNanos, long yieldNanos) {
        return new Claim(resource, leaseNanos, Kind.STANDING, 0, yieldNanos, false);
    }

    static Claim patient(String resource, long leaseNanos, long giveUpNanos) {
        return new Claim(resource, leaseNanos, Kind.PATIENT, giveUpNanos, 0, false);
    }

    static Claim once(String resource, long leaseNanos, long giveUpNanos) {
        return new Claim(resource, leaseNanos, Kind.ONCE, giveUpNanos, 0, false);
    }

    /** A claim in place of one that the application refers to no more, for a lease that is still held. */
    static Claim resumed(Tenure tenure) {
        Claim claim = new Claim(tenure.resource(), tenure.leaseNanos(), Kind.ONCE, 0, 0, true);
        claim.tenure = tenure;
        return claim;
    }

    /** The tenure held under this claim if it has that token, null if it is over. */
    @Nullable
    Tenure tenure(long token) {
        Tenure current = tenure;
        return current != null && current.token() == token ? current : null;
    }

    /** Whether somebody waits for the extension in flight. */
    boolean isAwaited() {
        return !extensions.isEmpty();
    }

    void awaitExtension(CompletableFuture<Boolean> answer) {
        if (extensions.isEmpty()) {
            extensions = new ArrayList<>(1);
        }
        extensions.add(answer);
    }

    void answerExtensions(boolean extended) {
        extensions.forEach(answer -> answer.complete(extended));
        extensions = List.of();
    }

    boolean isStanding() {
        return kind == Kind.STANDING;
    }
}
