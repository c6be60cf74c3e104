package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaseManager;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.NestedExceptionUtils;

/** An application without Reactor on its class path. */
class WithoutReactorTests {

    /** Runs in a class loader of its own. */
    public static final class Application {

        public static class Jobs {
            @LeaderOnly("jobs")
            public String run() {
                return "ran";
            }
        }

        public static class Publishing {
            @LeaderOnly("jobs")
            public Flow.Publisher<String> run() {
                throw new UnsupportedOperationException();
            }
        }

        public static String guard() {
            try (AnnotationConfigApplicationContext context = start(Jobs.class)) {
                Jobs jobs = context.getBean(Jobs.class);
                String follower = jobs.run();
                ((FakeLeases) context.getBean(LeaseManager.class)).lead("jobs");
                return follower + " " + jobs.run();
            }
        }

        public static String publish() {
            try (AnnotationConfigApplicationContext context = start(Publishing.class)) {
                return "started " + context.getBeanDefinitionCount();
            } catch (RuntimeException failure) {
                return String.valueOf(
                        NestedExceptionUtils.getMostSpecificCause(failure).getMessage());
            }
        }

        private static AnnotationConfigApplicationContext start(Class<?> bean) {
            return new AnnotationConfigApplicationContext(
                    PaxosLeaseInterceptionAutoConfiguration.class, FakeLeases.class, bean);
        }
    }

    private static Object run(String method) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!entry.contains("reactor") && !entry.contains("reactive-streams")) {
                urls.add(new File(entry).toURI().toURL());
            }
        }
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            thread.setContextClassLoader(loader);
            return loader.loadClass(Application.class.getName())
                    .getMethod(method)
                    .invoke(null);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Test
    void guardsWhatIsNotReactive() throws Exception {
        assertThat(run("guard")).isEqualTo("null ran");
    }

    @Test
    void refusesPublishers() throws Exception {
        assertThat(run("publish").toString()).contains("io.projectreactor:reactor-core");
    }
}
