package io.paxoslease.sample;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** One node of a cell of separate processes: it can be started again after it ended, and is looked at from outside only. */
final class NodeProcess implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.shared();
    private static final HttpClient HTTP =
            HttpClient.newBuilder().connectTimeout(Duration.ofMillis(500)).build();

    private final String id;
    private final String url;
    private final Path journal;
    private final Launcher launcher;
    private @Nullable JavaProcess process;

    /** Starts one life of the process. */
    interface Launcher {

        JavaProcess launch() throws IOException;
    }

    NodeProcess(String id, String url, Path directory, List<String> arguments) {
        this(
                id,
                url,
                directory.resolve(id + ".tsv"),
                () -> JavaProcess.startSample(directory.resolve(id + ".log"), arguments));
    }

    NodeProcess(String id, String url, Path journal, Launcher launcher) {
        this.id = id;
        this.url = url;
        this.journal = journal;
        this.launcher = launcher;
    }

    String id() {
        return id;
    }

    Path journal() {
        return journal;
    }

    synchronized void start() throws IOException {
        if (isAlive()) {
            throw new IllegalStateException(id + " runs already");
        }
        startNext();
    }

    /** Starts the next process, whether or not the one before has ended. */
    synchronized void startNext() throws IOException {
        process = launcher.launch();
    }

    synchronized boolean isAlive() {
        return process != null && process.isAlive();
    }

    JavaProcess process() {
        return Objects.requireNonNull(process, "not started");
    }

    /** What its actuator endpoint says now; empty if it does not answer within half a second. */
    Optional<JsonNode> lease() {
        return get("/actuator/lease");
    }

    /** What it says about its health, whatever the HTTP status. */
    Optional<JsonNode> health() {
        return get("/actuator/health");
    }

    String acceptorState() {
        return lease().map(view -> view.path("acceptor").path("state").asString(""))
                .orElse("NONE");
    }

    boolean leads(String lease) {
        return lease().map(view -> leads(view, lease)).orElse(false);
    }

    /** Whether it leads by what its endpoint said. */
    static boolean leads(JsonNode view, String lease) {
        return view.path("leases").path(lease).path("heldHere").asBoolean(false);
    }

    /** Asks it to resign, without waiting for more than the answer. */
    void resign(String lease) {
        send(HttpRequest.newBuilder(URI.create(url + "/actuator/lease/" + lease))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"action\":\"resign\"}")));
    }

    private Optional<JsonNode> get(String path) {
        return send(HttpRequest.newBuilder(URI.create(url + path)));
    }

    private static Optional<JsonNode> send(HttpRequest.Builder request) {
        try {
            HttpResponse<String> answer =
                    HTTP.send(request.timeout(Duration.ofMillis(500)).build(), HttpResponse.BodyHandlers.ofString());
            return Optional.of(JSON.readTree(answer.body()));
        } catch (IOException | JacksonException noAnswer) {
            return Optional.empty();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    @Override
    public synchronized void close() {
        if (process != null) {
            process.close();
        }
    }

    @Override
    public String toString() {
        return id;
    }
}
