package io.paxoslease.wire;

/**
 * What leases cost by the frame format and the rules, as formulas. Node ids, and names of leases, are all of one length.
 *
 * @param acceptors n, the members of the cell
 * @param cellBytes the length of the cell's name
 * @param idBytes the length of a node id
 * @param nameBytes the length of a lease's name
 */
record CostModel(int acceptors, int cellBytes, int idBytes, int nameBytes) {

    /** How many nodes an acceptor keeps sessions of. */
    static final int SESSIONS = 1_024;

    static final int MAX_FRAME_BYTES = WireSettings.DEFAULT_MAX_FRAME_BYTES;

    private static final long TICK_NANOS = 250_000_000L;
    private static final long IDLE_PROBE_NANOS = 10_000_000_000L;
    private static final long COALESCING_NANOS = 100_000_000L;
    private static final long MILLI = 1_000_000L;

    /** Requests, answers to them, and the bytes of both without the frames that carry them. */
    record Cost(long requests, long answers, long bytes) {

        Cost plus(Cost other) {
            return new Cost(requests + other.requests, answers + other.answers, bytes + other.bytes);
        }

        Cost times(long count) {
            return new Cost(requests * count, answers * count, bytes * count);
        }

        long messages() {
            return requests + answers;
        }
    }

    // Messages, each with its answer.

    /** A propose that is accepted. */
    Cost propose() {
        return new Cost(1, 1, 18 + nameBytes + 2);
    }

    /** A propose that is rejected because another node holds the lease. */
    Cost rejectedPropose() {
        return new Cost(1, 1, 18 + nameBytes + 35 + idBytes);
    }

    /** A prepare for a free lease, or for one that the sender holds. */
    Cost prepare(boolean held) {
        return new Cost(1, 1, 18 + nameBytes + (held ? 27 + idBytes : 2));
    }

    /** A release; one byte says that it has no answer. */
    Cost release() {
        return new Cost(1, 0, 10 + nameBytes + 1);
    }

    // What a node asks of its cell.

    /** To how many acceptors a node has to send. */
    int remote(boolean member) {
        return acceptors - (member ? 1 : 0);
    }

    /** To how many a node has to send for a lease that is free and not to last: in one round trip a member asks a majority. */
    int asked(boolean member, boolean oneRoundTrip) {
        return member && oneRoundTrip ? acceptors / 2 : remote(member);
    }

    Cost acquisition(boolean member, boolean oneRoundTrip) {
        return (oneRoundTrip ? propose() : prepare(false).plus(propose())).times(asked(member, oneRoundTrip));
    }

    /** The release of such a lease while nobody else wants it. */
    Cost release(boolean member, boolean oneRoundTrip) {
        return release().times(asked(member, oneRoundTrip));
    }

    Cost extension(boolean member, boolean oneRoundTrip) {
        return (oneRoundTrip ? propose() : prepare(true).plus(propose())).times(remote(member));
    }

    /** An attempt in one round trip at a lease that another node holds; it is taken back, in case somebody accepted it (X5). */
    Cost vainAttempt(boolean member) {
        return rejectedPropose().plus(release()).times(remote(member));
    }

    // Frames.

    /** A frame and its answer without messages, which is what a probe costs. */
    int frameBytes() {
        int request = 2 + (1 + cellBytes) + (1 + idBytes + 8) + (1 + idBytes) + 4 * 8 + 2;
        int answer = 2 + (1 + cellBytes) + 2 * (1 + idBytes + 8) + 3 * 8 + 1 + 2 + (1 + 8) + 2;
        return request + answer;
    }

    /** A hello and its answer. */
    int helloBytes() {
        return frameBytes() - 4 + 8 + 1 + acceptors * (1 + idBytes);
    }

    /** A frame for a session that is gone, without its messages, and the answer that says so. */
    int unknownSessionBytes() {
        return frameBytes() - 2;
    }

    /** A frame has no more requests than this: their answers must fit as well. */
    int requestsPerFrame() {
        int bytes = MAX_FRAME_BYTES - FrameCodec.MAX_HEADER_BYTES;
        return Math.min(bytes / FrameCodec.USUAL_RESPONSE_BYTES, bytes / (18 + nameBytes));
    }

    // Rates.

    /** How often a node asks an acceptor that it sends nothing else to: five seconds after the last answer, at the next tick. */
    long probeNanos(long roundTripNanos) {
        long idle = Math.max(IDLE_PROBE_NANOS, TICK_NANOS * acceptors);
        return (idle + roundTripNanos + TICK_NANOS - 1) / TICK_NANOS * TICK_NANOS;
    }

    /** How many pairs of a node and an acceptor elsewhere there are. */
    int links(int nodes) {
        return acceptors * (nodes - 1);
    }

    double probesPerSecond(int nodes, long roundTripNanos) {
        return links(nodes) * 1e9 / probeNanos(roundTripNanos);
    }

    /** The owner counts D from the moment it asks, and asks again at half of what is left when it has won. */
    long shortestExtensionNanos(long ownerNanos) {
        return ownerNanos / 2;
    }

    /** The same after the longest round trip, and rounded up so that extensions travel together. */
    long longestExtensionNanos(long leaseNanos, long ownerNanos, long longestRoundTripNanos) {
        return (ownerNanos + longestRoundTripNanos) / 2 + coalescingNanos(leaseNanos) + MILLI;
    }

    /** Extensions of one owner come in steps of this. */
    long coalescingNanos(long leaseNanos) {
        return Math.min(leaseNanos / 512, COALESCING_NANOS);
    }

    /**
     * How often a candidate that is no acceptor asks again while another node leads: it was told how much of T is left,
     * and does not hear of extensions. It comes just behind every second one.
     */
    long vainAttemptNanos(long ownerNanos) {
        return 2 * shortestExtensionNanos(ownerNanos);
    }

    double extensionsPerSecond(double leases, double leaseSeconds, double maxClockDrift) {
        return 2 * leases / (leaseSeconds * (1 - maxClockDrift) / (1 + maxClockDrift));
    }

    // Memory of one lease in bytes, from the layouts that the tables draw. LeaseMemory measures it.

    private int indexed() {
        return 12 + nameBytes;
    }

    int acceptorMemory() {
        return indexed() + 21;
    }

    /** After the first extension, which is counted. */
    int ownerMemory(boolean member) {
        return (member ? acceptorMemory() : indexed()) + 28 + 9 + 4;
    }
}
