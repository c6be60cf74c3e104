package io.paxoslease.spring.camel;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.apache.camel.support.cluster.AbstractCamelClusterService;

/**
 * A Camel cluster service that needs nothing besides the instances of the application, for routes that begin with {@code master:} and for whatever
 * else asks Camel who leads. The lease of a namespace is called like the namespace.
 *
 * <p>A namespace has this node as a candidate while Camel uses it.
 */
public final class PaxosLeaseClusterService extends AbstractCamelClusterService<PaxosLeaseClusterView> {

    private final LeaseNode node;
    private final Predicate<String> shared;
    private final Map<String, PaxosLeaseClusterView> views = new ConcurrentHashMap<>();

    /**
     * Creates the service.
     *
     * @param node the node of this application
     */
    public PaxosLeaseClusterService(LeaseNode node) {
        this(node, namespace -> false);
    }

    /**
     * Creates the service of an application that needs some of the leases for other things too.
     *
     * @param node the node of this application
     * @param shared whether this node is to stay a candidate for the lease of a namespace when Camel stops; asked then
     */
    public PaxosLeaseClusterService(LeaseNode node, Predicate<String> shared) {
        super("paxoslease");
        this.node = node;
        this.shared = shared;
        node.addListener(this::onTransition);
    }

    private void onTransition(LeaseTransition transition) {
        PaxosLeaseClusterView view = views.get(transition.leaseName());
        if (view != null) {
            view.onTransition(transition);
        }
    }

    @Override
    protected PaxosLeaseClusterView createView(String namespace) {
        PaxosLeaseClusterView view = new PaxosLeaseClusterView(this, node, namespace, shared);
        views.put(namespace, view);
        return view;
    }
}
