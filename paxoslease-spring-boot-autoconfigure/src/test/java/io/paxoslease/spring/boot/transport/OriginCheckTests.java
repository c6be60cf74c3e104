package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.BlockedLog;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class OriginCheckTests {

    /** Whoever asks may be the event loop of many connections. */
    @Test
    @Timeout(20)
    void refusesWhileTheLogBlocks() throws Exception {
        OriginCheck check = new OriginCheck(FrameOrigin.OWN_MACHINE);
        try (BlockedLog blocked = new BlockedLog(OriginCheck.class)) {
            assertThat(check.refusalByAddress(InetAddress.getByName("10.0.0.1"), null))
                    .isEqualTo("has no shared secret, and so takes frames from its own machine only");
            assertThat(Thread.interrupted()).as("timed out").isFalse();
        }
    }
}
