package io.paxoslease.spring;

import io.paxoslease.protocol.Names;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Published on every node that watches a lease when it knows of another leader than before, which may be itself, or of none any more: a hint, never a
 * permission.
 */
public class LeaderChangedEvent extends LeaseEvent {

    private static final long serialVersionUID = 1L;

    private final @Nullable String leader;

    /**
     * Creates the event.
     *
     * @param source what publishes it
     * @param leaseName the name of the lease
     * @param node the id of this node
     * @param leader the id of the node that leads as far as is known, null if nobody is known to
     */
    public LeaderChangedEvent(Object source, String leaseName, String node, @Nullable String leader) {
        super(source, leaseName, node, 0);
        this.leader = leader;
    }

    /** The id of the node that leads as far as this node was told, empty if nobody is known to. */
    public Optional<String> leader() {
        return Optional.ofNullable(leader);
    }

    @Override
    public String toString() {
        return Names.printable(
                getClass().getSimpleName() + "[lease " + leaseName() + ", node " + node() + ", leader " + leader + "]");
    }
}
