package io.paxoslease.wire;

import io.paxoslease.protocol.Incarnation;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which incarnations may send requests, and how far each has got. At most one session per incarnation; the one that was idle longest makes
 * room for a new one. Numbers are drawn at random, so that one that is gone is never valid again. Safe to call from any thread.
 */
final class Sessions {

    /** What became of a frame that wants to open or use a session. */
    enum Entry {
        /** The frame is new: its sequence number is used up now. */
        ENTERED,
        /** Like ENTERED, but incarnations of its node take turns: two processes with one node id. */
        ALTERNATED,
        /** There is no such session, or none in which the number can be told. */
        UNKNOWN,
        /** A frame with this sequence number came before, or may have: too many higher ones did. */
        REPLAYED
    }

    /** The answer to a hello. */
    record Opened(long id, Entry entry) {}

    private static final class Session {
        final Incarnation sender;
        final @Nullable String address;
        final long id;
        final long fingerprint;
        /** The highest number that was used up. */
        long sequence;
        /** A bit for each of the numbers up to it that was used up; the lowest bit is that of the highest number. */
        long used = -1;

        Session(Incarnation sender, @Nullable String address, long id, long fingerprint, long sequence) {
            this.sender = sender;
            this.address = address;
            this.id = id;
            this.fingerprint = fingerprint;
            this.sequence = sequence;
        }

        boolean isTooLowToTell(long number) {
            return number - sequence <= -Long.SIZE;
        }

        /** False if the number was used up, or is too low to tell. */
        boolean use(long number) {
            long ahead = number - sequence;
            if (ahead > 0) {
                used = ahead < Long.SIZE ? used << ahead | 1 : 1;
                sequence = number;
                return true;
            }
            if (isTooLowToTell(number) || (used >> -ahead & 1) != 0) {
                return false;
            }
            used |= 1L << -ahead;
            return true;
        }
    }

    /** Which incarnation of a node was heard last, and how often one came back after another since the last new one. */
    private static final class Heard {
        Incarnation last;
        int returns;

        Heard(Incarnation last) {
            this.last = last;
        }
    }

    /**
     * The frames of a process that was killed, up to four, may come when its successor was heard, because the network was cut meanwhile and the
     * system goes on sending: it comes back with each of them, and so does its successor after it.
     */
    private static final int MOST_RETURNS = 2 * MemberLink.MOST_UNDER_WAY;

    private final int capacity;
    private final boolean authenticated;
    private final RandomGenerator random;
    private final LinkedHashMap<Incarnation, Session> sessions = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<String, Heard> heard = new HashMap<>();

    /**
     * @param authenticated whether nobody but the sender can have given a frame its number
     */
    Sessions(int capacity, boolean authenticated, RandomGenerator random) {
        this.capacity = capacity;
        this.authenticated = authenticated;
        this.random = random;
    }

    /** The object that is kept for an equal incarnation, else the one given. */
    synchronized Incarnation known(Incarnation sender) {
        Session session = sessions.get(sender);
        return session == null ? sender : session.sender;
    }

    /** Opens the session of an incarnation, or tells it again. */
    synchronized Opened open(Incarnation sender, @Nullable String address, long fingerprint, long sequence) {
        Session session = sessions.get(sender);
        if (session == null || isSpoilt(session, sequence)) {
            sessions.remove(sender);
            session = new Session(sender, address, drawId(), fingerprint, sequence);
            makeRoom();
            sessions.put(sender, session);
            heard.put(sender.nodeId(), new Heard(sender));
            return new Opened(session.id, Entry.ENTERED);
        }
        return new Opened(session.id, enter(sender, session.id, session.fingerprint, sequence));
    }

    /** Uses up a sequence number of a session. */
    synchronized Entry enter(Incarnation sender, long id, long fingerprint, long sequence) {
        Session session = sessions.get(sender);
        if (session == null || session.id != id || session.fingerprint != fingerprint || isSpoilt(session, sequence)) {
            return Entry.UNKNOWN;
        }
        if (!session.use(sequence)) {
            return Entry.REPLAYED;
        }
        return takesTurns(sender) ? Entry.ALTERNATED : Entry.ENTERED;
    }

    /**
     * Whether a damaged frame may have raised the highest number. Its sender counts up from below, and would be refused for the rest of its
     * life; so it may open another session. A number that is authenticated is not damaged: one that is too low is a replay.
     */
    private boolean isSpoilt(Session session, long sequence) {
        return !authenticated && session.isTooLowToTell(sequence);
    }

    private boolean takesTurns(Incarnation sender) {
        Heard node = heard.computeIfAbsent(sender.nodeId(), id -> new Heard(sender));
        if (node.last.equals(sender)) {
            return false;
        }
        node.last = sender;
        node.returns++;
        return node.returns > MOST_RETURNS;
    }

    /** From where the two incarnations of a node came that were heard last; less if that is not known or the same. */
    synchronized Set<String> addresses(String nodeId) {
        List<String> addresses = sessions.values().stream()
                .filter(session -> session.sender.nodeId().equals(nodeId))
                .map(session -> session.address)
                .toList();
        return addresses.stream()
                .skip(Math.max(0, addresses.size() - 2))
                .filter(Objects::nonNull)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    synchronized int size() {
        return sessions.size();
    }

    private void makeRoom() {
        if (sessions.size() >= capacity) {
            Iterator<Incarnation> idleLongest = sessions.keySet().iterator();
            Incarnation evicted = idleLongest.next();
            idleLongest.remove();
            heard.remove(evicted.nodeId());
        }
    }

    private long drawId() {
        long id = random.nextLong();
        while (id == RequestFrame.NO_SESSION) {
            id = random.nextLong();
        }
        return id;
    }
}
