package io.paxoslease.spring;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import org.junit.jupiter.api.Test;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

class NotLeaderExceptionTests {

    @RestController
    static class Controller {
        @GetMapping("/report")
        String report() {
            throw new NotLeaderException("reports", "a", "b", "This node does not lead");
        }
    }

    @Test
    void leavesAControllerAsServiceUnavailable() throws Exception {
        MockMvcBuilders.standaloneSetup(new Controller())
                .build()
                .perform(get("/report"))
                .andExpect(status().isServiceUnavailable());
    }

    @Test
    void leavesAControllerOfWebFluxAsServiceUnavailable() {
        WebTestClient.bindToController(new Controller())
                .build()
                .get()
                .uri("/report")
                .exchange()
                .expectStatus()
                .isEqualTo(503);
    }
}
