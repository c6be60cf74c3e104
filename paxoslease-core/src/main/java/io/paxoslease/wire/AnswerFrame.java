package io.paxoslease.wire;

import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Response;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one {@link RequestFrame}, bound to it by the asker's nonce and sequence number.
 *
 * @param cell the name of the answerer's cell
 * @param sender who answers
 * @param asker who asked
 * @param session the session of the request; in the answer to a hello the one that was opened; otherwise 0
 * @param fingerprint the answerer's {@link io.paxoslease.protocol.Cell#fingerprint()}
 * @param sequence the sequence number of the request
 * @param status what became of the request frame
 * @param reason why it was refused, in words for the asker: "there" is the answerer, "here" the asker; empty if it was not
 * @param acceptor the state of the answerer's acceptor
 * @param quarantineNanos how long its quarantine lasts from now
 * @param responses if the status is OK, for each request in order its response or null; otherwise none
 */
record AnswerFrame(
        String cell,
        Incarnation sender,
        Incarnation asker,
        long session,
        long fingerprint,
        long sequence,
        Status status,
        String reason,
        AcceptorState acceptor,
        long quarantineNanos,
        List<@Nullable Response> responses) {

    /** What became of a request frame. Only OK means that its requests were handled. */
    enum Status {
        /** The requests were handled. */
        OK,
        /** The answer to a hello carries the session to use; any other, with session 0, asks for a hello. */
        NEW_SESSION,
        /** The settings of the two nodes do not fit. */
        REFUSED,
        /** A frame with this sequence number came before, or may have: too many higher ones did. */
        REPLAYED,
        /** The lists of members do not fit, and a majority of the answerer's votes (X9). */
        OTHER_MAJORITY
    }
}
