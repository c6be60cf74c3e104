package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The tables of both roles against maps of objects. */
class TableTests {

    private static final int STEPS = 200_000;
    private static final long FLOOR = 1_000;

    /** What an acceptor remembers of one resource. */
    private static final class Row {
        long promised = FLOOR;
        Incarnation promisedBy;
        Ballot lease;
        long endNanos;
    }

    @Test
    void anAcceptorsTableAgreesWithAMap() {
        Random random = new Random(1);
        ResourceIndex index = new ResourceIndex();
        AcceptorTable table = new AcceptorTable(FLOOR, index);
        Map<String, Row> rows = new HashMap<>();
        long floor = FLOOR;
        for (int step = 0; step < STEPS; step++) {
            String resource = "r" + random.nextInt(50);
            int slot = table.find(resource);
            Row row = rows.get(resource);
            assertThat(slot == ResourceIndex.NONE).as("step %d", step).isEqualTo(row == null);
            if (row == null) {
                row = new Row();
                row.promised = floor;
                row.endNanos = step;
                rows.put(resource, row);
                slot = table.add(resource, step);
            }
            Ballot ballot = new Ballot(FLOOR + step, new Incarnation("n", random.nextInt(20)));
            switch (random.nextInt(6)) {
                case 0 -> {
                    table.promise(slot, ballot);
                    row.promised = ballot.counter();
                    row.promisedBy = ballot.owner();
                }
                case 1, 2 -> {
                    if (random.nextBoolean()) {
                        table.accept(slot, ballot, step + 1);
                    } else {
                        table.promise(slot, ballot);
                        table.record(slot, ballot, step + 1);
                    }
                    row.promised = ballot.counter();
                    row.promisedBy = ballot.owner();
                    row.lease = ballot;
                    row.endNanos = step + 1;
                }
                case 3 -> {
                    table.clear(slot, step + 2);
                    row.lease = null;
                    row.endNanos = step + 2;
                }
                case 4 -> {
                    table.clear(slot, step + 2);
                    table.withdraw(slot, ballot.counter(), step + 2);
                    row.promised = ballot.counter();
                    row.promisedBy = null;
                    row.lease = null;
                    row.endNanos = step + 2;
                }
                default -> {
                    table.drop(slot);
                    rows.remove(resource);
                    floor = Math.max(floor, row.promised);
                    row = null;
                }
            }
            if (row != null) {
                assertThat(table.promised(slot)).as("step %d", step).isEqualTo(Math.max(floor, row.promised));
                assertThat(table.promisedBy(slot)).isEqualTo(row.promised < floor ? null : row.promisedBy);
                assertThat(table.lease(slot)).isEqualTo(row.lease);
                assertThat(table.leaseOwner(slot)).isEqualTo(row.lease == null ? null : row.lease.owner());
                assertThat(table.endNanos(slot)).isEqualTo(row.endNanos);
            }
            if (step % 1_000 == 0) {
                assertThat(table.size()).isEqualTo(rows.size()).isEqualTo(index.size());
                assertThat(table.leases()).isEqualTo((int) rows.values().stream()
                        .filter(each -> each.lease != null)
                        .count());
                assertThat(table.floor()).isEqualTo(floor);
                // Twenty owners at a time, whatever came and went.
                assertThat(table.incarnations()).isLessThanOrEqualTo(20).isGreaterThan(step / STEPS);
            }
        }
        for (String resource : rows.keySet()) {
            table.drop(table.find(resource));
        }
        assertThat(table.size()).isZero();
        assertThat(table.leases()).isZero();
        assertThat(table.incarnations()).isZero();
        assertThat(index.size()).isZero();
        assertThat(TableMemory.chunks(table)).isEmpty();
    }

    @Test
    void aRowThatComesAfterAnotherStartsAtTheFloor() {
        AcceptorTable table = new AcceptorTable(FLOOR, new ResourceIndex());
        int slot = table.add("a", 1);
        Ballot ballot = new Ballot(FLOOR + 5, new Incarnation("n", 1));
        table.promise(slot, ballot);
        table.record(slot, ballot, 2);
        table.promise(slot, new Ballot(FLOOR + 7, new Incarnation("m", 2)));
        table.drop(slot);
        assertThat(table.promised(ResourceIndex.NONE)).isEqualTo(FLOOR + 7);
        assertThat(table.add("b", 3)).isEqualTo(slot);
        assertThat(table.promised(slot)).isEqualTo(FLOOR + 7);
        assertThat(table.promisedBy(slot)).isNull();
        assertThat(table.lease(slot)).isNull();
        assertThat(table.endNanos(slot)).isEqualTo(3);
    }

    @Test
    void aSweepLooksAtEveryRowInTurnAndDropsWhatIsOver() {
        AcceptorTable table = new AcceptorTable(FLOOR, new ResourceIndex());
        for (int i = 0; i < 10; i++) {
            table.add("r" + i, i);
        }
        for (int i = 0; i < 4; i++) {
            table.sweep(new Now(4, 0), 3);
        }
        assertThat(table.size()).isEqualTo(5);
        for (int i = 0; i < 10; i++) {
            assertThat(table.find("r" + i) != ResourceIndex.NONE).as("r%d", i).isEqualTo(i > 4);
        }
    }

    @Test
    void theLeasesOfAProposerAgreeWithAMap() {
        Random random = new Random(2);
        Incarnation owner = new Incarnation("n", 1);
        ResourceIndex index = new ResourceIndex();
        HeldLeases held = new HeldLeases(owner, index);
        Map<String, Tenure> tenures = new HashMap<>();
        Map<String, Long> spent = new HashMap<>();
        for (int step = 1; step <= STEPS; step++) {
            String resource = "r" + random.nextInt(50);
            int slot = held.find(resource);
            switch (random.nextInt(4)) {
                case 0, 1 -> {
                    long nanos = random.nextLong();
                    Tenure tenure = new Tenure(
                            resource,
                            new Ballot(step, owner),
                            step - random.nextInt(step),
                            1 + random.nextInt(1_000_000_000) * (1L + random.nextInt(20)),
                            new Deadline(nanos, nanos / 1_000_000 + random.nextInt() / 2));
                    if (slot == ResourceIndex.NONE) {
                        held.add(tenure);
                    } else {
                        held.set(slot, tenure);
                    }
                    tenures.put(resource, tenure);
                }
                case 2 -> {
                    held.remove(slot);
                    tenures.remove(resource);
                    spent.remove(resource);
                }
                default -> {
                    if (tenures.containsKey(resource)) {
                        held.spend(slot, step);
                        spent.merge(resource, (long) step, Math::max);
                        held.spend(slot, step - 1);
                    }
                }
            }
            slot = held.find(resource);
            assertThat(held.get(resource, slot)).as("step %d", step).isEqualTo(tenures.get(resource));
            assertThat(held.spent(slot)).isEqualTo(spent.getOrDefault(resource, 0L));
            assertThat(held.size()).isEqualTo(tenures.size()).isEqualTo(index.size());
        }
        assertThat(TableMemory.chunks(held)).isNotEmpty();
        tenures.keySet().forEach(resource -> held.remove(held.find(resource)));
        assertThat(TableMemory.chunks(held)).isEmpty();
    }
}
