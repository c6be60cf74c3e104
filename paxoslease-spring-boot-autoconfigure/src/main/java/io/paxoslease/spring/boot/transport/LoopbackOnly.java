package io.paxoslease.spring.boot.transport;

import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Refuses frames that came by another interface than the loopback interface, where nothing but that authenticates other nodes. A web server
 * listens on all interfaces unless told otherwise, though all members have loopback addresses.
 *
 * <p>Looks at the address that was called and not at the caller's: the two are of one interface, and what a header says about the
 * caller can be believed of a proxy only. Safe to use from any thread.
 */
final class LoopbackOnly {

    /** As for other frames that are foreign; the sender shows the reason to its user. */
    static final int STATUS = 409;

    static final String REASON = "has no shared secret, and so takes frames from its own machine only";

    private static final System.Logger LOG = System.getLogger(LoopbackOnly.class.getName());

    private final boolean enabled;
    private final AtomicBoolean logged = new AtomicBoolean();

    LoopbackOnly(boolean enabled) {
        this.enabled = enabled;
    }

    boolean isEnabled() {
        return enabled;
    }

    /**
     * Whether a frame is to be refused; logs the first one.
     *
     * @param called the address of this end of its connection, null if it is not known
     */
    boolean refuses(@Nullable InetAddress called) {
        if (!enabled || (called != null && called.isLoopbackAddress())) {
            return false;
        }
        if (logged.compareAndSet(false, true)) {
            LOG.log(
                    Level.WARNING,
                    "PaxosLease: refused a frame that came to "
                            + (called == null ? "an unknown address" : called.getHostAddress())
                            + ", and will refuse others: without paxoslease.security.shared-secret or mutual TLS whoever reaches"
                            + " this node could vote, so it takes frames at loopback addresses only");
        }
        return true;
    }
}
