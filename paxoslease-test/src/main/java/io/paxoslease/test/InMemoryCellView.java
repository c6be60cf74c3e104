package io.paxoslease.test;

import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.wire.MemberStatus;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What health and the endpoint show of a cell in memory.
 *
 * @param supplier tells the other members
 */
record InMemoryCellView(Supplier<List<MemberStatus>> supplier) implements CellView {

    /** A member without a problem is reachable. */
    static MemberStatus member(String id, @Nullable AcceptorState state, @Nullable String problem) {
        return new MemberStatus(id, problem == null, Duration.ZERO, state, false, problem);
    }

    @Override
    public Map<String, MemberStatus> members() {
        Map<String, MemberStatus> members = new LinkedHashMap<>();
        supplier.get().forEach(member -> members.put(member.nodeId(), member));
        return members;
    }

    @Override
    public Map<String, String> memberUrls() {
        Map<String, String> urls = new LinkedHashMap<>();
        members().keySet().forEach(id -> urls.put(id, "in-memory:" + id));
        return urls;
    }

    @Override
    public List<String> problems() {
        return List.of();
    }
}
