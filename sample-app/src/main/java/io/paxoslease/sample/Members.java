package io.paxoslease.sample;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.PaxosLeaseProperties;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;
import org.springframework.web.util.UriUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Asks the nodes of the cell over HTTP what they know; a node that does not answer soon is shown as such. */
@Component
class Members {

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    private final JsonMapper json;
    private final PaxosLeaseProperties settings;
    private final LeaseNode node;
    private final Environment environment;

    Members(JsonMapper json, PaxosLeaseProperties settings, LeaseNode node, Environment environment) {
        this.json = json;
        this.settings = settings;
        this.node = node;
        this.environment = environment;
    }

    /**
     * What one node says.
     *
     * @param url its base URL
     * @param lease the answer of its actuator endpoint, null if there is none
     * @param runs its last guarded runs, null if there is no answer
     */
    record View(
            String url, @Nullable JsonNode lease, @Nullable JsonNode runs) {}

    /** The views of all nodes, asked at the same time. */
    Map<String, View> view() {
        Map<String, CompletableFuture<View>> pending = new LinkedHashMap<>();
        urls().forEach((id, url) -> pending.put(
                id,
                get(url + "/actuator/lease")
                        .thenCombine(
                                get(url + "/sample/runs"),
                                (lease, runs) -> new View(url, lease.orElse(null), runs.orElse(null)))));
        Map<String, View> views = new LinkedHashMap<>();
        pending.forEach((id, view) -> views.put(id, view.join()));
        return views;
    }

    /** Sends a resignation to a node; empty if there is no such node or it does not obey. */
    Optional<JsonNode> resign(String nodeId, String leaseName) {
        String url = urls().get(nodeId);
        if (url == null || !isWeb(url)) {
            return Optional.empty();
        }
        String path = "/actuator/lease/" + UriUtils.encodePathSegment(leaseName, StandardCharsets.UTF_8);
        return send(HttpRequest.newBuilder(URI.create(url + path))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString("{\"action\":\"resign\"}")))
                .join();
    }

    /** The base URL of each node. */
    Map<String, String> urls() {
        Map<String, String> urls = new LinkedHashMap<>(settings.members());
        // A standalone node is no member of anything, and one that talks over TCP does not say where its page is; it
        // may look at itself.
        urls.compute(
                node.incarnation().nodeId(),
                (self, url) -> url != null && isWeb(url)
                        ? url
                        : "http://localhost:" + environment.getProperty("local.server.port", "8080"));
        return urls;
    }

    private static boolean isWeb(String url) {
        return url.startsWith("http");
    }

    /** The JSON behind a URL, empty if there is none soon. */
    CompletableFuture<Optional<JsonNode>> get(String url) {
        return isWeb(url)
                ? send(HttpRequest.newBuilder(URI.create(url)))
                : CompletableFuture.completedFuture(Optional.empty());
    }

    private CompletableFuture<Optional<JsonNode>> send(HttpRequest.Builder request) {
        return http.sendAsync(request.timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofString())
                .thenApply(answer -> answer.statusCode() / 100 == 2
                        ? Optional.of(json.readTree(answer.body().isEmpty() ? "{}" : answer.body()))
                        : Optional.<JsonNode>empty())
                .exceptionally(failure -> Optional.empty());
    }
}
