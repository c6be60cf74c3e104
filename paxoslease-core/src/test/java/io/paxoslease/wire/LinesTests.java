package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What is told of the members while the log takes it, does not take it, or fails. No thread runs but the test's. */
class LinesTests {

    private final List<String> written = new ArrayList<>();
    private final List<Runnable> threads = new ArrayList<>();
    private Runnable beforeLine = () -> {};
    private final ManualClock clock = new ManualClock();
    private final Lines lines = new Lines(new Log(), threads::add, clock);

    @Test
    void areWrittenInOrderByOneThread() {
        tell("a", "a is lost");
        tell("b", "b is lost");
        tell("a", "a is back");
        assertThat(written).as("by whoever tells").isEmpty();
        runThreads();
        assertThat(written).containsExactly("a is lost", "b is lost", "a is back");
    }

    @Test
    void needNoThreadWhileThereAreNone() {
        lines.write();
        assertThat(threads).isEmpty();
        tell("a", "a is lost");
        runThreads();
        lines.write();
        assertThat(threads).isEmpty();
    }

    @Test
    void areWrittenByTheThreadThatIsAtWorkAlready() {
        beforeLine = () -> {
            beforeLine = () -> {};
            tell("a", "a is back");
        };
        tell("a", "a is lost");
        runThreads();
        assertThat(written).containsExactly("a is lost", "a is back");
    }

    @Test
    void waitForTheNextCallIfThereIsNoThread() {
        List<Throwable> failures = new ArrayList<>(List.of(
                new OutOfMemoryError("as the test wants it"), new IllegalStateException("as the test wants it")));
        Lines waiting = new Lines(
                new Log(),
                task -> {
                    throwNext(failures);
                    threads.add(task);
                },
                clock);
        waiting.add("a", Level.WARNING, "a is lost");
        waiting.write();
        clock.advance(Duration.ofSeconds(1));
        waiting.write();
        clock.advance(Duration.ofSeconds(1));
        assertThat(threads).isEmpty();
        waiting.write();
        runThreads();
        assertThat(written).containsExactly("a is lost");
    }

    private static void throwNext(List<Throwable> failures) {
        if (!failures.isEmpty()) {
            Throwable failure = failures.remove(0);
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        }
    }

    /** Each frame comes by here, and the JVM writes two lines for each thread that it could not start. */
    @Test
    void askForAThreadOnceASecondWhileThereIsNone() {
        List<String> asked = new ArrayList<>();
        Lines waiting = new Lines(
                new Log(),
                task -> {
                    asked.add("once more");
                    throw new OutOfMemoryError("as the test wants it");
                },
                clock);
        waiting.add("a", Level.WARNING, "a is lost");
        for (int i = 0; i < 1_000; i++) {
            waiting.write();
            clock.advance(Duration.ofMillis(1));
        }
        assertThat(asked).hasSize(1);
        waiting.write();
        assertThat(asked).hasSize(2);
        waiting.tell(Level.WARNING, "something new", null);
        assertThat(asked).hasSize(3);
    }

    /** A thread that writes may fail for lack of memory, and then the clock cannot be read either. Who comes by carries frames and must go on. */
    @Test
    void areWrittenWhenThereIsMemoryAgain() {
        AtomicBoolean full = new AtomicBoolean();
        AtomicBoolean fills = new AtomicBoolean(true);
        Lines waiting = new Lines(
                new Log(),
                task -> {
                    full.set(fills.get());
                    failIf(full.get());
                    threads.add(task);
                },
                () -> {
                    failIf(full.get());
                    return clock.now();
                });
        waiting.add("a", Level.WARNING, "a is lost");
        assertThatCode(waiting::write).doesNotThrowAnyException();
        clock.advance(Duration.ofSeconds(1));
        assertThatCode(waiting::write).doesNotThrowAnyException();
        fills.set(false);
        full.set(false);
        waiting.write();
        runThreads();
        assertThat(written).containsExactly("a is lost");
    }

    private static void failIf(boolean full) {
        if (full) {
            throw new OutOfMemoryError("as the test wants it");
        }
    }

    @Test
    void areTheLastAboutEachSubjectIfTheLogBlocksForLong() {
        tell("b", "b is lost");
        for (int i = 0; i < 1_000; i++) {
            tell("a", "a " + i);
        }
        runThreads();
        assertThat(written).hasSize(1 + Lines.MOST_EACH).startsWith("b is lost").endsWith("a 999");
    }

    @Test
    void areWrittenAlthoughTheLogFailed() {
        beforeLine = () -> {
            beforeLine = () -> {};
            throw new OutOfMemoryError("as the test wants it");
        };
        tell("a", "a is lost");
        tell("a", "a is back");
        runThreads();
        assertThat(written).containsExactly("a is back");
        tell("a", "a is lost again");
        runThreads();
        assertThat(written).endsWith("a is lost again");
    }

    private void tell(String subject, String text) {
        lines.add(subject, Level.INFO, text);
        lines.write();
    }

    private void runThreads() {
        while (!threads.isEmpty()) {
            threads.remove(0).run();
        }
    }

    private final class Log implements System.Logger {

        @Override
        public String getName() {
            return "test";
        }

        @Override
        public boolean isLoggable(Level level) {
            return true;
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
            log(level, bundle, text, new Object[0]);
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String text, Object... parameters) {
            beforeLine.run();
            written.add(text);
        }
    }
}
