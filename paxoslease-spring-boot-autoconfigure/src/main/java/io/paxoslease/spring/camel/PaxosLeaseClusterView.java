package io.paxoslease.spring.camel;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaderHint;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.camel.CamelContext;
import org.apache.camel.cluster.CamelClusterEventListener;
import org.apache.camel.cluster.CamelClusterMember;
import org.apache.camel.cluster.CamelClusterService;
import org.apache.camel.cluster.CamelClusterView;
import org.apache.camel.support.service.ServiceSupport;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One namespace of the cluster service: its members are the acceptors of the cell and this node.
 *
 * <p>Not on Camel's AbstractCamelClusterView: that holds a lock while it tells listeners and takes the same lock to remove one. A listener waits
 * for its consumer, the consumer that stops waits to be removed, and neither ends (CAMEL-24545, CAMEL-24626).
 */
final class PaxosLeaseClusterView extends ServiceSupport implements CamelClusterView {

    private static final Log LOG = LogFactory.getLog(PaxosLeaseClusterView.class);

    /**
     * A loss is told again after these times. Until CAMEL-24583 a master route that was told to begin does so a second later even if leadership
     * has gone meanwhile, and what it was told in that second is forgotten. The second time is for a machine that stood still.
     */
    private static final List<Duration> TOLD_AGAIN = List.of(Duration.ofSeconds(2), Duration.ofSeconds(10));

    private final PaxosLeaseClusterService service;
    private final LeaseNode node;
    private final String namespace;
    private final List<CamelClusterEventListener.Leadership> listeners = new CopyOnWriteArrayList<>();
    private final LeaderElection election;
    private final String self;
    private final List<String> acceptors;
    private @Nullable CamelContext camelContext;

    PaxosLeaseClusterView(PaxosLeaseClusterService service, LeaseNode node, String namespace) {
        this.service = service;
        this.node = node;
        this.namespace = namespace;
        this.election = node.election(namespace);
        this.self = node.incarnation().nodeId();
        this.acceptors = node.settings().cell().acceptors();
    }

    @Override
    protected void doStart() {
        node.startNeeded(namespace, this);
        tellAll();
    }

    /** From here on this node does not lead as far as Camel is concerned, also if it keeps the lease for others. */
    @Override
    protected void doStop() {
        node.needNoMore(namespace, this);
        tellThatItIsLostAfter(Duration.ZERO);
        TOLD_AGAIN.forEach(this::tellThatItIsLostAfter);
    }

    private boolean leads() {
        return isRunAllowed() && election.isLeader();
    }

    void onTransition(LeaseTransition transition) {
        boolean changes = switch (transition.kind()) {
            case ACQUIRED, LOST, RELEASED -> true;
            case LEADER_CHANGED -> !self.equals(transition.leader());
            case EXTENDED, EXTENSION_FAILED -> false;
        };
        if (changes && isRunAllowed()) {
            tellAll();
        }
        if (transition.kind() == LeaseTransition.Kind.LOST || transition.kind() == LeaseTransition.Kind.RELEASED) {
            TOLD_AGAIN.forEach(this::tellThatItIsLostAfter);
        }
    }

    /** On another thread: who stops a view holds locks that a listener may wait for. */
    private void tellThatItIsLostAfter(Duration delay) {
        CompletableFuture.delayedExecutor(delay.toMillis(), TimeUnit.MILLISECONDS)
                .execute(() -> {
                    if (!leads()) {
                        tellAll();
                    }
                });
    }

    /** What one listener throws must not keep another's route running after the leadership is lost. */
    private void tellAll() {
        for (CamelClusterEventListener.Leadership listener : listeners) {
            try {
                tell(listener);
            } catch (RuntimeException | Error failure) {
                LOG.warn("A listener to the leadership of namespace '" + namespace + "' failed", failure);
            }
        }
    }

    /** Listeners are told by several threads and ask the view who leads: the last answer that they got has to be the one that holds. */
    private void tell(CamelClusterEventListener.Leadership listener) {
        boolean leads;
        do {
            leads = leads();
            listener.leadershipChanged(this, getLeader().orElse(null));
        } while (leads() != leads);
    }

    @Override
    public void addEventListener(CamelClusterEventListener listener) {
        if (listener instanceof CamelClusterEventListener.Leadership leadership) {
            listeners.add(leadership);
            if (isRunAllowed()) {
                tell(leadership);
            }
        }
        if (listener instanceof CamelClusterEventListener.Membership membership && isRunAllowed()) {
            getMembers().forEach(member -> membership.memberAdded(this, member));
        }
    }

    /** Does not wait for a listener that is being told. */
    @Override
    public void removeEventListener(CamelClusterEventListener listener) {
        listeners.removeIf(known -> known == listener);
    }

    @Override
    public CamelClusterService getClusterService() {
        return service;
    }

    @Override
    public String getNamespace() {
        return namespace;
    }

    @Override
    public @Nullable CamelContext getCamelContext() {
        return camelContext;
    }

    @Override
    public void setCamelContext(CamelContext camelContext) {
        this.camelContext = camelContext;
    }

    /** This node if it leads, else the node that leads as far as this one was told. */
    @Override
    public Optional<CamelClusterMember> getLeader() {
        return leads()
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
                    ? leads()
                    : election.leader().filter(hint -> hint.nodeId().equals(id)).isPresent();
        }

        @Override
        public String toString() {
            return "Member[" + id + (isLeader() ? ", leads]" : "]");
        }
    }
}
