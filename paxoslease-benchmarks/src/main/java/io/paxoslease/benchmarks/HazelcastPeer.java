package io.paxoslease.benchmarks;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An embedded Hazelcast member that locks keys of a map for a lease time, as {@code IMap.tryLock} offers in the open edition. The owner of a
 * key's partition decides and one backup follows; no majority is asked, so it promises less than the others.
 */
final class HazelcastPeer {

    /** What Hazelcast's manual says to start its JVM with. */
    static final List<String> OPTIONS = List.of(
            "--add-modules=java.se",
            "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.management/sun.management=ALL-UNNAMED",
            "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED");

    private HazelcastPeer() {}

    static Workers.Work member(int index, int[] ports) throws InterruptedException {
        Config config = new Config().setClusterName("bench");
        config.setProperty("hazelcast.logging.type", "none");
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.socket.bind.any", "false");
        config.getNetworkConfig().setPort(ports[index]).setPortAutoIncrement(false);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        JoinConfig join = config.getNetworkConfig().getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        join.getTcpIpConfig().setEnabled(true);
        for (int port : ports) {
            join.getTcpIpConfig().addMember("127.0.0.1:" + port);
        }
        HazelcastInstance hazelcast = Hazelcast.newHazelcastInstance(config);
        while (hazelcast.getCluster().getMembers().size() < ports.length
                || !hazelcast.getPartitionService().isClusterSafe()) {
            Thread.sleep(20);
        }
        IMap<String, String> locks = hazelcast.getMap("locks");
        return (worker, round) -> {
            String name = Workers.name(worker, round);
            boolean locked = locks.tryLock(name, 1, TimeUnit.SECONDS, 1, TimeUnit.SECONDS);
            if (locked) {
                locks.unlock(name);
            }
            return locked;
        };
    }
}
