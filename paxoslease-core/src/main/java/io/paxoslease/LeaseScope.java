package io.paxoslease;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Binds a lease to the current thread while guarded code runs, for {@link Lease#current()}. Scopes nest; close them in reverse
 * order on the thread that opened them.
 */
public final class LeaseScope implements AutoCloseable {

    private static final ThreadLocal<@Nullable Lease> CURRENT = new ThreadLocal<>();

    private final @Nullable Lease outer;

    private LeaseScope(@Nullable Lease outer) {
        this.outer = outer;
    }

    /**
     * Opens a scope on the current thread.
     *
     * @param lease the lease that {@link Lease#current()} answers until the scope is closed
     * @return the scope to close
     */
    public static LeaseScope open(Lease lease) {
        LeaseScope scope = new LeaseScope(CURRENT.get());
        CURRENT.set(lease);
        return scope;
    }

    static Optional<Lease> current() {
        return Optional.ofNullable(CURRENT.get());
    }

    @Override
    public void close() {
        if (outer == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(outer);
        }
    }
}
