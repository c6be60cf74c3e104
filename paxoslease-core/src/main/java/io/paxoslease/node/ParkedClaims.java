package io.paxoslease.node;

import io.paxoslease.protocol.ResourceIndex;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * The claims of parked leases that the application can still refer to, through its leases, by slot: remembered weakly while it does, and firmly if
 * they have actions to run.
 *
 * <p>Claims that were added one after another are let go together: a weak reference for each would be most of what a garbage collector has to do
 * while it stops everybody.
 *
 * <pre>
 *   slot --> pinned claim
 *   slot --> Group - - weakly - -> array of claims --> claim
 *                                        ^---parkedWith---|
 * </pre>
 */
final class ParkedClaims {

    /** How many claims are let go together: as many can be kept although the application refers to only one of them. */
    private static final int TOGETHER = 8;

    private static final int FORGOTTEN_AT_ONCE = 2;

    /** Each slot of a group's claim leads to the group, and the group knows where among its claims that one is. */
    private static final class Group extends WeakReference<@Nullable Claim[]> {
        final int[] slots = new int[TOGETHER];
        int used;

        Group(@Nullable Claim[] claims, ReferenceQueue<@Nullable Claim[]> gone) {
            super(claims, gone);
        }

        @Nullable
        Claim claim(int slot) {
            @Nullable Claim[] claims = get();
            return claims == null ? null : claims[position(slot)];
        }

        void remove(int slot) {
            @Nullable Claim[] claims = get();
            if (claims != null) {
                int position = position(slot);
                Claim claim = claims[position];
                if (claim != null) {
                    claim.parkedWith = null;
                }
                claims[position] = null;
                slots[position] = ResourceIndex.NONE;
            }
        }

        private int position(int slot) {
            int position = 0;
            while (slots[position] != slot) {
                position++;
            }
            return position;
        }
    }

    private final ClaimColumn column = new ClaimColumn();
    private final ReferenceQueue<@Nullable Claim[]> gone = new ReferenceQueue<>();

    /** The claims of the newest group, which are let go only when there are enough of them. */
    private @Nullable Claim[] together = new @Nullable Claim[TOGETHER];

    private Group newest = new Group(together, gone);

    /** The claim in a slot, null if there is none or the application cannot refer to it any more. */
    @Nullable
    Claim get(int slot) {
        Object kept = column.get(slot);
        return kept instanceof Group group ? group.claim(slot) : (Claim) kept;
    }

    /** Remembers a claim in a slot where there is none. */
    void add(int slot, Claim claim) {
        column.set(slot, claim.pinned ? claim : group(slot, claim));
    }

    private Group group(int slot, Claim claim) {
        if (newest.used == TOGETHER) {
            together = new @Nullable Claim[TOGETHER];
            newest = new Group(together, gone);
        }
        newest.slots[newest.used] = slot;
        together[newest.used++] = claim;
        claim.parkedWith = together;
        return newest;
    }

    /** Forgets the claim in a slot, if there is one. */
    void remove(int slot) {
        if (column.get(slot) instanceof Group group) {
            group.remove(slot);
        }
        column.set(slot, null);
    }

    /**
     * Empties the slots of some claims that were let go. Only of a few, since a collection may have made hundreds of thousands unreachable; to be
     * called with each claim that is added or more often, so that it keeps pace.
     */
    void forgetUnreachable() {
        for (int i = 0; i < FORGOTTEN_AT_ONCE; i++) {
            Reference<?> reference = gone.poll();
            if (reference == null) {
                return;
            }
            for (int slot : ((Group) reference).slots) {
                // Another claim may have the slot by now.
                if (slot != ResourceIndex.NONE && column.get(slot) == reference) {
                    column.set(slot, null);
                }
            }
        }
    }
}
