package io.paxoslease.spring.boot.actuate;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Cell;
import io.paxoslease.wire.MemberStatus;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which acceptors of the cell this node can talk to. Its own counts as reachable, and so does one in quarantine: that ends by itself, so
 * it is a matter of patience and not of the network.
 *
 * @param majority how many acceptors make a majority
 * @param reachable how many acceptors are reachable
 * @param voting how many of the reachable ones are known to vote
 * @param unreachable what is wrong with each of the others
 * @param refused what does not fit between this node and each member that refuses it or is refused
 */
record Reachability(
        int majority, int reachable, int voting, Map<String, String> unreachable, Map<String, String> refused) {

    static Reachability of(LeaseNode node, CellView view) {
        Cell cell = node.settings().cell();
        Map<String, MemberStatus> members = view.members();
        Map<String, String> unreachable = new TreeMap<>();
        Map<String, String> refused = new TreeMap<>();
        int voting = 0;
        for (String id : cell.acceptors()) {
            if (id.equals(node.settings().nodeId())) {
                voting += node.acceptorState() == AcceptorState.VOTING ? 1 : 0;
                continue;
            }
            MemberStatus member = members.get(id);
            if (member == null || !member.reachable()) {
                unreachable.put(id, problem(member, "no exchange with it has succeeded yet"));
            } else if (member.state() == AcceptorState.VOTING) {
                voting++;
            }
            if (member != null && member.refused()) {
                refused.put(id, problem(member, "its settings do not fit"));
            }
        }
        return new Reachability(cell.majority(), cell.size() - unreachable.size(), voting, unreachable, refused);
    }

    private static String problem(@Nullable MemberStatus member, String otherwise) {
        String problem = member == null ? null : member.problem();
        return problem == null ? otherwise : problem;
    }

    boolean hasMajority() {
        return reachable >= majority;
    }
}
