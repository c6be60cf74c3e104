package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.mock.env.MockEnvironment;

/**
 * The page of the demo cell as a user meets it, in a real browser: every control, and what a phone, a keyboard and a screen reader make
 * of it. Skipped where there is no Chromium, unless {@code PAXOSLEASE_BROWSER=required}.
 */
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DemoPageIT {

    /** Written there with {@code -Dpaxoslease.images=true}; all images are in {@code target/screenshots}. */
    private static final Set<String> IN_THE_DOCUMENTS = Set.of("cell-light", "node-light");

    @TempDir
    static Path directory;

    private static int basePort;
    private static DemoCell cell;
    private static Browser browser;

    @BeforeAll
    static void openPage() throws IOException, InterruptedException {
        Optional<Path> chromium = Browser.installed();
        assumeTrue(
                chromium.isPresent() || "required".equals(System.getenv("PAXOSLEASE_BROWSER")),
                "there is no Chromium here");
        basePort = Ports.freeRow(3);
        cell = DemoCell.start(
                new MockEnvironment().withProperty(DemoCell.BASE_PORT, String.valueOf(basePort)),
                "--paxoslease.lease-time=4s",
                "--sample.invoices.rate=1s",
                "--sample.report.rate=2s",
                "--sample.cleanup.rate=3s");
        cell.awaitLeaders();
        browser = new Browser(chromium.orElseThrow(), directory);
        browser.window(1200, 900, false);
        browser.open("http://localhost:" + basePort + "/");
    }

    @AfterAll
    static void close() throws InterruptedException {
        if (browser != null) {
            browser.close();
        }
        if (cell != null) {
            cell.close();
        }
    }

    @BeforeEach
    void everythingIsWell() {
        browser.window(1200, 900, false);
        // A test that failed leaves nothing broken to the next one.
        cell.nodeIds().stream()
                .filter(id -> cell.faults().of(id).alive())
                .forEach(id -> cell.faults().set(id, DemoFaults.NodeState.FINE));
        cell.nodeIds().stream().filter(id -> cell.state(id).equals("DOWN")).forEach(cell::restart);
        cell.faults().delay(0);
        awaitCalm();
    }

    @AfterEach
    void nothingWasViolated() {
        assertThat(browser.problems()).isEmpty();
        assertThat(browser.text("document.getElementById('verdict').textContent"))
                .startsWith("Never two leaders at once");
    }

    private static void awaitCalm() {
        browser.await("document.querySelectorAll('.node .state.good').length === 3");
        browser.await("document.querySelectorAll('.lease .badge.leader').length === 3");
        browser.await("[...document.querySelectorAll('.node dl')].every(l => l.innerText.includes('2 of 2 others'))");
    }

    private static String node(String id) {
        return "document.querySelector('.node[data-key=" + id + "]')";
    }

    private static String control(String id, String action) {
        return node(id) + ".querySelector('[data-does=" + action + "]')";
    }

    private static String lease(String name) {
        return "document.querySelector('.lease[data-key=" + name + "]')";
    }

    private static String leader(String name) {
        return browser.text(lease(name) + ".querySelector('.badge').textContent");
    }

    private static String state(String id) {
        return node(id) + ".querySelector('.state').textContent";
    }

    @Test
    @Order(1)
    void showsNodesLeasesTimelineAndMessages() {
        assertThat(browser.eval("document.querySelectorAll('.node').length").asInt())
                .isEqualTo(3);
        assertThat(browser.text(lease("invoices") + ".innerText")).contains("s left", "token", "extensions");
        browser.await("document.querySelectorAll('#timeline rect.tenure').length >= 3");
        browser.await("document.querySelectorAll('#timeline circle').length >= 2");
        browser.await("document.querySelectorAll('#round .propose').length >= 2");
        browser.await("document.querySelectorAll('#round .accepted').length >= 1");
        assertThat(browser.text("document.getElementById('round-words').textContent"))
                .contains("asks", "promises", "proposes itself", "accepts");
        browser.await("document.querySelectorAll('#runs tr').length >= 2");
    }

    @Test
    @Order(3)
    void resignMovesALease() {
        for (String name : List.of("invoices", "report", "cleanup")) {
            String old = leader(name);
            browser.click(lease(name) + ".querySelector('button')");
            browser.await(lease(name) + ".querySelector('.badge.leader') && " + lease(name)
                    + ".querySelector('.badge').textContent !== '" + old + "'");
        }
        browser.await("document.getElementById('news').textContent.includes(' leads ')");
    }

    @Test
    @Order(4)
    void aPausedLeaderIsReplacedAndComesBackAsFollower() {
        String old = leader("invoices");
        browser.click(control(old, "pause"));
        browser.await(state(old) + " === 'PAUSED'");
        browser.await(lease("invoices") + ".querySelector('.badge.leader') && " + lease("invoices")
                + ".querySelector('.badge').textContent !== '" + old + "'");
        browser.click(control(old, "pause"));
        browser.await(state(old) + " === 'VOTING'");
    }

    @Test
    @Order(5)
    void aNodeCanBeCutOffInEachDirection() {
        for (String action : List.of("cut", "cut-in", "cut-out")) {
            browser.click(control("node-3", action));
            browser.await(control("node-3", action) + ".getAttribute('aria-pressed') === 'true'");
            browser.await(node("node-3") + ".innerText.includes('0 of 2 others')");
            browser.await("[...document.querySelectorAll('.lease .badge.leader')]"
                    + ".filter(b => b.textContent !== 'node-3').length === 3");
            browser.click(control("node-3", action));
            browser.await(control("node-3", action) + ".getAttribute('aria-pressed') === 'false'");
            awaitCalm();
        }
    }

    @Test
    @Order(6)
    void theNetworkCanBeSlowedDown() {
        for (String millis : List.of("120", "40", "0")) {
            browser.click("document.querySelector('[data-delay=\"" + millis + "\"]')");
            browser.await("document.querySelector('[data-delay=\"" + millis
                    + "\"]').getAttribute('aria-pressed') === 'true'");
            browser.await("links('node-1').trip > " + Integer.parseInt(millis) / 1000.0);
        }
        assertThat(cell.faults().delayMillis()).isZero();
    }

    @Test
    @Order(7)
    void aRoundCanBeHeldAndChosen() {
        browser.eval("document.getElementById('round-lease').value = 'report'");
        browser.eval("document.getElementById('round-lease').onchange()");
        browser.await("document.getElementById('round-summary').textContent.includes('report')");
        browser.click("document.getElementById('round-hold')");
        String held = browser.text("document.getElementById('round-summary').textContent");
        int extensions = browser.eval("+" + lease("report") + ".querySelector('.extensions span').textContent")
                .asInt();
        browser.await("+" + lease("report") + ".querySelector('.extensions span').textContent > " + extensions);
        assertThat(browser.text("document.getElementById('round-summary').textContent"))
                .isEqualTo(held);
        browser.click("document.getElementById('round-hold')");
        browser.await("document.getElementById('round-summary').textContent !== " + quoted(held));
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "\\'") + "'";
    }

    @Test
    @Order(8)
    void aKilledNodeIsSilentAfterItsRestartAndThePageMovesOn() {
        String via = browser.text("document.body.dataset.via");
        browser.click(control(via, "kill"));
        browser.await("document.body.dataset.via !== '" + via + "'");
        browser.await(state(via) + " === 'DOWN'");
        browser.await("document.querySelectorAll('.lease .badge.leader').length === 3");
        browser.click(control(via, "kill"));
        browser.await(state(via) + " === 'QUARANTINED'");
        assertThat(browser.text(node(via) + ".innerText")).contains("Silent for");
        browser.await(state(via) + " === 'VOTING'");
        browser.await("+" + lease("invoices") + ".querySelector('.extensions span').textContent >= 0");
    }

    @Test
    @Order(9)
    void theLastNodeCannotBeKilledSoThatTheOthersCanBeRestarted() {
        for (String id : List.of("node-1", "node-2")) {
            browser.click(control(id, "kill"));
            browser.await(state(id) + " === 'DOWN'");
        }
        browser.await("document.querySelectorAll('.lease .badge.leader').length === 0");
        browser.click(control("node-3", "kill"));
        browser.await("document.getElementById('news').textContent.includes('refused: kill')");
        browser.await(state("node-3") + " === 'VOTING'");
        for (String id : List.of("node-1", "node-2")) {
            assertThat(cell.restart(id)).isTrue();
        }
        awaitCalm();
    }

    @Test
    @Order(10)
    void worksByKeyboard() {
        // Else the first Tab goes on behind the control that was clicked last.
        browser.eval("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')");
        int controls = browser.eval("document.querySelectorAll('a[href], button:enabled, select, summary').length")
                .asInt();
        assertThat(controls).isGreaterThan(20);
        StringBuilder reached = new StringBuilder();
        for (int i = 0; i < controls; i++) {
            browser.press("Tab");
            reached.append(browser.text(
                            "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"))
                    .append('\n');
        }
        assertThat(reached)
                .contains("Pause node-1", "Cut off: nothing gets in or out of node-2", "Kill node-3", "Resign report");

        browser.eval(control("node-2", "pause") + ".focus()");
        browser.press("Enter");
        browser.await(state("node-2") + " === 'PAUSED'");
        assertThat(browser.text("document.activeElement.getAttribute('aria-label')"))
                .as("the focus stays where it was while the page changes")
                .isEqualTo("Resume node-2");
        browser.press("Enter");
        browser.await(state("node-2") + " === 'VOTING'");
    }

    @Test
    @Order(11)
    void everyControlAndPictureHasAName() {
        assertThat(browser.namesOf("button")).hasSizeGreaterThan(20).doesNotContain("");
        assertThat(browser.namesOf("image"))
                .hasSize(2)
                .allMatch(name -> name.contains("invoices") || name.contains("ballot"));
        assertThat(browser.namesOf("meter")).contains("time left of invoices");
        assertThat(browser.namesOf("heading"))
                .map(name -> name.toLowerCase(Locale.ROOT))
                .contains("paxoslease cell", "nodes", "leases", "last job runs");
    }

    @Test
    @Order(12)
    void twoLeadersAtOnceWouldBeShownInRed() {
        browser.eval("(() => { const t = [...tenures.values()].find(t => t.lease === 'invoices');"
                + " tenures.set('planted', {...t, id: 'node-9', incarnation: 'node-9/1'}); show(); })()");
        assertThat(browser.text("document.getElementById('verdict').textContent"))
                .startsWith("VIOLATED: ")
                .contains("node-9", "both led “invoices”");
        assertThat(browser.text("document.getElementById('verdict').getAttribute('role')"))
                .isEqualTo("alert");
        assertThat(browser.text("getComputedStyle(document.getElementById('verdict')).backgroundColor"))
                .isEqualTo("rgb(179, 38, 30)");
        browser.eval("tenures.delete('planted'); show()");
    }

    @Test
    @Order(13)
    void nodesThatWereNotAskedYetAreNotSaidToBeSilent() {
        assertThat(
                        browser.text(
                                "(() => { const told = cell; cell = null;"
                                        + " hear({...told, nodes: Object.fromEntries(Object.entries(told.nodes)"
                                        + ".map(([id, node]) => [id, {...node, ageMillis: -1, view: null}]))});"
                                        + " return [...document.querySelectorAll('#status, .node .state')].map(e => e.textContent); })()"))
                .matches("asking … · seen through node-.,ASKING,ASKING,ASKING");
    }

    @Test
    @Order(14)
    void looksGood() throws IOException {
        browser.eval("document.activeElement.blur()");
        // Something to look at: a hand-over in the time line, even if nothing else happened in the last minute.
        browser.click(lease("invoices") + ".querySelector('button')");
        browser.await("document.querySelectorAll('#timeline rect.tenure').length >= 4");
        browser.eval("document.getElementById('round-lease').value = 'invoices'");
        browser.eval("document.getElementById('round-lease').onchange()");
        awaitCalm();
        browser.await("document.getElementById('round-summary').textContent.includes('invoices')");
        shoot("cell-light", 1200, false);
        shoot("cell-dark", 1200, true);
        shoot("cell-phone", 400, false);
        shoot("cell-phone-dark", 400, true);
    }

    private static void shoot(String name, int width, boolean dark) throws IOException {
        save(name, width, dark, "['#timeline svg', '#round svg']");
    }

    private static void save(String name, int width, boolean dark, String pictures) throws IOException {
        browser.window(width, 900, dark);
        browser.await(pictures + ".every(p => document.querySelector(p).viewBox.baseVal.width <= innerWidth)");
        int height = browser.eval("document.documentElement.scrollHeight").asInt();
        browser.window(width, height, dark);
        assertThat(browser.eval("document.documentElement.scrollWidth").asInt())
                .as("no sideways scrolling at " + width)
                .isLessThanOrEqualTo(width);
        byte[] image = browser.screenshot();
        Path file = Path.of("target", "screenshots", name + ".png");
        Files.createDirectories(file.getParent());
        Files.write(file, image);
        if (Boolean.getBoolean("paxoslease.images") && IN_THE_DOCUMENTS.contains(name)) {
            Files.write(Path.of("..", "docs", "images", name + ".png"), image);
        }
    }

    @Test
    @Order(15)
    void thePageForAnyCellShowsItToo() throws IOException {
        browser.open("http://localhost:" + basePort + "/actuator/leaseui");
        try {
            browser.await("document.getElementById('node').textContent === 'PaxosLease node node-1'");
            browser.await("document.querySelectorAll('#members tr').length === 2");
            browser.await("document.querySelectorAll('#leases tr').length === 3");
            browser.click("document.querySelector('details[data-lease=invoices] summary')");
            browser.await(
                    "document.querySelector('details[data-lease=invoices]').innerText.includes('LEADER_CHANGED')");
            assertThat(browser.namesOf("meter")).contains("time left of invoices");
            save("node-light", 1000, false, "[]");
            save("node-phone", 400, true, "[]");
        } finally {
            browser.open("http://localhost:" + basePort + "/");
            browser.await("document.getElementById('verdict').textContent");
        }
    }
}
