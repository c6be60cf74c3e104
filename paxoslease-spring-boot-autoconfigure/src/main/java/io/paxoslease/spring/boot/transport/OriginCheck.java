package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameServer;
import io.paxoslease.wire.Lines;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Refuses frames that came another way than the one that stands in for a shared secret. A web server listens on all interfaces unless told
 * otherwise, though all members have loopback addresses; and it may have a second port without TLS.
 *
 * <p>Of the loopback interface it looks at the address that was called and not at the caller's: the two are of one interface, and what a
 * header says about the caller can be believed of a proxy only. Safe to use from any thread.
 */
final class OriginCheck {

    /** As for other frames that are foreign; the sender shows the reason to its user. */
    static final int STATUS = 409;

    private static final System.Logger LOG = System.getLogger(OriginCheck.class.getName());

    private final FrameOrigin required;
    private final AtomicBoolean logged = new AtomicBoolean();
    /** The thread that brings a frame may serve other connections, too. */
    private final Lines lines = new Lines(LOG, "origin");

    OriginCheck(FrameOrigin required) {
        this.required = required;
    }

    /** Which way is asked for. */
    FrameOrigin required() {
        return required;
    }

    /**
     * Why a frame is to be refused that has to come from this machine, null if it does; logs the first one. A page in a browser of this machine
     * can reach a loopback address under a name of its own (DNS rebinding), and then the browser says whose page it is; members say nothing.
     *
     * @param called the address of this end of its connection, null if it is not known
     * @param page the header {@code Origin} of the request, null if there is none
     */
    @Nullable
    String refusalByAddress(@Nullable InetAddress called, @Nullable String page) {
        if (page != null) {
            logOnce(
                    "a web page sent from this machine, and will refuse others: without paxoslease.security.shared-secret"
                            + " or mutual TLS it could vote");
            return FrameServer.OTHER_WAY + "no frames from web pages";
        }
        if (called != null && called.isLoopbackAddress()) {
            return null;
        }
        logOnce("came to " + (called == null ? "an unknown address" : called.getHostAddress())
                + ", and will refuse others: without paxoslease.security.shared-secret or mutual TLS whoever reaches"
                + " this node could vote, so it takes frames at loopback addresses only");
        return FrameServer.OTHER_WAY + "frames from its own machine only";
    }

    /**
     * Why a frame is to be refused whose sender has to show a certificate, null if it has; logs the first one.
     *
     * @param certificates what the sender of the frame has shown, null for nothing
     */
    @Nullable
    String refusalByCertificates(Object @Nullable [] certificates) {
        if (certificates != null && certificates.length > 0) {
            return null;
        }
        logOnce(
                "came without a client certificate, and will refuse others: without paxoslease.security.shared-secret only"
                        + " certificates tell the members from strangers, and the web server has a port that does not ask for them");
        return FrameServer.OTHER_WAY + "frames with a client certificate only";
    }

    private void logOnce(String reason) {
        if (logged.compareAndSet(false, true)) {
            lines.tell(Level.WARNING, "PaxosLease: refused a frame that " + reason, null);
        } else {
            // For which there was no thread.
            lines.write();
        }
    }
}
