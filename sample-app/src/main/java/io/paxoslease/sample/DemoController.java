package io.paxoslease.sample;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Breaks and mends the nodes of the demo cell, through any of them. Only JSON is accepted, so that a page of another origin cannot do it. */
@RestController
@Profile(DemoCell.PROFILE)
@RequestMapping(path = "/sample/demo", consumes = MediaType.APPLICATION_JSON_VALUE)
class DemoController {

    private final DemoCell cell;

    DemoController(DemoCell cell) {
        this.cell = cell;
    }

    /** {@code pause}, {@code resume}, {@code cut}, {@code cut-in}, {@code cut-out}, {@code join}, {@code kill} or {@code restart}. */
    @PostMapping("/nodes/{node}/{action}")
    ResponseEntity<Void> act(@PathVariable String node, @PathVariable String action) {
        if (!cell.nodeIds().contains(node)) {
            return ResponseEntity.notFound().build();
        }
        boolean done = true;
        switch (action) {
            case "pause" -> done = cell.pause(node);
            case "resume" -> cell.resume(node);
            case "cut" -> cell.cut(node, DemoFaults.Cut.BOTH);
            case "cut-in" -> cell.cut(node, DemoFaults.Cut.IN);
            case "cut-out" -> cell.cut(node, DemoFaults.Cut.OUT);
            case "join" -> cell.cut(node, DemoFaults.Cut.NONE);
            case "kill" -> done = cell.kill(node);
            case "restart" -> done = cell.restart(node);
            default -> {
                return ResponseEntity.badRequest().build();
            }
        }
        return ResponseEntity.status(done ? HttpStatus.ACCEPTED : HttpStatus.CONFLICT)
                .build();
    }

    /** Delays every message between nodes, each way. */
    @PostMapping("/network")
    ResponseEntity<Void> network(@RequestParam int delayMillis) {
        cell.faults().delay(delayMillis);
        return ResponseEntity.accepted().build();
    }
}
