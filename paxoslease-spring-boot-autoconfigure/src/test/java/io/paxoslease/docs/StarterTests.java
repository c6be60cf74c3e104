package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What an application gets with the starter and did not ask for: nothing but this project, Spring MVC and the actuator. */
class StarterTests {

    @Test
    void theStarterBringsTheWebStarterAndTheActuatorOnly() {
        assertThat(brings("paxoslease-spring-boot-starter"))
                .containsExactlyInAnyOrder(
                        "io.paxoslease:paxoslease-spring-boot-autoconfigure",
                        "org.springframework.boot:spring-boot-starter-webmvc",
                        "org.springframework.boot:spring-boot-starter-actuator");
    }

    @Test
    void theAutoconfigurationBringsNoAdaptersLibrary() {
        assertThat(brings("paxoslease-spring-boot-autoconfigure"))
                .containsExactlyInAnyOrder(
                        "io.paxoslease:paxoslease-core",
                        "org.springframework.boot:spring-boot-autoconfigure",
                        "org.jspecify:jspecify");
    }

    @Test
    void theCoreBringsAnnotationsOnly() {
        assertThat(brings("paxoslease-core")).containsExactly("org.jspecify:jspecify");
    }

    @Test
    void theStarterAddsTwoJarsToTheStartersOfSpringBoot() {
        Set<String> added = new TreeSet<>(new RuntimeTree("io.paxoslease:paxoslease-spring-boot-starter").ids());
        added.removeAll(new RuntimeTree("org.springframework.boot:spring-boot-starter-webmvc").ids());
        added.removeAll(new RuntimeTree("org.springframework.boot:spring-boot-starter-actuator").ids());

        assertThat(added)
                .containsExactly(
                        "io.paxoslease:paxoslease-core",
                        "io.paxoslease:paxoslease-spring-boot-autoconfigure",
                        "io.paxoslease:paxoslease-spring-boot-starter");
    }

    @Test
    void theTreeOfTheStarterIsAsTheSecurityPageShowsIt() {
        assertThat(Documents.blocks("docs/security.md"))
                .filteredOn(block -> block.text().startsWith("io.paxoslease:"))
                .singleElement()
                .extracting(Documents.Block::text)
                .isEqualTo(new RuntimeTree("io.paxoslease:paxoslease-spring-boot-starter").toString());
    }

    private static List<String> brings(String module) {
        return RuntimeTree.dependencies("io.paxoslease:" + module).stream()
                .map(RuntimeTree.Dependency::id)
                .toList();
    }
}
