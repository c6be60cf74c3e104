package io.paxoslease.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/**
 * Three ZooKeeper servers in processes of their own, with the settings of the sample configuration that ZooKeeper is delivered with, so every
 * transaction is on the disk of a majority; and an application with Curator in a fourth, which knows all three servers, talks to one of them and
 * keeps one {@code InterProcessMutex} for each name. All workers share a session, as an application has it.
 */
final class ZooKeeperPeer {

    static final int SERVERS = 3;

    /** For clients, for the leader's followers, for elections. */
    static final int PORTS = 3 * SERVERS;

    private ZooKeeperPeer() {}

    /** The server of that index, from 1. */
    static Workers.Work server(int index, Path directory, int[] ports) throws Exception {
        System.setProperty("zookeeper.admin.enableServer", "false");
        System.setProperty("zookeeper.jmx.log4j.disable", "true");
        Path data = Files.createDirectory(directory.resolve("server" + index));
        Files.writeString(data.resolve("myid"), Integer.toString(index));
        int clientPort = ports[index - 1];
        Properties properties = new Properties();
        properties.setProperty("tickTime", "2000");
        properties.setProperty("initLimit", "10");
        properties.setProperty("syncLimit", "5");
        properties.setProperty("dataDir", data.toString());
        properties.setProperty("clientPortAddress", "127.0.0.1");
        properties.setProperty("clientPort", Integer.toString(clientPort));
        for (int i = 0; i < SERVERS; i++) {
            properties.setProperty(
                    "server." + (i + 1), "127.0.0.1:" + ports[SERVERS + i] + ":" + ports[2 * SERVERS + i]);
        }
        QuorumPeerConfig config = new QuorumPeerConfig();
        config.parseProperties(properties);
        Thread thread = new Thread(() -> {
            try {
                new QuorumPeerMain().runFromConfig(config);
            } catch (Exception | LinkageError failure) {
                failure.printStackTrace();
            } finally {
                Runtime.getRuntime().halt(1);
            }
        });
        thread.setDaemon(true);
        thread.start();
        while (!serves(clientPort)) {
            Thread.sleep(50);
        }
        return PeerNode.SERVES;
    }

    private static boolean serves(int clientPort) throws Exception {
        try {
            return FourLetterWordMain.send4LetterWord("127.0.0.1", clientPort, "srvr")
                    .contains("Mode: ");
        } catch (IOException notYet) {
            return false;
        }
    }

    static Workers.Work client(int[] ports) throws Exception {
        StringJoiner servers = new StringJoiner(",");
        for (int i = 0; i < SERVERS; i++) {
            servers.add("127.0.0.1:" + ports[i]);
        }
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(servers.toString(), new ExponentialBackoffRetry(1_000, 3));
        client.start();
        client.blockUntilConnected();
        InterProcessMutex[][] locks = new InterProcessMutex[128][64];
        return (worker, round) -> {
            int i = (int) (round % locks[worker].length);
            InterProcessMutex lock = locks[worker][i];
            if (lock == null) {
                lock = new InterProcessMutex(client, "/locks/" + Workers.name(worker, round));
                locks[worker][i] = lock;
            }
            boolean locked = lock.acquire(1, TimeUnit.SECONDS);
            if (locked) {
                lock.release();
            }
            return locked;
        };
    }
}
