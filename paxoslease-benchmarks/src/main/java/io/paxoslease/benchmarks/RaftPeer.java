package io.paxoslease.benchmarks;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jgroups.JChannel;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.protocols.raft.ELECTION;
import org.jgroups.protocols.raft.NO_DUPES;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.protocols.raft.REDIRECT;
import org.jgroups.raft.RaftHandle;
import org.jgroups.raft.StateMachine;
import org.jgroups.stack.Protocol;

/**
 * An embedded jgroups-raft member: the stack of its sample configuration over TCP, its log in files, which by default are not
 * forced to the disk. This release has no lock service, so the locks are a state machine of the kind that its manual shows: a map from names to
 * owners. Nothing expires.
 */
final class RaftPeer {

    private RaftPeer() {}

    static Workers.Work member(int index, Path directory, int[] ports) throws Exception {
        List<String> ids = new ArrayList<>();
        List<InetSocketAddress> hosts = new ArrayList<>();
        for (int i = 0; i < ports.length; i++) {
            ids.add("n" + (i + 1));
            hosts.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), ports[i]));
        }
        String id = ids.get(index);
        TCP tcp = new TCP();
        tcp.setBindAddress(InetAddress.getLoopbackAddress())
                .setBindPort(ports[index])
                .setPortRange(0);
        RAFT raft = new RAFT().members(ids).raftId(id).logDir(directory.toString());
        List<Protocol> stack = List.of(
                tcp,
                new TCPPING().setInitialHosts(hosts).setPortRange(0),
                new MERGE3(),
                new FD_ALL3(),
                new VERIFY_SUSPECT2(),
                new NAKACK2().useMcastXmit(false),
                new UNICAST3(),
                new STABLE(),
                new NO_DUPES(),
                new GMS().printLocalAddress(false),
                new UFC(),
                new MFC(),
                new FRAG4(),
                new ELECTION(),
                raft,
                new REDIRECT());
        JChannel channel = new JChannel(stack).name(id);
        RaftHandle handle = new RaftHandle(channel, new Locks());
        channel.connect("bench");
        while (channel.getView().size() < ports.length || handle.leader() == null) {
            Thread.sleep(20);
        }
        return (worker, round) -> {
            String name = Workers.name(worker, round);
            boolean locked = ask(handle, Locks.LOCK, name, id);
            return locked && ask(handle, Locks.UNLOCK, name, id);
        };
    }

    private static boolean ask(RaftHandle handle, char what, String name, String owner) throws Exception {
        byte[] command = (what + name + " " + owner).getBytes(StandardCharsets.UTF_8);
        return handle.set(command, 0, command.length, 1, TimeUnit.SECONDS)[0] == 1;
    }

    /** Who has which lock. Its methods are called by one thread at a time. */
    private static final class Locks implements StateMachine {

        static final char LOCK = '+';
        static final char UNLOCK = '-';

        private final Map<String, String> owners = new HashMap<>();

        @Override
        public byte[] apply(byte[] data, int offset, int length, boolean serializeResponse) {
            String command = new String(data, offset, length, StandardCharsets.UTF_8);
            int space = command.indexOf(' ');
            String name = command.substring(1, space);
            String owner = command.substring(space + 1);
            boolean done =
                    command.charAt(0) == LOCK ? owners.putIfAbsent(name, owner) == null : owners.remove(name, owner);
            return new byte[] {(byte) (done ? 1 : 0)};
        }

        @Override
        public void readContentFrom(DataInput in) throws IOException {
            owners.clear();
            for (int i = in.readInt(); i > 0; i--) {
                owners.put(in.readUTF(), in.readUTF());
            }
        }

        @Override
        public void writeContentTo(DataOutput out) throws IOException {
            out.writeInt(owners.size());
            for (Map.Entry<String, String> lock : owners.entrySet()) {
                out.writeUTF(lock.getKey());
                out.writeUTF(lock.getValue());
            }
        }
    }
}
