package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaderOnly;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A guarded bean that is overlooked runs on every node. */
class CandidatesTests {

    private final Candidates candidates = new Candidates();

    @ParameterizedTest
    @ValueSource(
            classes = {
                OnItsMethod.class,
                OnAPrivateMethod.class,
                OnItself.class,
                OnItsSuperclass.class,
                OnAMethodOfItsSuperclass.class,
                OnAMethodOfItsInterface.class,
                OnAMethodOfAnInterfaceOfItsInterface.class,
                OnAMethodOfAnInterfaceOfItsSuperclass.class,
                ByAComposedAnnotation.class,
                ByAnAnnotationOfAnAnnotation.class
            })
    void seesTheAnnotationWhereverItMayBe(Class<?> type) {
        assertThat(candidates.mayBeGuarded(type)).isTrue();
        assertThat(candidates.mayBeGuarded(type)).as("asked again").isTrue();
    }

    @ParameterizedTest
    @ValueSource(classes = {Unguarded.class, Object.class, String.class, ArrayList.class, Runnable.class})
    void leavesOutWhatHasNone(Class<?> type) {
        assertThat(candidates.mayBeGuarded(type)).isFalse();
    }

    @Test
    void leavesOutWhatHasNoClass() {
        assertThat(candidates.mayBeGuarded(null)).isFalse();
    }

    static class OnItsMethod {
        @LeaderOnly
        public void job() {}
    }

    static class OnAPrivateMethod {
        @LeaderOnly
        @SuppressWarnings("unused")
        private void job() {}
    }

    @LeaderOnly
    static class OnItself {
        public void job() {}
    }

    static class OnItsSuperclass extends OnItself {}

    static class OnAMethodOfItsSuperclass extends OnItsMethod {}

    interface Job {
        @LeaderOnly
        void job();
    }

    interface SpecialJob extends Job {}

    static class OnAMethodOfItsInterface implements Job {
        @Override
        public void job() {}
    }

    static class OnAMethodOfAnInterfaceOfItsInterface implements SpecialJob {
        @Override
        public void job() {}
    }

    static class OnAMethodOfAnInterfaceOfItsSuperclass extends OnAMethodOfItsInterface {}

    @Retention(RetentionPolicy.RUNTIME)
    @LeaderOnly("nightly")
    @interface Nightly {}

    @Retention(RetentionPolicy.RUNTIME)
    @Nightly
    @interface NightlyReport {}

    static class ByAComposedAnnotation {
        @Nightly
        public void job() {}
    }

    static class ByAnAnnotationOfAnAnnotation {
        @NightlyReport
        public void job() {}
    }

    static class Unguarded implements Runnable {
        @Override
        @Deprecated
        public void run() {}
    }
}
