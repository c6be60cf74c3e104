package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestQueueTests {

    @Test
    void aFrameTakesAsManyAsItHasRoomForAndLeavesTheRestInOrder() {
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            requests.add(Samples.propose("lease-" + i, 1, Samples.NODE_1));
        }
        int each = FrameCodec.mostBytes(requests.get(0));
        for (int maxRequests = 1; maxRequests <= 5; maxRequests++) {
            for (int maxBytes = each; maxBytes <= 5 * each; maxBytes++) {
                RequestQueue queue = new RequestQueue();
                requests.forEach(queue::add);
                List<Request> taken = new ArrayList<>();
                while (!queue.isEmpty()) {
                    List<Request> frame = queue.take(maxRequests, maxBytes);
                    assertThat(frame).hasSize(Math.min(Math.min(maxRequests, maxBytes / each), 4 - taken.size()));
                    taken.addAll(frame);
                }
                assertThat(taken).isEqualTo(requests);
            }
        }
    }
}
