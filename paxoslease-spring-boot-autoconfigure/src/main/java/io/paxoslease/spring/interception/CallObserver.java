package io.paxoslease.spring.interception;

import io.paxoslease.Lease;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** Accompanies guarded calls that run. Called on the thread of the call; must be quick and must not throw. */
@FunctionalInterface
public interface CallObserver {

    /** Where streams carry what observes them: that of Micrometer's {@code ObservationThreadLocalAccessor}. */
    String CONTEXT_KEY = "micrometer.observation";

    /**
     * A call was let in and its method is about to run.
     *
     * @param method the guarded method
     * @param lease the lease under which it runs
     * @param outer what the Reactor context of a subscription has under {@link #CONTEXT_KEY}, else null: the thread knows it then
     */
    ObservedCall onAdmitted(Method method, Lease lease, @Nullable Object outer);

    /** One call that runs. */
    interface ObservedCall {

        /** What the stream that the method returns finds in its Reactor context under {@link #CONTEXT_KEY}, null for what is there. */
        default @Nullable Object observation() {
            return null;
        }

        /** Makes this call the current one of this thread, while its method is called. */
        Scope open();

        /**
         * The call has ended: its method has returned, or the work has ended that the returned stage or publisher stands for. Called once,
         * on the thread that ends it.
         *
         * @param failure what it failed with, null if it did not
         */
        void onEnd(@Nullable Throwable failure);
    }

    /** What was current before is current again when this is closed. */
    interface Scope extends AutoCloseable {

        @Override
        void close();
    }
}
