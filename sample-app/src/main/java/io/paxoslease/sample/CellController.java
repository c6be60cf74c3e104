package io.paxoslease.sample;

import java.util.List;
import java.util.Map;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import tools.jackson.databind.JsonNode;

/** What the status page asks for: everything from one origin, also what other nodes know. */
@RestController
@RequestMapping("/sample")
class CellController {

    private final GuardedRuns runs;
    private final Members members;
    private final NodeViews node;
    private final LiveCell live;

    CellController(GuardedRuns runs, Members members, NodeViews node, LiveCell live) {
        this.runs = runs;
        this.members = members;
        this.node = node;
        this.live = live;
    }

    /** What the page shows of this node. */
    @GetMapping("/node")
    NodeViews.View node() {
        return node.view();
    }

    /** What the page shows of the cell, several times a second. */
    @GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter events() {
        return live.subscribe();
    }

    /** The last runs on this node. */
    @GetMapping("/runs")
    List<GuardedRuns.Summary> runs() {
        return runs.last();
    }

    /** What each node of the cell says about itself. */
    @GetMapping("/cell")
    Map<String, Members.View> cell() {
        return members.view();
    }

    /** Asks the node that leads to resign. Only JSON is accepted, so that a page of another origin cannot send it unasked. */
    @PostMapping(path = "/leases/{name}/resign", consumes = MediaType.APPLICATION_JSON_VALUE)
    ResponseEntity<JsonNode> resign(@PathVariable String name, @RequestParam String node) {
        return members.resign(node, name)
                .map(answer -> ResponseEntity.ok(answer))
                .orElseGet(() -> ResponseEntity.badRequest().build());
    }
}
