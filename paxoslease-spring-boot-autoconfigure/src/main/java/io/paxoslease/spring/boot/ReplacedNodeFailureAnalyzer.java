package io.paxoslease.spring.boot;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do instead of mocking the {@code LeaseManager}, which is the node itself. */
final class ReplacedNodeFailureAnalyzer extends AbstractFailureAnalyzer<BeanNotOfRequiredTypeException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BeanNotOfRequiredTypeException cause) {
        // Who asks for a node by the name of something else is told by Spring that it is none.
        if (cause.getRequiredType() != LeaseNode.class || !LeaseManager.class.isAssignableFrom(cause.getActualType())) {
            return null;
        }
        return new FailureAnalysis(
                "Bean '" + cause.getBeanName()
                        + "' is the LeaseManager and the node of PaxosLease at once, and other beans need the"
                        + " node. In its place is "
                        + cause.getActualType().getName()
                        + ", which is no LeaseNode, as with @MockitoBean LeaseManager.",
                "In a test use @AutoConfigureTestLeases of paxoslease-test, with which leases come and go as the test says, or a spy"
                        + " (@MockitoSpyBean). A LeaseManager of your own is a second bean, with @Primary.",
                cause);
    }
}
