/**
 * Frames: how many messages for many resources travel between two nodes in one request and one answer, and who may send them.
 * {@code docs/protocol.md} specifies them byte by byte.
 */
@NullMarked
package io.paxoslease.wire;

import org.jspecify.annotations.NullMarked;
