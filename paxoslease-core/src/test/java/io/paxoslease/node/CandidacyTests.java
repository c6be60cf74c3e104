package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.node.Candidacy.State;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Deadline;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Tenure;
import org.junit.jupiter.api.Test;

class CandidacyTests {

    private static final Incarnation OWNER = new Incarnation("n2", 1);
    private static final Now NOW = new Now(1_000, 0);

    private final Candidacy candidacy = new Candidacy("lease");

    @Test
    void withoutAClaimItWaitsForNothingButTheEndOfAHint() {
        assertThat(candidacy.dueInNanos(NOW)).isEqualTo(Long.MAX_VALUE);
        candidacy.hint = new Hint(OWNER, 1_070);
        assertThat(candidacy.dueInNanos(NOW)).isEqualTo(70);
    }

    @Test
    void aClaimThatSeeksIsDueForItsNextAttemptOrItsEnd() {
        candidacy.claims.add(Claim.patient("lease", 1_000, 1_090));
        candidacy.state = State.WAITING;
        candidacy.resumeNanos = 1_050;
        assertThat(candidacy.dueInNanos(NOW)).isEqualTo(50);
        candidacy.resumeNanos = 1_100;
        assertThat(candidacy.dueInNanos(NOW)).isEqualTo(90);
    }

    @Test
    void whatIsHeldIsDueForItsExtensionOnlyIfItExtendsItself() {
        Claim claim = Claim.once("lease", 1_000, 1_010);
        claim.tenure = new Tenure("lease", new Ballot(1, OWNER), 1, 1_000, new Deadline(1_800, 1_000));
        candidacy.claims.add(claim);
        candidacy.state = State.HOLDING;
        candidacy.resumeNanos = 1_400;
        assertThat(candidacy.dueInNanos(NOW)).isEqualTo(800);
        claim.autoExtend = true;
        assertThat(candidacy.dueInNanos(NOW)).isEqualTo(400);
    }

    @Test
    void tellsOfAnotherLeaderButNotOfALaterEnd() {
        Output out = new Output();
        candidacy.hint(new Hint(OWNER, 1_070), out);
        candidacy.hint(new Hint(OWNER, 1_170), out);
        candidacy.hint(null, out);
        candidacy.hint(null, out);
        assertThat(out.notices)
                .containsExactly(new Notice.LeaderChanged("lease", OWNER), new Notice.LeaderChanged("lease", null));
    }
}
