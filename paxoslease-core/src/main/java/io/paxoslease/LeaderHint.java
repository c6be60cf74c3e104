package io.paxoslease;

import java.time.Duration;

/**
 * What this node was last told about the leader of a lease (rule X6). Good for dashboards and redirects; nothing that must be
 * exclusive may depend on it.
 *
 * @param nodeId the node that leads
 * @param remaining how long its lease lasts if it is not extended, zero or more
 */
public record LeaderHint(String nodeId, Duration remaining) {}
