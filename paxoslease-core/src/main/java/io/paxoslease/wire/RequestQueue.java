package io.paxoslease.wire;

import io.paxoslease.protocol.Request;
import java.util.ArrayList;
import java.util.List;

/**
 * Requests that wait to be sent, in order. What fits in one frame is handed over as it is: in a list that lives long, each request would cost a
 * concurrent collector's barrier. Not safe for concurrent use.
 */
final class RequestQueue {

    private List<Request> requests = new ArrayList<>();
    private int bytes;

    void add(Request request) {
        requests.add(request);
        bytes += FrameCodec.mostBytes(request);
    }

    int size() {
        return requests.size();
    }

    boolean isEmpty() {
        return requests.isEmpty();
    }

    /** Takes all, in a list that is the caller's. */
    List<Request> takeAll() {
        List<Request> all = requests;
        requests = new ArrayList<>();
        bytes = 0;
        return all;
    }

    /** Takes as many as a frame has room for, in a list that is the caller's. */
    List<Request> take(int maxRequests, int maxBytes) {
        if (requests.size() <= maxRequests && bytes <= maxBytes) {
            return takeAll();
        }
        List<Request> all = takeAll();
        int count = 0;
        for (int room = maxBytes; count < maxRequests; count++) {
            room -= FrameCodec.mostBytes(all.get(count));
            if (room < 0) {
                break;
            }
        }
        all.subList(count, all.size()).forEach(this::add);
        return new ArrayList<>(all.subList(0, count));
    }
}
