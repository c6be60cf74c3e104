package io.paxoslease.node;

import io.paxoslease.protocol.Acceptor;
import java.time.Duration;
import java.util.Map;

/**
 * The acceptor of this node at one instant.
 *
 * @param state whether it takes part
 * @param quarantineRemaining how long it stays silent, zero if it votes or there is none
 * @param leases how many leases it has recorded
 * @param refusals how often it took no part, by reason
 */
public record AcceptorStatus(
        RequestHandler.AcceptorState state,
        Duration quarantineRemaining,
        int leases,
        Map<Acceptor.Refusal, Long> refusals) {}
