package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.HeardLog;
import io.paxoslease.node.Dispatcher.Task;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BacklogTests {

    private static final Task A1 = task("a");
    private static final Task A2 = task("a");
    private static final Task B1 = task("b");
    private static final Task B2 = task("b");
    private static final Task FREE = new Task(null, () -> {});

    private long now;
    private final Backlog backlog = new Backlog(() -> now);

    private static Task task(String key) {
        return new Task(key, () -> assertThat(key).isNotNull());
    }

    @Test
    void comesInTheOrderInWhichItWasGiven() {
        backlog.add(List.of(A1, B1));
        backlog.add(List.of());
        backlog.add(List.of(A2));
        assertThat(backlog.poll()).isSameAs(A1);
        assertThat(backlog.poll()).isSameAs(B1);
        assertThat(backlog.isEmpty()).isFalse();
        assertThat(backlog.poll()).isSameAs(A2);
        assertThat(backlog.isEmpty()).isTrue();
        assertThat(backlog.poll()).isNull();
    }

    @Test
    void whatIsAddedFirstComesBeforeTheRestOfAListThatHasBegun() {
        Runnable urgent = () -> {};
        backlog.add(List.of(A1, A2));
        backlog.poll();
        backlog.addFirst(urgent);
        assertThat(backlog.poll()).isEqualTo(new Task(null, urgent));
        assertThat(backlog.poll()).isSameAs(A2);
    }

    @Test
    void whatComesForADeferredKeyIsPassedOverAndKeptInOrder() {
        backlog.defer("a");
        backlog.add(List.of(A1, B1, FREE, A2, B2));
        assertThat(backlog.poll()).isSameAs(B1);
        assertThat(backlog.poll()).isSameAs(FREE);
        assertThat(backlog.poll()).isSameAs(B2);
        assertThat(backlog.pollDeferred("a")).isSameAs(A1);
        assertThat(backlog.pollDeferred("a")).isSameAs(A2);
    }

    @Test
    void aKeyIsDeferredUntilNothingWaitsForItsWorker() {
        backlog.defer("a");
        backlog.add(List.of(A1));
        assertThat(backlog.poll()).isNull();
        assertThat(backlog.pollDeferred("a")).isSameAs(A1);
        backlog.add(List.of(A2));
        assertThat(backlog.poll()).as("the worker is busy with the one before").isNull();
        assertThat(backlog.pollDeferred("a")).isSameAs(A2);
        assertThat(backlog.pollDeferred("a")).isNull();
        backlog.add(List.of(A1));
        assertThat(backlog.poll()).isSameAs(A1);
    }

    @Test
    void nothingIsDeferredWithoutAKey() {
        backlog.defer(null);
        backlog.add(List.of(FREE));
        assertThat(backlog.poll()).isSameAs(FREE);
        assertThat(backlog.pollDeferred(null)).isNull();
        assertThat(backlog.pollDeferred("a")).isNull();
    }

    /** As where nobody reads the standard output for days. */
    @Test
    void ofTheLinesForALogThatBlocksTheOldestGo() {
        List<Task> lines = Stream.generate(() -> task(Dispatcher.LOG_KEY))
                .limit(Backlog.MOST_LINES + 3L)
                .toList();
        List<String> written = new ArrayList<>();
        backlog.defer(Dispatcher.LOG_KEY);
        backlog.add(lines);
        assertThat(backlog.poll()).isNull();
        try (HeardLog log = new HeardLog(Dispatcher.class, line -> written.add(line.getMessage()))) {
            backlog.pollDeferred(Dispatcher.LOG_KEY).code().run();
        }
        assertThat(written)
                .containsExactly("3 older lines of the node were dropped, because the log took none for so long");
        for (Task line : lines.subList(3, lines.size())) {
            assertThat(backlog.pollDeferred(Dispatcher.LOG_KEY) == line).isTrue();
        }
        assertThat(backlog.pollDeferred(Dispatcher.LOG_KEY)).isNull();
    }

    @Test
    void aWarningComesForManyThatWaitLongAndAgainForTwiceAsMany() {
        backlog.defer("a");
        now += Backlog.LONG_NANOS;
        backlog.add(Collections.nCopies(4 * Backlog.WORTH_A_WARNING - 1, A1));
        assertThat(backlog.poll()).extracting(Task::key).isNull();
        assertThat(backlog.poll()).extracting(Task::key).isNull();
        assertThat(backlog.poll()).isNull();
    }

    @Test
    void noWarningComesForManyThatWaitAnInstant() {
        backlog.defer("a");
        now += Backlog.LONG_NANOS - 1;
        backlog.add(Collections.nCopies(4 * Backlog.WORTH_A_WARNING, A1));
        assertThat(backlog.poll()).isNull();
    }

    /** It has much to do, but is not stuck. */
    @Test
    void noWarningComesWhileTheWorkerGoesOn() {
        backlog.defer("a");
        for (int i = 0; i < 4 * Backlog.WORTH_A_WARNING; i++) {
            now += Backlog.LONG_NANOS - 1;
            backlog.add(List.of(A1, A2));
            assertThat(backlog.poll()).isNull();
            assertThat(backlog.pollDeferred("a")).isNotNull();
        }
        now += Backlog.LONG_NANOS;
        backlog.add(List.of(A1));
        assertThat(backlog.poll()).as("stuck").extracting(Task::key).isNull();
    }
}
