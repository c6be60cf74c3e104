package io.paxoslease.spring.camel;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaderHint;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.camel.cluster.CamelClusterMember;
import org.apache.camel.support.cluster.AbstractCamelClusterView;

/** One namespace of the cluster service: its members are the acceptors of the cell and this node. */
final class PaxosLeaseClusterView extends AbstractCamelClusterView {

    private final LeaderElection election;
    private final String self;
    private final List<String> acceptors;

    PaxosLeaseClusterView(PaxosLeaseClusterService service, LeaseNode node, String namespace) {
        super(service, namespace);
        this.election = node.election(namespace);
        this.self = node.incarnation().nodeId();
        this.acceptors = node.settings().cell().acceptors();
    }

    @Override
    protected void doStart() {
        election.start();
        fireLeadershipChangedEvent(getLeader().orElse(null));
    }

    @Override
    protected void doStop() {
        election.stop();
    }

    void onTransition(LeaseTransition transition) {
        boolean changes = switch (transition.kind()) {
            case ACQUIRED, LOST, RELEASED -> true;
            case LEADER_CHANGED -> !self.equals(transition.leader());
            case EXTENDED, EXTENSION_FAILED -> false;
        };
        if (changes && isRunAllowed()) {
            fireLeadershipChangedEvent(getLeader().orElse(null));
        }
    }

    /** This node if it leads, else the node that leads as far as this one was told. */
    @Override
    public Optional<CamelClusterMember> getLeader() {
        return election.isLeader()
                ? Optional.of(getLocalMember())
                : election.leader()
                        .map(LeaderHint::nodeId)
                        .filter(id -> !id.equals(self))
                        .map(Member::new);
    }

    @Override
    public CamelClusterMember getLocalMember() {
        return new Member(self);
    }

    @Override
    public List<CamelClusterMember> getMembers() {
        Set<String> ids = new LinkedHashSet<>(acceptors);
        ids.add(self);
        return ids.stream().<CamelClusterMember>map(Member::new).toList();
    }

    /** Reads the clock at each question, so it never goes stale. */
    private final class Member implements CamelClusterMember {

        private final String id;

        Member(String id) {
            this.id = id;
        }

        @Override
        public String getId() {
            return id;
        }

        @Override
        public boolean isLocal() {
            return id.equals(self);
        }

        @Override
        public boolean isLeader() {
            return isLocal()
                    ? election.isLeader()
                    : election.leader().filter(hint -> hint.nodeId().equals(id)).isPresent();
        }

        @Override
        public String toString() {
            return "Member[" + id + (isLeader() ? ", leads]" : "]");
        }
    }
}
