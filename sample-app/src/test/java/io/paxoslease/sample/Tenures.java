package io.paxoslease.sample;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Decides whether what was seen of leases can be the work of one leader at a time with growing fencing tokens. */
final class Tenures {

    private Tenures() {}

    /**
     * What was seen of one tenure: it was held at some instant not after {@code firstHeldNanos}, at some instant not before {@code lastHeldNanos}, and in
     * between, for a lease that was lost never comes back.
     *
     * @param lease the name of the lease
     * @param token its fencing token
     * @param holder the incarnation that held it
     * @param firstHeldNanos when it was certainly held first
     * @param lastHeldNanos when it was certainly held last; before {@code firstHeldNanos} if it was seen once, at an instant known only roughly
     */
    record Tenure(String lease, long token, String holder, long firstHeldNanos, long lastHeldNanos) {

        Tenure merge(Tenure other) {
            return new Tenure(
                    lease,
                    token,
                    holder,
                    Math.min(firstHeldNanos, other.firstHeldNanos),
                    Math.max(lastHeldNanos, other.lastHeldNanos));
        }
    }

    /** One sentence for each contradiction; empty if all is well. */
    static List<String> contradictions(Collection<Tenure> tenures) {
        Map<String, List<Tenure>> byLease = new TreeMap<>();
        tenures.forEach(tenure -> byLease.computeIfAbsent(tenure.lease(), name -> new ArrayList<>())
                .add(tenure));
        List<String> contradictions = new ArrayList<>();
        byLease.values().forEach(ofLease -> {
            ofLease.sort(Comparator.comparingLong(Tenure::token));
            Tenure latest = null;
            for (Tenure tenure : ofLease) {
                if (latest != null && latest.token() == tenure.token()) {
                    contradictions.add("one token, two holders: " + latest + " and " + tenure);
                } else if (latest != null && tenure.firstHeldNanos() <= latest.lastHeldNanos()) {
                    contradictions.add(
                            tenure.lastHeldNanos() <= latest.firstHeldNanos()
                                    ? "the token went down: " + tenure + " before " + latest
                                    : "two holders at once: " + latest + " and " + tenure);
                }
                if (latest == null || tenure.lastHeldNanos() >= latest.lastHeldNanos()) {
                    latest = tenure;
                }
            }
        });
        return contradictions;
    }
}
