package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A group is of eight claims. */
class ParkedClaimsTests {

    private final ParkedClaims claims = new ParkedClaims();

    private static Claim claim(int slot) {
        return Claim.once("lease-" + slot, 1_000, 0);
    }

    /** Adds a claim that nobody else refers to. */
    private WeakReference<Claim> addDropped(int slot) {
        Claim claim = claim(slot);
        claims.add(slot, claim);
        return new WeakReference<>(claim);
    }

    private void collectUntilGone(WeakReference<Claim> dropped) {
        for (int i = 0; i < 100 && dropped.get() != null; i++) {
            System.gc();
        }
        assertThat(dropped.get()).isNull();
    }

    @Test
    void knowsTheClaimInEachSlotUntilItIsRemoved() {
        List<Claim> added =
                IntStream.range(0, 20).mapToObj(ParkedClaimsTests::claim).toList();
        IntStream.range(0, 20).forEach(slot -> claims.add(slot, added.get(slot)));
        IntStream.range(0, 20).filter(slot -> slot % 3 == 0).forEach(claims::remove);
        for (int slot = 0; slot < 20; slot++) {
            assertThat(claims.get(slot)).isSameAs(slot % 3 == 0 ? null : added.get(slot));
        }
        claims.add(3, added.get(3));
        assertThat(claims.get(3)).isSameAs(added.get(3));
        assertThat(claims.get(1_000_000)).isNull();
    }

    @Test
    void claimsAreLetGoTogetherWhenNobodyRefersToAnyOfThem() {
        Claim kept = claim(0);
        claims.add(0, kept);
        IntStream.range(1, 8).forEach(this::addDropped);
        WeakReference<Claim> dropped = addDropped(8);
        IntStream.range(9, 20).forEach(this::addDropped);
        collectUntilGone(dropped);
        assertThat(IntStream.range(0, 20).filter(slot -> claims.get(slot) == null))
                .as("neither those with the one that is kept, nor the newest, which are too few")
                .containsExactly(8, 9, 10, 11, 12, 13, 14, 15);
        assertThat(claims.get(0)).isSameAs(kept);
    }

    @Test
    void aPinnedClaimIsRememberedAlthoughNobodyRefersToIt() {
        Claim pinned = claim(100);
        pinned.pinned = true;
        claims.add(100, pinned);
        pinned = null;
        WeakReference<Claim> dropped = addDropped(0);
        IntStream.range(1, 9).forEach(this::addDropped);
        collectUntilGone(dropped);
        assertThat(claims.get(100)).isNotNull();
    }

    @Test
    void aClaimThatWasRemovedDoesNotKeepThoseItWasParkedWith() {
        Claim removed = claim(0);
        claims.add(0, removed);
        WeakReference<Claim> dropped = addDropped(1);
        IntStream.range(2, 9).forEach(this::addDropped);
        claims.remove(0);
        collectUntilGone(dropped);
        assertThat(removed.parkedWith).isNull();
    }

    @Test
    void aClaimThatWasRemovedIsNotKeptByThoseItWasParkedWith() {
        Claim kept = claim(0);
        claims.add(0, kept);
        WeakReference<Claim> dropped = addDropped(1);
        claims.remove(1);
        collectUntilGone(dropped);
        assertThat(claims.get(0)).isSameAs(kept);
    }

    @Test
    void theNextClaimInASlotIsNotTakenForTheOneBefore() {
        claims.add(0, claim(0));
        claims.remove(0);
        Claim next = claim(0);
        claims.add(0, next);
        assertThat(claims.get(0)).isSameAs(next);
    }

    @Test
    void whatIsGoneIsNotForgottenInPlaceOfAClaimThatTookItsSlot() {
        WeakReference<Claim> dropped = addDropped(0);
        IntStream.range(1, 9).forEach(this::addDropped);
        collectUntilGone(dropped);
        claims.remove(0);
        Claim next = claim(0);
        claims.add(0, next);
        for (int i = 0; i < 10; i++) {
            // What is gone is queued by a thread of the JVM, some time later.
            System.gc();
            claims.forgetUnreachable();
        }
        assertThat(claims.get(0)).isSameAs(next);
        assertThat(claims.get(1)).isNull();
    }
}
