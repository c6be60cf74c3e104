package io.paxoslease.spring.interception;

import io.paxoslease.Lease;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The watches over tenures, one for each name of a lease: that of its latest tenure. Safe to use from any thread. */
final class TenureWatches {

    private final Map<String, TenureWatch> watches = new ConcurrentHashMap<>();

    /** The watch over the tenure of a lease; one that has ended if there is a later tenure. */
    TenureWatch of(Lease lease) {
        TenureWatch known = watches.get(lease.name());
        if (known != null && known.isOf(lease)) {
            return known;
        }
        TenureWatch watch = new TenureWatch(lease);
        TenureWatch other;
        while ((other = watches.putIfAbsent(lease.name(), watch)) != null) {
            if (other.isOf(lease)) {
                return other;
            }
            // A name has one tenure at a time: of the two the earlier has ended, though its release may still be to be
            // told.
            TenureWatch earlier = other.isAfter(lease) ? watch : other;
            end(earlier);
            if (earlier == watch) {
                return watch;
            }
        }
        lease.onLost(() -> end(watch));
        return watch;
    }

    /** The tenure is over, as everybody is told who watches it. */
    void end(TenureWatch watch) {
        watches.remove(watch.leaseName(), watch);
        watch.end();
    }

    /** The tenure with that token is over. */
    void end(String leaseName, long fencingToken) {
        TenureWatch watch = watches.get(leaseName);
        if (watch != null && watch.isOf(fencingToken)) {
            end(watch);
        }
    }
}
