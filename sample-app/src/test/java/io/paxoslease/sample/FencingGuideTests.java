package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

/** The examples of docs/guides/fencing-tokens.md: run here, shown there exactly as they are. */
class FencingGuideTests {

    private final EmbeddedDatabase source = new EmbeddedDatabaseBuilder()
            .generateUniqueName(true)
            .setType(EmbeddedDatabaseType.H2)
            .build();
    private final JdbcClient database = JdbcClient.create(source);
    private final LeaseNode node = new LeaseNode(
            NodeSettings.standalone("n1", Duration.ofSeconds(10)), new NoTransport(), new SplittableRandom(1));

    @BeforeEach
    void start() {
        node.openAcceptor();
        node.start();
        database.sql("create table account (id int primary key, balance bigint, token bigint)")
                .update();
        database.sql("insert into account values (1, 0, 0)").update();
        database.sql("create table fence (name varchar(50) primary key, token bigint)")
                .update();
        database.sql("insert into fence values ('accounts', 0)").update();
    }

    @AfterEach
    void stop() {
        node.close();
        source.shutdown();
    }

    private Lease nextTenure() {
        Lease lease = node.tryAcquire("accounts", Duration.ofSeconds(10)).orElseThrow();
        lease.release();
        return lease;
    }

    // snippet jdbc
    boolean writeBalance(JdbcClient database, long balance, Lease lease) {
        return database.sql("update account set balance = ?, token = ? where id = 1 and token <= ?")
                        .params(balance, lease.fencingToken(), lease.fencingToken())
                        .update()
                == 1;
    }
    // end

    // snippet transaction
    void requireNewest(JdbcClient database, String name, Lease lease) {
        int raised = database.sql("update fence set token = ? where name = ? and token <= ?")
                .params(lease.fencingToken(), name, lease.fencingToken())
                .update();
        if (raised == 0) {
            throw new IllegalStateException("A later leader has written under '" + name + "'");
        }
    }
    // end

    // snippet receiver
    final class Fence {

        private final Map<String, Long> highest = new ConcurrentHashMap<>();

        /** Whether a request under a lease may be handled; false is for 412 Precondition Failed. */
        boolean admits(String lease, long token) {
            return highest.merge(lease, token, Math::max) == token;
        }
    }
    // end

    @Test
    void theRowRefusesAFormerLeader() {
        Lease former = nextTenure();
        Lease present = nextTenure();

        assertThat(writeBalance(database, 1, former)).isTrue();
        assertThat(writeBalance(database, 2, present)).isTrue();
        assertThat(writeBalance(database, 3, former)).isFalse();
        assertThat(writeBalance(database, 4, present)).isTrue();
        assertThat(database.sql("select balance from account").query(Long.class).single())
                .isEqualTo(4);
    }

    @Test
    void theTransactionOfAFormerLeaderFails() {
        Lease former = nextTenure();
        Lease present = nextTenure();

        requireNewest(database, "accounts", former);
        requireNewest(database, "accounts", present);
        requireNewest(database, "accounts", present);
        assertThatThrownBy(() -> requireNewest(database, "accounts", former)).hasMessageContaining("later leader");
    }

    @Test
    void theReceiverRefusesAFormerLeader() {
        Fence fence = new Fence();
        assertThat(fence.admits("accounts", 5)).isTrue();
        assertThat(fence.admits("accounts", 5)).isTrue();
        assertThat(fence.admits("accounts", 7)).isTrue();
        assertThat(fence.admits("accounts", 5)).isFalse();
        assertThat(fence.admits("reports", 5)).isTrue();
    }

    @Test
    void theGuideShowsTheExamplesAsTheyAre() throws IOException {
        String source = Files.readString(Path.of("src/test/java/io/paxoslease/sample/FencingGuideTests.java"));
        String guide = Files.readString(Path.of("../docs/guides/fencing-tokens.md"));
        List<String> snippets = new ArrayList<>();
        Matcher matcher = Pattern.compile("(?m)^    // snippet (\\w+)\\n(.*?)^    // end$", Pattern.DOTALL)
                .matcher(source);
        while (matcher.find()) {
            snippets.add("<!-- snippet: FencingGuideTests " + matcher.group(1) + " -->\n```java\n"
                    + matcher.group(2).replaceAll("(?m)^    ", "") + "```\n");
        }
        assertThat(snippets).hasSize(3).allSatisfy(snippet -> assertThat(guide).contains(snippet));
    }
}
