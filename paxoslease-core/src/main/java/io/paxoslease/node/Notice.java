package io.paxoslease.node;

import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Tenure;
import org.jspecify.annotations.Nullable;

/** What the users of a node are to be told, in this order per resource. */
sealed interface Notice {

    /** The name of the lease. */
    String resource();

    /** Something that happened to a tenure. */
    sealed interface OfTenure extends Notice {

        Tenure tenure();

        @Override
        default String resource() {
            return tenure().resource();
        }
    }

    /** A claim began a tenure. */
    record Acquired(Claim claim, Tenure tenure, long tookNanos) implements OfTenure {}

    /** The claim's tenure was extended; null for a claim that stayed parked, since nobody waits for that. */
    record Extended(@Nullable Claim claim, Tenure tenure, long tookNanos) implements OfTenure {}

    /** An extension failed; the tenure goes on until its own deadline. {@code rejectedBy} has a bit for each acceptor that said no. */
    record ExtensionFailed(Claim claim, Tenure tenure, String reason, long rejectedBy, long tookNanos)
            implements OfTenure {}

    /** The claim's tenure expired. */
    record Lost(Claim claim, Tenure tenure) implements OfTenure {}

    /** The claim's tenure was given up. */
    record Released(Claim claim, Tenure tenure) implements OfTenure {}

    /** A claim ended without a tenure. */
    record Unavailable(Claim claim, String reason) implements Notice {
        @Override
        public String resource() {
            return claim.resource;
        }
    }

    /** The hint about the owner changed; null if nobody is known to own the lease. */
    record LeaderChanged(String resource, @Nullable Incarnation leader) implements Notice {}

    /** An attempt begins; told only if asked for. */
    record AttemptBegan(String resource, AttemptListener.Purpose purpose) implements Notice {}

    /** The attempt that began last has ended; told only if asked for. The reason is null if it succeeded. */
    record AttemptEnded(
            String resource,
            AttemptListener.Outcome outcome,
            @Nullable String reason) implements Notice {}
}
