package io.paxoslease.protocol;

/**
 * Counts distinct acceptors for and against one phase of an attempt (P2, P4): an acceptor counts once, however often its answer is
 * delivered. An answer in favour stands whatever came before or comes after it from the same acceptor: what was promised or recorded
 * for this ballot stays so.
 */
final class Quorum {

    private long inFavour;
    private long against;

    Quorum() {}

    Quorum(Quorum other) {
        this.inFavour = other.inFavour;
        this.against = other.against;
    }

    /** Begins to count for the next phase. */
    void clear() {
        inFavour = 0;
        against = 0;
    }

    /** Counts an acceptor for the attempt. */
    void favour(int acceptor) {
        inFavour |= bit(acceptor);
        against &= ~bit(acceptor);
    }

    /** Counts an acceptor that blocks, rejects or will not answer. */
    void oppose(int acceptor) {
        against |= ~inFavour & bit(acceptor);
    }

    boolean isReached(Cell cell) {
        return Long.bitCount(inFavour) >= cell.majority();
    }

    /** Whether so many are against that a majority in favour can no longer come about (P5). */
    boolean isOutOfReach(Cell cell) {
        return cell.size() - Long.bitCount(against) < cell.majority();
    }

    int inFavour() {
        return Long.bitCount(inFavour);
    }

    boolean isInFavour(int acceptor) {
        return (inFavour & bit(acceptor)) != 0;
    }

    boolean isAgainst(int acceptor) {
        return (against & bit(acceptor)) != 0;
    }

    private static long bit(int acceptor) {
        return 1L << acceptor;
    }
}
