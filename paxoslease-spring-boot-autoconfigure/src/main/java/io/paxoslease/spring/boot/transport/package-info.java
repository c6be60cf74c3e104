/**
 * Frames between nodes: the calling side ({@link io.paxoslease.spring.boot.transport.FrameChannels}) and the answering side, over HTTP
 * ({@link io.paxoslease.spring.boot.transport.PaxosLeaseServlet}, {@link io.paxoslease.spring.boot.transport.PaxosLeaseWebFilter}) or on a
 * port of its own ({@link io.paxoslease.spring.boot.transport.TcpFrameServer}).
 *
 * <p>Over HTTP one frame is one {@code POST {base-path}/messages}. Both sides treat every byte from the other as hostile: sizes and times are
 * bounded before anybody is authenticated, and what goes wrong with one peer stays with it.
 */
@NullMarked
package io.paxoslease.spring.boot.transport;

import org.jspecify.annotations.NullMarked;
