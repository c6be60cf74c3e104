package org.springframework.cloud.kubernetes.commons.leader;

/** Stands in for the class of this name in {@code spring-cloud-kubernetes-commons}. */
public class LeaderInitiator {}
