package io.paxoslease.protocol;

import java.util.List;
import java.util.TreeSet;

/**
 * The fixed set of acceptors that leases are agreed in.
 *
 * @param name the cell's name; messages of another cell are refused (X9)
 * @param acceptors the node ids of the acceptors, sorted
 */
public record Cell(String name, List<String> acceptors) {

    /** The most acceptors of a cell: sets of acceptors are kept as bits of one {@code long}. */
    public static final int MAX_ACCEPTORS = 63;

    private static final int MAX_NAME_BYTES = 255;

    public Cell {
        Names.require("cell name", name, MAX_NAME_BYTES);
        TreeSet<String> sorted = new TreeSet<>(acceptors);
        if (sorted.size() != acceptors.size()) {
            throw new IllegalArgumentException("The acceptors of cell '" + name + "' must be distinct: " + acceptors);
        }
        if (sorted.isEmpty() || sorted.size() > MAX_ACCEPTORS) {
            throw new IllegalArgumentException(
                    "Cell '" + name + "' must have from 1 to " + MAX_ACCEPTORS + " acceptors, not " + sorted.size());
        }
        for (String acceptor : sorted) {
            Names.require("node id", acceptor, Incarnation.MAX_NODE_ID_BYTES);
        }
        acceptors = List.copyOf(sorted);
    }

    /** How many acceptors there are. */
    public int size() {
        return acceptors.size();
    }

    /** How many acceptors make a majority: n/2 + 1. */
    public int majority() {
        return size() / 2 + 1;
    }

    /** The position of an acceptor, or -1 if the node is not one. */
    public int indexOf(String nodeId) {
        return acceptors.indexOf(nodeId);
    }

    /**
     * X9. Whether any majority of this cell meets any majority of the other. Both sides avoid the common acceptors as far as they
     * can; if what each still needs from them does not fit beside the other, they meet.
     */
    public boolean majoritiesMeet(Cell other) {
        int common = (int) acceptors.stream().filter(other.acceptors::contains).count();
        int need = Math.max(0, majority() - (size() - common));
        int otherNeed = Math.max(0, other.majority() - (other.size() - common));
        return need + otherNeed > common;
    }

    /** A 64-bit digest of name and acceptors, equal on all nodes with the same list (FNV-1a). */
    public long fingerprint() {
        long hash = 0xcbf29ce484222325L;
        String text = name + '\n' + String.join("\n", acceptors);
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
        }
        return hash;
    }
}
