package io.paxoslease.protocol;

/**
 * The mistakes that must stay caught, each one decision of a role taken wrongly. The numbers are those of the table in {@code
 * docs/verification.md}; a number with several ways to go wrong has several constants.
 */
public enum Mistake {
    /** 1. P1, T1. The attempt's deadline starts at the prepare majority. */
    DEADLINE_STARTS_AT_PREPARE_MAJORITY(1),
    /** 2. P1. A further prepare answer after the majority restarts the deadline, as in the 2012 pseudocode. */
    DEADLINE_RESTARTS_AT_LATE_PREPARE_ANSWER(2),
    /** 3, 4. A2. The acceptor of the 2012 paper: a higher ballot overwrites a live lease. */
    OVERWRITING(3),
    /** 5. A2. Owners are compared by node id. */
    OWNER_COMPARED_BY_NODE_ID(5),
    /** 6. A2. Accepting does not raise the promise. */
    PROMISE_NOT_RAISED_BY_ACCEPT(6),
    /** 7. X10. A record is shortened by its own owner. */
    RECORD_SHORTENED(7),
    /** 8. A3. A release clears any record of its owner. */
    RELEASE_BY_OWNER(8),
    /** 9. P2, P4. Messages are counted, not acceptors. */
    VOTES_COUNTED_BY_MESSAGE(9),
    /** 10. P2. Answers to an older ballot of one's own count. */
    ANSWERS_TO_OLDER_BALLOT_COUNTED(10),
    /** 11. P2. Any lease of one's own counts as open. */
    OWN_STALE_LEASE_OPEN(11),
    /** 12. T3. The quarantine is half as long as it must be: one tick, where M is two. */
    QUARANTINE_TOO_SHORT(12),
    /** 12. A4. A release is handled during the quarantine. */
    NO_QUARANTINE_FOR_RELEASES(12),
    /** 12. A4. The proposer beside the acceptor is served during the quarantine. */
    NO_QUARANTINE_FOR_LOCAL_PROPOSER(12),
    /** 12. A4. The proposer beside the acceptor is served after the port was given up to the next process. */
    VOTES_AFTER_PORT_WAS_GIVEN_UP(12),
    /** 13. X2. A restarted proposer goes on under its old incarnation and counts its ballots from the start. */
    BALLOT_REUSED(13),
    /** 14. T1, P4. Whoever asks after the last timer and before the next is told that nothing expired. */
    EXPIRY_DECIDED_BY_TIMER(14),
    /** 15. T2. Acceptors exclude for half of what they were asked for: one tick, where T is two. */
    EXCLUSION_TOO_SHORT(15),
    /** 16. P4. One accept is enough for an extension. */
    RENEWAL_WITHOUT_MAJORITY(16),
    /** 17. X5. A failed extension releases its ballot while the old lease is held. */
    FAILED_EXTENSION_RELEASES(17),
    /** 17. P6, X5. A rival's refusal releases the lease that refused it, although that is held. */
    RELEASE_FOR_REFUSED_RIVAL(17),
    /** 18. A1. A ballot below the promise is served. */
    LOWER_BALLOT_SERVED(18),
    /** 18. X4. The promise is forgotten with the idle entry. */
    PROMISE_FORGOTTEN_WITH_IDLE_ENTRY(18),
    /** 19. Monotonic times are compared without regard to overflow. */
    OVERFLOWING_COMPARISON(19),
    /** 20. X9. Peers whose majorities need not meet the own ones are answered. */
    OTHER_MEMBERS_SERVED(20),
    /** 21. P6. An extension in flight survives the release. */
    EXTENSION_SURVIVES_RELEASE(21),
    /** 22. X1. The acceptor serves lease times above its own maximum. */
    LEASE_TIME_ABOVE_MAXIMUM_SERVED(22),
    /** 23. P3, P4. All acceptors are waited for, not a majority. */
    EVERY_ACCEPTOR_AWAITED(23);

    private final int number;

    Mistake(int number) {
        this.number = number;
    }

    /** The row of the table. */
    public int number() {
        return number;
    }
}
