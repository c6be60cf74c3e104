package io.paxoslease.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which of two contexts is to be without a node, and how. */
final class SecondNodeFailureAnalyzer extends AbstractFailureAnalyzer<SecondNodeException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, SecondNodeException cause) {
        return new FailureAnalysis(
                cause.getMessage(),
                "Exclude auto-configurations in one of them, for example with @SpringBootApplication(exclude = ...). In the"
                        + " parent: PaxosLeaseAutoConfiguration and PaxosLeaseInterceptionAutoConfiguration; the child then has"
                        + " the node, and nothing in the parent is guarded. Or in the child: PaxosLeaseAutoConfiguration alone;"
                        + " its guarded methods then ask the node of the parent.",
                cause);
    }
}
