package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class PacketHubTests {

    /** From 10.0.0.1:80 to 10.0.0.2:1000, sequence number 1, acknowledging 2, with four bytes of data and no valid checksums. */
    private static final byte[] PACKET = HexFormat.of()
            .parseHex("4500002c000040004006ffff0a0000010a000002" + "005003e800000001000000025018ffffffff0000"
                    + "01020304");

    @Test
    void turnsDataIntoAResetThatTheReceiverBelieves() {
        byte[] reset = PacketHub.resetOf(PACKET);

        assertThat(reset).hasSize(40);
        assertThat(reset[3]).as("total length").isEqualTo((byte) 40);
        assertThat(reset[33]).as("RST and ACK").isEqualTo((byte) 0x14);
        assertThat(HexFormat.of().formatHex(reset, 20, 32))
                .as("ports and numbers stay")
                .isEqualTo("005003e80000000100000002");
        assertThat(onesComplementSum(reset, 0, 20, 0)).as("IP checksum").isEqualTo(0xffff);
        assertThat(onesComplementSum(reset, 12, 40, 6 + 20)).as("TCP checksum").isEqualTo(0xffff);
    }

    /** What a receiver computes, see RFC 1071: all ones if the checksum within is right. */
    private static int onesComplementSum(byte[] packet, int from, int to, int more) {
        int sum = more;
        for (int i = from; i < to; i += 2) {
            sum += Byte.toUnsignedInt(packet[i]) * 256 + Byte.toUnsignedInt(packet[i + 1]);
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return sum;
    }
}
