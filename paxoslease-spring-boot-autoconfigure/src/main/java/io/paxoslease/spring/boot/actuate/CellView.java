package io.paxoslease.spring.boot.actuate;

import io.paxoslease.wire.MemberStatus;
import java.util.List;
import java.util.Map;

/** What this node knows about the rest of its cell. Read on any thread, for display and health; must not block. */
public interface CellView {

    /** Knows nothing: the view of a cell of one. */
    CellView NONE = new CellView() {
        @Override
        public Map<String, MemberStatus> members() {
            return Map.of();
        }

        @Override
        public Map<String, String> memberUrls() {
            return Map.of();
        }

        @Override
        public List<String> problems() {
            return List.of();
        }
    };

    /** The other members by node id. */
    Map<String, MemberStatus> members();

    /** Where each member answers, by node id. */
    Map<String, String> memberUrls();

    /**
     * Why this node refused nodes that called it because their settings do not fit, naming both values, and node ids that two processes use;
     * one sentence each.
     */
    List<String> problems();
}
