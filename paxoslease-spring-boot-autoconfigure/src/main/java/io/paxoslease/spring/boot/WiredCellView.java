package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.wire.FrameServer;
import io.paxoslease.wire.FrameTransport;
import io.paxoslease.wire.MemberStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the two ends of the wire know about the other nodes. */
record WiredCellView(CellConfiguration cell, FrameTransport transport, FrameServer server) implements CellView {

    @Override
    public Map<String, MemberStatus> members() {
        return transport.members();
    }

    @Override
    public Map<String, String> memberUrls() {
        Map<String, String> urls = new LinkedHashMap<>();
        cell.members().forEach((id, url) -> urls.put(id, url.toString()));
        return urls;
    }

    @Override
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        server.problems().forEach((node, problem) -> problems.add(node + ": " + problem));
        return problems;
    }
}
