package io.paxoslease.wire;

/** Bytes that are no frame. The message is a sentence that says what was wrong with them. Without a stack trace: it is an everyday event. */
final class MalformedFrameException extends Exception {

    private static final long serialVersionUID = 1L;

    MalformedFrameException(String message) {
        super(message, null, false, false);
    }
}
