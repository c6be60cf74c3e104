package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.RequestHandler.AcceptorState;
import jakarta.servlet.ServletContext;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.support.SpringBootServletInitializer;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.support.WebApplicationContextUtils;

/** An application that is deployed in a server instead of bringing one. */
@Timeout(120)
class WarTests {

    @TempDir
    private Path directory;

    @Test
    void anAcceptorVotesThere() throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(directory.toString());
        tomcat.setPort(0);
        tomcat.getConnector();
        Context war = tomcat.addContext("/app", directory.toString());
        war.addServletContainerInitializer((classes, context) -> new War().onStartup(context), Set.of());
        tomcat.start();
        try {
            ServletContext context = war.getServletContext();
            WebApplicationContext application = WebApplicationContextUtils.getRequiredWebApplicationContext(context);
            LeaseNode node = application.getBean(LeaseNode.class);
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> node.acceptorState() == AcceptorState.VOTING);
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
    }

    private static final class War extends SpringBootServletInitializer {

        @Override
        protected SpringApplicationBuilder configure(SpringApplicationBuilder builder) {
            return builder.sources(Application.class)
                    .properties(Map.of(
                            "paxoslease.node-id", "a",
                            "paxoslease.lease-time", "200ms",
                            "paxoslease.members.a", "http://localhost:1/app",
                            "paxoslease.members.b", "http://localhost:2/app",
                            "paxoslease.members.c", "http://localhost:3/app"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
