package io.paxoslease.spring.camel;

import io.paxoslease.node.LeaseListener;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.camel.support.cluster.AbstractCamelClusterService;

/**
 * A Camel cluster service that needs nothing besides the instances of the application, for routes that begin with {@code master:} and for whatever
 * else asks Camel who leads. The lease of a namespace is called like the namespace.
 *
 * <p>A namespace has this node as a candidate while Camel uses it. When Camel stops, the lease is given up unless others need it: guarded methods,
 * the settings, another adapter. Then the node gives it up when it stops, after what they let run has ended.
 */
public final class PaxosLeaseClusterService extends AbstractCamelClusterService<PaxosLeaseClusterView> {

    private final LeaseNode node;
    private final LeaseListener listener = this::onTransition;
    private final Map<String, PaxosLeaseClusterView> views = new ConcurrentHashMap<>();

    /**
     * Creates the service.
     *
     * @param node the node of this application
     */
    public PaxosLeaseClusterService(LeaseNode node) {
        super("paxoslease");
        this.node = node;
    }

    /** Listens before its views begin. */
    @Override
    protected void doStart() throws Exception {
        node.addListener(listener);
        super.doStart();
    }

    /** Forgets the node, which may be a parent context's and go on. */
    @Override
    protected void doStop() throws Exception {
        super.doStop();
        node.removeListener(listener);
    }

    private void onTransition(LeaseTransition transition) {
        PaxosLeaseClusterView view = views.get(transition.leaseName());
        if (view != null) {
            view.onTransition(transition);
        }
    }

    @Override
    protected PaxosLeaseClusterView createView(String namespace) {
        PaxosLeaseClusterView view = new PaxosLeaseClusterView(this, node, namespace);
        views.put(namespace, view);
        return view;
    }
}
