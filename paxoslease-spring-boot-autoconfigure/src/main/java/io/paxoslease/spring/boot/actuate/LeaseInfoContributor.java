package io.paxoslease.spring.boot.actuate;

import io.paxoslease.node.LeaseNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/** Adds {@code lease}: who this node is, and for each lease the state and the leader as far as known. */
public final class LeaseInfoContributor implements InfoContributor {

    private final LeaseNode node;

    /**
     * Makes a contributor.
     *
     * @param node the node
     */
    public LeaseInfoContributor(LeaseNode node) {
        this.node = node;
    }

    @Override
    public void contribute(Info.Builder builder) {
        Map<String, Object> leases = new LinkedHashMap<>();
        node.leases().forEach((name, status) -> {
            Map<String, Object> lease = new LinkedHashMap<>();
            lease.put("state", status.state().name());
            if (status.leader() != null) {
                lease.put("leader", status.leader());
            }
            leases.put(name, lease);
        });
        Map<String, Object> info = new LinkedHashMap<>();
        info.put("node", node.settings().nodeId());
        info.put("incarnation", node.incarnation().toString());
        info.put("cell", node.settings().cell().name());
        info.put("leases", leases);
        builder.withDetail("lease", info);
    }
}
