package io.paxoslease.spring.events;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.ContextRefreshedEvent;

/** Which events say that an application is ready: that of Spring Boot, or the refresh of a context that Spring Boot did not start. */
public final class ApplicationReadiness {

    private ApplicationReadiness() {}

    /**
     * Whether events of a type may say so.
     *
     * @param eventType the type
     */
    public static boolean mayBeToldBy(Class<? extends ApplicationEvent> eventType) {
        return ApplicationReadyEvent.class.isAssignableFrom(eventType)
                || ContextRefreshedEvent.class.isAssignableFrom(eventType);
    }

    /**
     * Whether an event says so of a context.
     *
     * @param event the event, perhaps of a child of the context
     * @param context the context; no event says so of none
     */
    public static boolean isToldBy(ApplicationEvent event, @Nullable ApplicationContext context) {
        return (event instanceof ApplicationReadyEvent started && started.getApplicationContext() == context)
                || (event instanceof ContextRefreshedEvent refreshed
                        && refreshed.getApplicationContext() == context
                        && !isStartedBySpringApplication(refreshed.getApplicationContext()));
    }

    /** If it is not, nobody else says when the application is ready; that its parent was says nothing about this one. */
    private static boolean isStartedBySpringApplication(ApplicationContext context) {
        return context.containsLocalBean("springApplicationArguments");
    }
}
