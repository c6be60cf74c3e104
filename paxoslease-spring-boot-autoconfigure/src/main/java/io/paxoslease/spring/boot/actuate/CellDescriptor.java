package io.paxoslease.spring.boot.actuate;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.paxoslease.node.AcceptorStatus;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.wire.MemberStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the endpoint {@code lease} answers: this node, its acceptor, the other members and every lease it knows. The names of the
 * components are the JSON format. Times are texts, and nulls are written, whatever the application's JSON settings are.
 *
 * @param node the id of this node
 * @param incarnation this life of it
 * @param cell the name of the cell
 * @param majority how many acceptors make a majority
 * @param acceptor this node's acceptor
 * @param members the other members by node id
 * @param leases the leases that this node seeks, holds or watches, by name
 * @param problems that this node gave up because of a defect, why nodes that called it were refused, and node ids that two processes use
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record CellDescriptor(
        String node,
        String incarnation,
        String cell,
        int majority,
        Acceptor acceptor,
        Map<String, Member> members,
        Map<String, LeaseDescriptor> leases,
        List<String> problems) {

    /**
     * The acceptor of this node.
     *
     * @param state {@code QUARANTINED}, {@code VOTING} or {@code NONE}
     * @param quarantineRemaining how long it stays silent
     * @param leases how many leases it has recorded
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record Acceptor(String state, String quarantineRemaining, int leases) {}

    /**
     * Another member.
     *
     * @param url where it answers, null if unknown
     * @param reachable whether the last exchange with it succeeded
     * @param roundTrip the smoothed round trip time, null before its first answer
     * @param state the state of its acceptor as it said last, null if it never said
     * @param problem what is wrong, null if nothing is
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record Member(
            @Nullable String url,
            boolean reachable,
            @Nullable String roundTrip,
            @Nullable String state,
            @Nullable String problem) {

        static Member of(@Nullable String url, @Nullable MemberStatus status) {
            if (status == null) {
                return new Member(url, false, null, null, null);
            }
            return new Member(
                    url,
                    status.reachable(),
                    Iso.microsOrNull(status.roundTrip()),
                    status.state() == null ? null : status.state().name(),
                    status.problem());
        }
    }

    static CellDescriptor of(LeaseNode node, CellView view) {
        Map<String, Member> members = new TreeMap<>();
        Map<String, MemberStatus> statuses = view.members();
        Map<String, String> urls = view.memberUrls();
        String self = node.settings().nodeId();
        for (String id : node.settings().cell().acceptors()) {
            if (!id.equals(self)) {
                members.put(id, Member.of(urls.get(id), statuses.get(id)));
            }
        }
        Map<String, LeaseDescriptor> leases = new TreeMap<>();
        node.leases().forEach((name, status) -> leases.put(name, LeaseDescriptor.of(status)));
        List<String> problems = new ArrayList<>(view.problems());
        if (node.isFailed()) {
            problems.add(0, PaxosLeaseHealthIndicator.GAVE_UP);
        }
        AcceptorStatus acceptor = node.acceptorStatus();
        return new CellDescriptor(
                self,
                node.incarnation().toString(),
                node.settings().cell().name(),
                node.settings().cell().majority(),
                new Acceptor(acceptor.state().name(), Iso.millis(acceptor.quarantineRemaining()), acceptor.leases()),
                members,
                leases,
                problems);
    }
}
