package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.HeardLog;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class NewsTests {

    private static final Cell CELL = new Cell("cell", List.of("n"));

    /** Neither a thread could be had, nor memory for a line about that. */
    @Test
    void areToldLaterIfHandingThemOverFailed() {
        AtomicBoolean scarce = new AtomicBoolean(true);
        ThreadFactory threads = Dispatcher.threadsOf("test");
        List<String> told = new CopyOnWriteArrayList<>();
        try (LeaseNode node = new LeaseNode(
                        NodeSettings.standalone("n", Duration.ofSeconds(10)),
                        new NoTransport(),
                        new SplittableRandom(1));
                Dispatcher dispatcher = new Dispatcher(1, task -> {
                    if (scarce.getAndSet(false)) {
                        throw new OutOfMemoryError("unable to create native thread, as the test wants it");
                    }
                    return threads.newThread(task);
                })) {
            News news = new News(node, CELL, NodeClock.SYSTEM, dispatcher);
            news.addListener(transition -> told.add(transition.leaseName()));
            tell("first", news);
            try (HeardLog full = new HeardLog(Dispatcher.class, NewsTests::full)) {
                // It must not throw: with the news come the answers of those who wait.
                news.dispatch();
            }
            tell("second", news);
            news.dispatch();
            tell("third", news);
            news.dispatch();
            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
        }
        assertThat(told).containsExactly("first", "second", "third");
    }

    /** Whoever tells has the lock of the node, and a log may block. */
    @Test
    void whatCannotBeToldIsLeftToOthersToLog() {
        List<Runnable> answers = new ArrayList<>();
        try (LeaseNode node = new LeaseNode(
                        NodeSettings.standalone("n", Duration.ofSeconds(10)),
                        new NoTransport(),
                        new SplittableRandom(1));
                Dispatcher dispatcher = new Dispatcher("test")) {
            News news = new News(node, CELL, NodeClock.SYSTEM, dispatcher);
            List<String> told = new CopyOnWriteArrayList<>();
            news.addListener(transition -> told.add(transition.leaseName()));
            Output output = new Output();
            output.notices.add(new Notice.Unavailable(null, "no claim"));
            output.notices.add(new Notice.LeaderChanged("second", new Incarnation("n2", 2)));

            assertThat(news.tellTheRest(output, new Now(0, 0), answers)).isInstanceOf(NullPointerException.class);

            news.dispatch();
            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            assertThat(told).containsExactly("second");
        }
    }

    private static void tell(String lease, News news) {
        Output output = new Output();
        output.notices.add(new Notice.LeaderChanged(lease, new Incarnation("n2", 2)));
        news.tell(output, new Now(0, 0), new ArrayList<>());
    }

    /** Whoever writes the log finds no memory for it. */
    static void full(LogRecord line) {
        throw new OutOfMemoryError("as the test wants it");
    }
}
