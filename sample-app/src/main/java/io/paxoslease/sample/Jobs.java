package io.paxoslease.sample;

import java.util.Set;

/** The names of the leases of this application. Each job has its own, so that their leaders may be different nodes. */
final class Jobs {

    static final String INVOICES = "invoices";
    static final String REPORT = "report";
    static final String CLEANUP = "cleanup";

    /** Only with {@code sample.probe-rate}. */
    static final String PROBE = "probe";

    /** Only with {@code sample.lock-rate} and {@code sample.keep-locks-up-to}: how the names of locks begin, which have no leader. */
    static final String LOCK = "lock-";

    /** The leases that every node is a candidate for. */
    static final Set<String> LEASES = Set.of(INVOICES, REPORT, CLEANUP);

    /** Whether it is one of those that come by the hundred, for tests. */
    static boolean isForTests(String lease) {
        return lease.equals(PROBE) || lease.startsWith(LOCK);
    }

    private Jobs() {}
}
