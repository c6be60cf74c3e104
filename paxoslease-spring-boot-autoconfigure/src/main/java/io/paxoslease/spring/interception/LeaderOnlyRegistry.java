package io.paxoslease.spring.interception;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The leases that the guarded methods of this application need. It grows while beans are made, also after the start if they are
 * lazy. Safe to use from any thread.
 */
public final class LeaderOnlyRegistry {

    private final Object monitor = new Object();
    private final Set<String> names = new TreeSet<>();
    private final Map<GuardedMethod, String> methods = new LinkedHashMap<>();
    private final List<Consumer<String>> listeners = new ArrayList<>();
    private BiConsumer<GuardedMethod, String> requirement = (method, bean) -> {};

    /** The names that are known now, in alphabetical order. */
    public Set<String> leaseNames() {
        synchronized (monitor) {
            return Collections.unmodifiableSet(new TreeSet<>(names));
        }
    }

    /**
     * Tells a listener the name of each lease once: of those known at once on this thread, of later ones on the thread that makes
     * the bean. The listener must not block.
     *
     * @param listener receives the names
     */
    public void forEachLease(Consumer<String> listener) {
        Set<String> known;
        synchronized (monitor) {
            listeners.add(listener);
            known = leaseNames();
        }
        known.forEach(listener);
    }

    /** The names of the leases that nothing but scheduled methods need, as far as is known now, in alphabetical order. */
    public Set<String> onlyScheduled() {
        synchronized (monitor) {
            Set<String> scheduled = new TreeSet<>(names);
            methods.keySet().stream()
                    .filter(method -> !method.scheduled())
                    .forEach(method -> scheduled.remove(method.leaseName()));
            return scheduled;
        }
    }

    /**
     * Has every guarded method looked at together with its bean's name: those that are known at once, later ones before they become
     * known. What the requirement throws comes out, of the latter where the bean is made.
     */
    void require(BiConsumer<GuardedMethod, String> every) {
        synchronized (monitor) {
            methods.forEach(every);
            requirement = every;
        }
    }

    void add(GuardedMethod method, String bean) {
        String leaseName = method.leaseName();
        List<Consumer<String>> toTell;
        synchronized (monitor) {
            requirement.accept(method, bean);
            methods.put(method, bean);
            if (!names.add(leaseName)) {
                return;
            }
            toTell = List.copyOf(listeners);
        }
        toTell.forEach(listener -> listener.accept(leaseName));
    }
}
