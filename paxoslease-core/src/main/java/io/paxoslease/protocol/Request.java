package io.paxoslease.protocol;

/** From a proposer to every acceptor. The sender is {@code ballot().owner()}. */
public sealed interface Request extends Message permits PrepareRequest, ProposeRequest, ReleaseRequest {}
