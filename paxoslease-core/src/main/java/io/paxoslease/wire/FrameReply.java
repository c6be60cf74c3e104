package io.paxoslease.wire;

/**
 * What a node replies to a frame.
 *
 * @param status as in HTTP: 200 an answer frame; 400 malformed; 401 not authenticated; 409 foreign, replayed or of another life; 413 too
 *     large; 503 not ready
 * @param body an answer frame for 200 and, where the sender proved that it knows the secret, for 409; otherwise a short plain text or empty
 */
@SuppressWarnings("ArrayRecordComponent")
public record FrameReply(int status, byte[] body) {}
