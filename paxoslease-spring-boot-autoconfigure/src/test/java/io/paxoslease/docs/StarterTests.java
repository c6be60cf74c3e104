package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** What an application gets with the starter and did not ask for: nothing but this project, Spring MVC and the actuator. */
class StarterTests {

    @Test
    void theStarterBringsTheWebStarterAndTheActuatorOnly() throws Exception {
        assertThat(brings("paxoslease-spring-boot-starter"))
                .containsExactlyInAnyOrder(
                        "io.paxoslease:paxoslease-spring-boot-autoconfigure",
                        "org.springframework.boot:spring-boot-starter-webmvc",
                        "org.springframework.boot:spring-boot-starter-actuator");
    }

    @Test
    void theAutoconfigurationBringsNoAdaptersLibrary() throws Exception {
        assertThat(brings("paxoslease-spring-boot-autoconfigure"))
                .containsExactlyInAnyOrder(
                        "io.paxoslease:paxoslease-core",
                        "org.springframework.boot:spring-boot-autoconfigure",
                        "org.jspecify:jspecify");
    }

    @Test
    void theCoreBringsAnnotationsOnly() throws Exception {
        assertThat(brings("paxoslease-core")).containsExactly("org.jspecify:jspecify");
    }

    /** The dependencies that a user of a module inherits. */
    private static List<String> brings(String module) throws Exception {
        Path pom = Documents.ROOT.resolve(module).resolve("pom.xml");
        Element project = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(pom.toFile())
                .getDocumentElement();
        List<String> inherited = new ArrayList<>();
        NodeList dependencies = project.getElementsByTagName("dependency");
        for (int i = 0; i < dependencies.getLength(); i++) {
            Element dependency = (Element) dependencies.item(i);
            String scope = text(dependency, "scope");
            boolean own = dependency.getParentNode().getParentNode() == project;
            if (own
                    && !text(dependency, "optional").equals("true")
                    && (scope.isEmpty() || scope.equals("compile") || scope.equals("runtime"))) {
                inherited.add(text(dependency, "groupId") + ":" + text(dependency, "artifactId"));
            }
        }
        return inherited;
    }

    private static String text(Element element, String name) {
        NodeList found = element.getElementsByTagName(name);
        return found.getLength() == 0 ? "" : found.item(0).getTextContent().strip();
    }
}
