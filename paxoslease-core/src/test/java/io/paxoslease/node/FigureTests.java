package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.node.FigureStage.Network;
import io.paxoslease.node.FigureStage.Recording;
import io.paxoslease.protocol.Mistake;
import io.paxoslease.protocol.PrepareResponse;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.ReleaseRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The figures of {@code docs/how-it-works.md}: each is drawn from a run of the production roles, and the committed file must be what the run
 * gives. To write the files anew: {@code ./mvnw -pl paxoslease-core test -Dtest=FigureTests -Dpaxoslease.figures=write}.
 */
class FigureTests {

    private static final Path IMAGES =
            Path.of("").toAbsolutePath().resolve("../docs/images").normalize();

    @Test
    void acquisition() {
        Recording recording = new FigureStage(400, Set.of())
                .acquire(0, "node-2")
                .elect(160, "node-3")
                .play(470);

        assertThat(recording.twoLeaders()).isEmpty();
        assertThat(recording.leads("node-2", 81, 391)).isTrue();
        isDrawn(
                "acquisition",
                "Acquisition: a majority is asked, then told",
                "node-2 sends prepare to the other two nodes, both promise; it sends propose, both accept, and it leads. "
                        + "node-3 asks later and is told that node-2 holds the lease. "
                        + "node-2 does not extend: it stops at its own deadline, before the first acceptor forgets it.",
                recording,
                1.5);
    }

    @Test
    void extension() {
        Recording recording = new FigureStage(400, Set.of()).elect(0, "node-2").play(560);

        assertThat(recording.twoLeaders()).isEmpty();
        assertThat(recording.leads("node-2", 81, 560)).isTrue();
        isDrawn(
                "extension",
                "Extension: at half of what is left",
                "node-2 acquires the lease. Half way to its deadline it asks the acceptors again, and each time a majority "
                        + "accepted its deadline moves on.",
                recording,
                1.25);
    }

    @Test
    void release() {
        Recording recording = new FigureStage(400, Set.of())
                .watch("node-3")
                .elect(0, "node-2")
                .elect(70, "node-3")
                .resign(150, "node-2")
                .play(320);

        assertThat(recording.twoLeaders()).isEmpty();
        assertThat(recording.leads("node-2", 81, 150)).isTrue();
        assertThat(recording.leads("node-3", 300, 320)).isTrue();
        isDrawn(
                "release",
                "Release: a hand-over without waiting",
                "node-2 leads and resigns. It stops first, then sends release to the others, whose acceptors forget the "
                        + "lease. node-3, which waited, tries at once and leads.",
                recording,
                1.9);
    }

    @Test
    void takeover() {
        Recording recording = new FigureStage(400, Set.of())
                .watch("node-3")
                .elect(0, "node-2")
                .elect(70, "node-3")
                .crash(180, "node-2")
                .play(620);

        assertThat(recording.twoLeaders()).isEmpty();
        assertThat(recording.leads("node-3", 600, 620)).isTrue();
        isDrawn(
                "takeover",
                "Crash: the lease runs out, another node takes over",
                "node-2 leads and crashes. The acceptors of node-1 and node-3 exclude others until its lease has run out. "
                        + "Then node-3, which waited, asks and leads with the majority that is left.",
                recording,
                1.15);
    }

    @Test
    void quarantine() {
        Recording recording = new FigureStage(400, Set.of())
                .network(between("node-1", "node-3", FigureStage.LOST))
                .acquire(0, "node-1")
                .crash(120, "node-2")
                .restart(170, "node-2")
                .elect(375, "node-3")
                .play(700);

        assertThat(recording.twoLeaders()).isEmpty();
        assertThat(recording.leads("node-1", 81, 391)).isTrue();
        assertThat(recording.leads("node-3", 670, 700)).isTrue();
        isDrawn(
                "quarantine",
                "Restart: an acceptor that has forgotten keeps silent",
                "node-1 leads with the accept of node-2; the network between node-1 and node-3 is cut. node-2 restarts and "
                        + "has forgotten whom it accepted. It answers nobody until its quarantine is over, so node-3 finds no "
                        + "majority while node-1 may still lead.",
                recording,
                1.1);
    }

    @Test
    void theLateAnswerOf2012() {
        Recording recording = lateAnswer(
                Set.of(Mistake.DEADLINE_RESTARTS_AT_LATE_PREPARE_ANSWER),
                "A late answer to prepare starts node-1's deadline anew.");

        assertThat(recording.twoLeaders()).hasSize(1);
        assertThat(recording.leads("node-1", 371, 731)).isTrue();
        isDrawn(
                "late-answer-2012",
                "The rule of 2012: a late answer moves the deadline",
                "An answer to node-1's prepare arrives late and starts its deadline anew, beyond the time for which the "
                        + "acceptors exclude others. node-3 acquires the lease while node-1 still leads.",
                recording,
                1);
    }

    @Test
    void theLateAnswerWithOurRules() {
        Recording recording = lateAnswer(Set.of(), "A late answer to prepare changes nothing.");

        assertThat(recording.twoLeaders()).isEmpty();
        assertThat(recording.leads("node-1", 371, 391)).isTrue();
        assertThat(recording.leads("node-1", 371, 393)).isFalse();
        assertThat(recording.leads("node-3", 551, 760)).isTrue();
        isDrawn(
                "late-answer",
                "Our rule: the deadline was stored at the start",
                "The same messages at the same times. The late answer changes nothing: node-1 stops at the deadline that "
                        + "it stored before it asked, and node-3 acquires the lease afterwards.",
                recording,
                1);
    }

    private static Recording lateAnswer(Set<Mistake> mistakes, String atLateAnswer) {
        Network network = (from, to, message) -> {
            if (from.equals("node-3") && message instanceof PrepareResponse && to.equals("node-1")) {
                return 320;
            } else if (from.equals("node-2") && message instanceof ProposeResponse && to.equals("node-1")) {
                return 310;
            }
            boolean outer = from.equals("node-1") && to.equals("node-3") || from.equals("node-3");
            return outer && message instanceof ProposeRequest && !to.equals("node-2")
                            || from.equals("node-3") && to.equals("node-1")
                    ? FigureStage.LOST
                    : FigureStage.USUAL_DELAY;
        };
        return new FigureStage(400, mistakes)
                .network(network)
                .attempt(0, "node-1")
                .say(340, "node-1", atLateAnswer)
                .attempt(470, "node-3")
                .play(760);
    }

    @Test
    void theOverwritingAcceptorOf2012() {
        Recording recording =
                staleProposal(Set.of(Mistake.OVERWRITING), "The release that follows clears what is left.");

        assertThat(recording.twoLeaders()).hasSize(1);
        isDrawn(
                "overwriting-2012",
                "The rule of 2012: a higher ballot overwrites a live lease",
                "A proposal of an attempt that node-1 gave up long ago reaches node-2 after its restart, and overwrites the "
                        + "live lease of node-3. The release that follows clears it. node-1 acquires the lease while node-3 leads.",
                recording,
                1.3);
    }

    @Test
    void theSameProposalWithOurRules() {
        Recording recording = staleProposal(Set.of(), "The release finds nothing to clear.");

        assertThat(recording.twoLeaders()).isEmpty();
        isDrawn(
                "overwriting",
                "Our rule: a live lease of another owner is never overwritten",
                "The same messages at the same times. node-2 refuses the stale proposal, because the lease of node-3 is "
                        + "live, and node-1 finds no majority.",
                recording,
                1.3);
    }

    private static Recording staleProposal(Set<Mistake> mistakes, String atStaleRelease) {
        Network network = (from, to, message) -> {
            if (from.equals("node-1") && to.equals("node-3") || from.equals("node-3") && to.equals("node-1")) {
                return FigureStage.LOST;
            }
            boolean first = message.ballot().owner().nodeId().equals("node-1") && to.equals("node-2");
            // Only the proposal and the release of the first attempt are slow.
            return first
                            && message instanceof ProposeRequest
                            && message.ballot().counter() % 1_000_000 < 100_000
                    ? 420
                    : first && message instanceof ReleaseRequest ? 380 : FigureStage.USUAL_DELAY;
        };
        return new FigureStage(250, mistakes)
                .wallClockAhead("node-1", 10_000)
                .network(network)
                .attempt(0, "node-1")
                .giveUp(100, "node-1")
                .crash(110, "node-2")
                .restart(112, "node-2")
                .attempt(366, "node-3")
                .say(480, "node-2", atStaleRelease)
                .attempt(486, "node-1")
                .play(640);
    }

    private static Network between(String one, String other, double delay) {
        return (from, to, message) -> from.equals(one) && to.equals(other) || from.equals(other) && to.equals(one)
                ? delay
                : FigureStage.USUAL_DELAY;
    }

    private static void isDrawn(String name, String title, String description, Recording recording, double scale) {
        String drawn = new SequenceDiagram(title, description, recording, scale).draw();
        Path file = IMAGES.resolve(name + ".svg");
        try {
            if ("write".equals(System.getProperty("paxoslease.figures"))) {
                Files.createDirectories(IMAGES);
                Files.writeString(file, drawn);
            }
            assertThat(Files.exists(file) ? Files.readString(file) : "")
                    .as("%s is what the run gives; -Dpaxoslease.figures=write writes it anew", file)
                    .isEqualTo(drawn);
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }
}
