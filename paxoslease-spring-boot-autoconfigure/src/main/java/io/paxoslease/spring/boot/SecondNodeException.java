package io.paxoslease.spring.boot;

import org.springframework.context.ApplicationContext;

/** Stops the start of a context whose parent has the node of this process already. */
final class SecondNodeException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param context the context that would have a second node
     * @param parent the context above it that has the first
     */
    SecondNodeException(ApplicationContext context, ApplicationContext parent) {
        super("Both the context '" + context.getId() + "' and its parent '" + parent.getId()
                + "' are auto-configured with PaxosLease, and the node of the parent is there already. Of the contexts of"
                + " a hierarchy one has the node.");
    }
}
