package io.paxoslease.spring.events;

import io.paxoslease.spring.LeaseEvent;
import java.util.ArrayList;
import java.util.List;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.core.ResolvableType;

/**
 * The listeners of an application context and its parents, found and called by Spring's rules but one at a time: the context's own
 * multicaster lets one listener that throws or blocks keep an event from all that follow.
 */
final class LeaseEventListeners extends SimpleApplicationEventMulticaster {

    private static final int SNAPSHOT_ATTEMPTS = 10;

    private final ApplicationContext context;
    private List<ApplicationListener<?>> known = List.of();
    /** Not where the last attempt failed in the middle: for lack of memory, say. */
    private boolean complete;

    LeaseEventListeners(ApplicationContext context) {
        super(context.getAutowireCapableBeanFactory());
        this.context = context;
    }

    /** Makes listeners known that are not made yet; to be called once when the context is complete. */
    void addListenerBeans() {
        for (String name : context.getBeanNamesForType(ApplicationListener.class, true, false)) {
            addApplicationListenerBean(name);
        }
    }

    /** The listeners of an event in the order in which they are to be called. */
    synchronized List<ApplicationListener<?>> of(LeaseEvent event) {
        List<ApplicationListener<?>> current = snapshot();
        if (!complete || !current.equals(known)) {
            complete = false;
            removeApplicationListeners(each -> true);
            current.forEach(this::addApplicationListener);
            known = current;
            complete = true;
        }
        return List.copyOf(getApplicationListeners(event, ResolvableType.forInstance(event)));
    }

    /** Calls one listener; what it throws comes out. */
    void call(ApplicationListener<?> listener, LeaseEvent event) {
        invokeListener(listener, event);
    }

    private List<ApplicationListener<?>> snapshot() {
        List<ApplicationListener<?>> listeners = new ArrayList<>();
        for (ApplicationContext each = context; each != null; each = each.getParent()) {
            if (each instanceof AbstractApplicationContext source) {
                listeners.addAll(snapshot(source));
            }
        }
        return listeners;
    }

    /** The context hands out its own set, which another thread may be changing: where one is removed just then, a copy ends with null. */
    private List<ApplicationListener<?>> snapshot(AbstractApplicationContext source) {
        for (int attempt = 1; ; attempt++) {
            try {
                return List.copyOf(source.getApplicationListeners());
            } catch (RuntimeException changing) {
                if (attempt == SNAPSHOT_ATTEMPTS) {
                    return known;
                }
            }
        }
    }
}
