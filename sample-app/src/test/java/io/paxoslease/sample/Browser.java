package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A headless Chromium, driven through its DevTools protocol: no driver program and no library are needed. */
final class Browser implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Process process;
    private final WebSocket socket;
    private final AtomicInteger numbers = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> pending = new ConcurrentHashMap<>();
    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
    private final Thread killer;

    /** Where Chromium is, if it is installed. */
    static Optional<Path> installed() {
        return Stream.of("chromium", "chromium-browser", "google-chrome")
                .flatMap(name -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(directory -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    Browser(Path chromium, Path directory) throws IOException, InterruptedException {
        Path profile = Files.createDirectories(directory.resolve("profile"));
        process = new ProcessBuilder(
                        chromium.toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-quic",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--disable-sync",
                        "--disable-dev-shm-usage",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("chromium.log").toFile())
                .start();
        killer = new Thread(this::kill);
        Runtime.getRuntime().addShutdownHook(killer);
        try {
            String port = awaitPort(profile.resolve("DevToolsActivePort"));
            socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .buildAsync(URI.create(pageSocket(port)), new Listener())
                    .join();
        } catch (IOException | InterruptedException | RuntimeException failed) {
            kill();
            throw failed;
        }
        call("Page.enable", Map.of());
        call("Runtime.enable", Map.of());
        call("Log.enable", Map.of());
    }

    private String awaitPort(Path file) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - deadline < 0 && process.isAlive()) {
            if (Files.exists(file)) {
                List<String> lines = Files.readAllLines(file);
                if (lines.size() > 1) {
                    return lines.get(0);
                }
            }
            Thread.sleep(50);
        }
        throw new IOException("Chromium did not start");
    }

    private static String pageSocket(String port) throws IOException, InterruptedException {
        HttpRequest list = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/list"))
                .timeout(PATIENCE)
                .build();
        for (JsonNode target : JSON.readTree(HttpClient.newHttpClient()
                .send(list, HttpResponse.BodyHandlers.ofString())
                .body())) {
            if (target.path("type").asString("").equals("page")) {
                return target.path("webSocketDebuggerUrl").asString("");
            }
        }
        throw new IOException("Chromium has no page");
    }

    private final class Listener implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean last) {
            text.append(data);
            if (last) {
                JsonNode message = JSON.readTree(text.toString());
                text.setLength(0);
                receive(message);
            }
            webSocket.request(1);
            return null;
        }
    }

    private void receive(JsonNode message) {
        CompletableFuture<JsonNode> answer = pending.remove(message.path("id").asInt(-1));
        if (answer != null) {
            answer.complete(message);
        } else if (message.path("method").asString("").equals("Runtime.exceptionThrown")) {
            problems.add(message.path("params").path("exceptionDetails").toString());
        }
    }

    private JsonNode call(String method, Map<String, ?> parameters) {
        int number = numbers.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        pending.put(number, answer);
        socket.sendText(JSON.writeValueAsString(Map.of("id", number, "method", method, "params", parameters)), true)
                .join();
        JsonNode message =
                answer.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        if (message.has("error")) {
            throw new IllegalStateException(method + ": " + message.get("error"));
        }
        return message.path("result");
    }

    /** Exceptions that nobody in the page caught. */
    List<String> problems() {
        return problems;
    }

    void open(String url) {
        call("Page.navigate", Map.of("url", url));
        await("document.readyState === 'complete' && location.href.startsWith('" + url + "')");
    }

    /** The value of an expression in the page. */
    JsonNode eval(String expression) {
        JsonNode result =
                call("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true, "awaitPromise", true));
        if (result.has("exceptionDetails")) {
            throw new IllegalStateException(expression + ": " + result.get("exceptionDetails"));
        }
        return result.path("result").path("value");
    }

    String text(String expression) {
        return eval("String(" + expression + ")").asString("");
    }

    /** Waits until an expression is true. */
    void await(String condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!eval("!!(" + condition + ")").asBoolean(false)) {
            assertThat(System.nanoTime() - deadline)
                    .as("waited %s for %s; the page: %s", PATIENCE, condition, text("document.body.innerText"))
                    .isNegative();
            try {
                Thread.sleep(50);
            } catch (InterruptedException interrupt) {
                throw new IllegalStateException(interrupt);
            }
        }
    }

    /** Clicks with the mouse where the element is, as a user would: what is covered or hidden cannot be clicked. */
    void click(String element) {
        await("(e => e && !e.disabled)(" + element + ")");
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!hits(element)) {
            assertThat(System.nanoTime() - deadline)
                    .as("can be clicked: " + element)
                    .isNegative();
        }
    }

    /** Whether a click arrived: news may move an element just when it is to be clicked. */
    private boolean hits(String element) {
        eval("(e => e.scrollIntoView({block: 'center'}))(" + element + ")");
        JsonNode at = eval("(e => { window.clicked = false;"
                + " e.addEventListener('click', () => window.clicked = true, {once: true, capture: true});"
                + " const r = e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;"
                + " return {x, y, hit: e.contains(document.elementFromPoint(x, y))}; })(" + element + ")");
        if (!at.path("hit").asBoolean(false)) {
            return false;
        }
        for (String type : List.of("mousePressed", "mouseReleased")) {
            call(
                    "Input.dispatchMouseEvent",
                    Map.of(
                            "type",
                            type,
                            "x",
                            at.path("x").asDouble(),
                            "y",
                            at.path("y").asDouble(),
                            "button",
                            "left",
                            "clickCount",
                            1));
        }
        // Where the click led to another page, nothing is known of it any more.
        return !eval("window.clicked === false").asBoolean(false);
    }

    /** Presses a key: {@code Tab} or {@code Enter}. */
    void press(String key) {
        boolean enter = key.equals("Enter");
        Map<String, Object> down = Map.of(
                "type",
                "keyDown",
                "key",
                key,
                "code",
                key,
                "windowsVirtualKeyCode",
                enter ? 13 : 9,
                "text",
                enter ? "\r" : "");
        call("Input.dispatchKeyEvent", down);
        call(
                "Input.dispatchKeyEvent",
                Map.of("type", "keyUp", "key", key, "code", key, "windowsVirtualKeyCode", enter ? 13 : 9));
    }

    void window(int width, int height, boolean dark) {
        call(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
        call(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(
                                Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"),
                                Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
    }

    /** The whole page as an image, also what one would have to scroll to. */
    byte[] screenshot() {
        return Base64.getDecoder()
                .decode(call("Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true))
                        .path("data")
                        .asString(""));
    }

    /** What a screen reader is told: the names of all elements with a role. */
    List<String> namesOf(String role) {
        List<String> names = new ArrayList<>();
        for (JsonNode node : call("Accessibility.getFullAXTree", Map.of()).path("nodes")) {
            if (node.path("role").path("value").asString("").equals(role)
                    && !node.path("ignored").asBoolean(false)) {
                names.add(node.path("name").path("value").asString(""));
            }
        }
        return names;
    }

    private void kill() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    @Override
    public void close() throws InterruptedException {
        socket.abort();
        kill();
        process.waitFor(10, TimeUnit.SECONDS);
        Runtime.getRuntime().removeShutdownHook(killer);
    }
}
