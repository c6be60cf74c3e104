package io.paxoslease.sample;

import io.paxoslease.node.LeaseNode;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import tools.jackson.databind.JsonNode;

/** Asks all nodes what they know and tells it to the pages that are open on this node; idle while there is none. */
@Component
class LiveCell {

    private static final long PERIOD_MILLIS = 400;
    /** After this time the browser connects anew, so that a page that is gone is forgotten. */
    private static final long STREAM_MILLIS = TimeUnit.MINUTES.toMillis(10);

    private final String self;
    private final Members members;
    private final @Nullable DemoCell demo;
    private final List<SseEmitter> pages = new CopyOnWriteArrayList<>();
    private final Map<String, Answer> answers = new ConcurrentHashMap<>();
    private final Map<String, Boolean> asked = new ConcurrentHashMap<>();
    /** Those that have not taken yet what they were told last. */
    private final Set<SseEmitter> busy = ConcurrentHashMap.newKeySet();

    private final ScheduledExecutorService thread;
    private final ExecutorService writers;
    private volatile boolean closed;

    LiveCell(LeaseNode node, Members members, ObjectProvider<DemoCell> demo) {
        this.self = node.incarnation().nodeId();
        this.members = members;
        this.demo = demo.getIfAvailable();
        this.thread = Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "sample-live"));
        this.writers = Executors.newCachedThreadPool(task -> daemon(task, "sample-page"));
        thread.scheduleWithFixedDelay(this::tick, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    private record Answer(@Nullable JsonNode view, long nanos) {}

    /**
     * What a page is told.
     *
     * @param self the node that tells it
     * @param millis its wall clock
     * @param nodes all nodes by id
     * @param delayMillis how long messages are under way in the demo cell, null outside of it
     */
    record Cell(
            String self,
            long millis,
            Map<String, Node> nodes,
            @Nullable Integer delayMillis) {}

    /**
     * What a page is told about one node.
     *
     * @param url its base URL
     * @param view what it answered last, null if it does not answer
     * @param ageMillis how long ago that was, negative if it was not asked yet
     * @param state of the demo cell: see {@link DemoCell#state}; null outside of it
     * @param cut of the demo cell: what of its network is cut; null outside of it
     */
    record Node(
            String url,
            @Nullable JsonNode view,
            long ageMillis,
            @Nullable String state,
            DemoFaults.@Nullable Cut cut) {}

    SseEmitter subscribe() {
        SseEmitter page = new SseEmitter(STREAM_MILLIS);
        page.onCompletion(() -> pages.remove(page));
        page.onTimeout(() -> pages.remove(page));
        page.onError(gone -> pages.remove(page));
        if (closed) {
            page.complete();
        } else {
            pages.add(page);
        }
        return page;
    }

    private void tick() {
        if (pages.isEmpty()) {
            // What was true for the last page is not what the next one is to show first.
            answers.clear();
            return;
        }
        members.urls().forEach(this::ask);
        Cell cell = cell();
        pages.forEach(page -> tell(page, cell));
    }

    /** Every page at its own pace: one that does not read, as where its machine sleeps, takes a minute to be given up and holds up nobody. */
    private void tell(SseEmitter page, Cell cell) {
        if (!busy.add(page)) {
            return;
        }
        writers.execute(() -> {
            try {
                page.send(SseEmitter.event().name("cell").data(cell));
            } catch (IOException | RuntimeException gone) {
                pages.remove(page);
            } finally {
                busy.remove(page);
            }
        });
    }

    /** Every node at its own pace: one that does not answer holds up nobody. */
    private void ask(String id, String url) {
        boolean standsStill = demo != null && !demo.state(id).equals("RUNNING");
        if (standsStill || asked.putIfAbsent(id, true) != null) {
            return;
        }
        members.get(url + "/sample/node").whenComplete((view, failure) -> {
            JsonNode answer = view == null ? null : view.orElse(null);
            answers.put(id, new Answer(answer, System.nanoTime()));
            asked.remove(id);
        });
    }

    private Cell cell() {
        Map<String, Node> nodes = new TreeMap<>();
        members.urls().forEach((id, url) -> {
            Answer answer = answers.get(id);
            String state = demo == null ? null : demo.state(id);
            boolean gone = state != null && !state.equals("RUNNING") && !state.equals("PAUSED");
            nodes.put(
                    id,
                    new Node(
                            url,
                            answer == null || gone ? null : answer.view(),
                            answer == null ? -1 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - answer.nanos()),
                            state,
                            demo == null ? null : demo.faults().of(id).cut()));
        });
        return new Cell(
                self,
                System.currentTimeMillis(),
                nodes,
                demo == null ? null : demo.faults().delayMillis());
    }

    /** An open stream would hold up the web server when it stops. */
    @EventListener(ContextClosedEvent.class)
    void letGo() {
        closed = true;
        // Not here: one that does not read holds up who completes it, too.
        pages.forEach(page -> writers.execute(page::complete));
        pages.clear();
    }

    @PreDestroy
    void stop() {
        thread.shutdownNow();
        writers.shutdownNow();
    }
}
