package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.bounded.FreePorts;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The dashboard and the alerts of {@code docs/monitoring} ask for what two running applications expose to Prometheus. */
@Timeout(180)
class MonitoringTests {

    private static final String ALERTS = "docs/monitoring/alerts.yaml";
    private static final String DASHBOARD = "docs/monitoring/grafana-dashboard.json";

    private static final Pattern EXPOSED = Pattern.compile("(?m)^(paxoslease_\\w+)(?:\\{([^}]*)})? ");
    private static final Pattern SELECTOR = Pattern.compile("\\b(paxoslease_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+) *(?:=~|!=|!~|=) *\"([^\"]*)\"");
    private static final Pattern GROUPING = Pattern.compile("\\b(?:by|on|without) \\(([^)]*)\\)");
    private static final Pattern SHOWN = Pattern.compile("\\{\\{ *(?:\\$labels\\.)?(\\w+) *}}");
    private static final Pattern ALERT_ROW = Pattern.compile("(?m)^\\| `(PaxosLease\\w+)` \\|");

    /** What Prometheus adds to every series. */
    private static final Set<String> OF_PROMETHEUS = Set.of("job", "instance");

    /** By the name of a series the names of its labels. */
    private static final Map<String, Set<String>> SERIES = new TreeMap<>();

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Job job() {
            return new Job();
        }
    }

    static class Job {
        @LeaderOnly("job")
        public void run() {}
    }

    @BeforeAll
    static void runTwoApplications() throws IOException {
        List<ConfigurableApplicationContext> applications = new ArrayList<>();
        int[] ports = FreePorts.take(2);
        try {
            for (int i = 0; i < ports.length; i++) {
                applications.add(new SpringApplicationBuilder(App.class)
                        .web(WebApplicationType.SERVLET)
                        .run(
                                "--spring.main.banner-mode=off",
                                "--logging.level.root=warn",
                                "--server.port=" + ports[i],
                                "--paxoslease.lease-time=2s",
                                "--paxoslease.node-id=n" + i,
                                "--paxoslease.members.n0=http://localhost:" + ports[0],
                                "--paxoslease.members.n1=http://localhost:" + ports[1]));
            }
            await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
                for (ConfigurableApplicationContext application : applications) {
                    application.getBean(Job.class).run();
                    scrape(application);
                }
                assertThat(SERIES)
                        .containsKeys(
                                "paxoslease_extend_seconds_count",
                                "paxoslease_leaderonly_calls_total",
                                "paxoslease_round_trip_seconds_count");
            });
            await().until(() -> applications.stream()
                    .anyMatch(application -> application
                            .getBean(LeaseManager.class)
                            .election("job")
                            .isLeader()));
        } finally {
            applications.forEach(ConfigurableApplicationContext::close);
        }
    }

    private static void scrape(ConfigurableApplicationContext application) {
        Matcher series = EXPOSED.matcher(
                application.getBean(PrometheusMeterRegistry.class).scrape());
        while (series.find()) {
            Set<String> labels = SERIES.computeIfAbsent(series.group(1), name -> new TreeSet<>());
            Matcher label = MATCHER.matcher(series.group(2) == null ? "" : series.group(2));
            while (label.find()) {
                labels.add(label.group(1));
            }
        }
    }

    @Test
    void theAlertsAskForWhatIsExposed() {
        List<Map<String, ?>> alerts = alerts();
        assertThat(alerts).hasSizeGreaterThan(5);
        List<String> wrong = new ArrayList<>();
        for (Map<String, ?> alert : alerts) {
            String expression = String.valueOf(alert.get("expr"));
            assertThat(String.valueOf(alert.get("for"))).matches("null|\\d+[smh]");
            check(expression, String.valueOf(alert.get("annotations")).replace("{{ $value }}", ""), wrong);
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void theDashboardAsksForWhatIsExposed() {
        JsonNode dashboard = JsonMapper.shared().readTree(Documents.read(DASHBOARD));
        List<String> wrong = new ArrayList<>();
        Set<Integer> ids = new HashSet<>();
        StringBuilder all = new StringBuilder();
        for (JsonNode panel : dashboard.get("panels")) {
            assertThat(ids.add(panel.get("id").asInt())).isTrue();
            assertThat(panel.get("targets")).isNotEmpty();
            for (JsonNode target : panel.get("targets")) {
                check(target.get("expr").asString(), target.get("legendFormat").asString(), wrong);
                all.append(target.get("expr").asString()).append('\n');
            }
        }
        for (JsonNode variable : dashboard.get("templating").get("list")) {
            if (variable.get("type").asString().equals("query")) {
                String query = variable.get("query").get("query").asString();
                check(query, "{{" + query.replaceAll(".*, *(\\w+)\\)$", "$1") + "}}", wrong);
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(OperationsPageTests.metersInSources())
                .as("every meter has its place")
                .allMatch(meter -> all.indexOf(meter.replace('.', '_')) >= 0);
    }

    @Test
    void theOperationsPageExplainsEveryAlert() {
        List<String> explained = ALERT_ROW
                .matcher(Documents.read("docs/operations.md"))
                .results()
                .map(row -> row.group(1))
                .toList();
        assertThat(explained)
                .containsExactlyElementsOf(alerts().stream()
                        .map(alert -> String.valueOf(alert.get("alert")))
                        .toList());
    }

    private static void check(String expression, String shown, List<String> wrong) {
        assertThat(expression.chars().filter(each -> each == '(').count())
                .as(expression)
                .isEqualTo(expression.chars().filter(each -> each == ')').count());
        Set<String> labels = new TreeSet<>(OF_PROMETHEUS);
        Matcher selector = SELECTOR.matcher(expression);
        int selectors = 0;
        while (selector.find()) {
            selectors++;
            Set<String> own = SERIES.get(selector.group(1));
            if (own == null) {
                wrong.add(selector.group(1) + " in " + expression);
                continue;
            }
            labels.addAll(own);
            Matcher matcher = MATCHER.matcher(selector.group(2) == null ? "" : selector.group(2));
            while (matcher.find()) {
                if (!own.contains(matcher.group(1)) && !OF_PROMETHEUS.contains(matcher.group(1))) {
                    wrong.add("label " + matcher.group(1) + " of " + selector.group());
                }
                if (matcher.group(1).equals("lease")) {
                    continue; // The names of leases are the application's.
                }
                Arrays.stream(matcher.group(2).split("\\|"))
                        .filter(value -> !value.startsWith("$") && !isKnown(value))
                        .forEach(value -> wrong.add("value " + value + " of " + selector.group()));
            }
        }
        if (selectors == 0) {
            wrong.add("no series in " + expression);
        }
        GROUPING.matcher(expression)
                .results()
                .flatMap(grouping -> Arrays.stream(grouping.group(1).split(", *")))
                .filter(label -> !labels.contains(label))
                .forEach(label -> wrong.add("label " + label + " in " + expression));
        SHOWN.matcher(shown)
                .results()
                .map(label -> label.group(1))
                .filter(label -> !labels.contains(label))
                .forEach(label -> wrong.add("label " + label + " is shown of " + expression));
    }

    /** Whether a kind of transition or of refusal has this name, or a class that counts has this word. */
    private static boolean isKnown(String value) {
        return Stream.<Enum<?>[]>of(LeaseTransition.Kind.values(), Acceptor.Refusal.values())
                        .flatMap(Arrays::stream)
                        .anyMatch(kind -> kind.name().toLowerCase(Locale.ROOT).equals(value))
                || Documents.sources().entrySet().stream()
                        .filter(source -> source.getKey().matches(".*/src/main/.*/(wire|actuate)/.*"))
                        .anyMatch(source -> Documents.read(source.getValue()).contains('"' + value + '"'));
    }

    private static List<Map<String, ?>> alerts() {
        Map<String, List<Map<String, List<Map<String, ?>>>>> file = new Yaml().load(Documents.read(ALERTS));
        return file.get("groups").stream()
                .flatMap(group -> group.get("rules").stream())
                .toList();
    }
}
