package io.paxoslease.sample;

import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * A file with one line for each start (S) and end (E) of a guarded run, and one for each lease that this node acquired (A), released (R) or
 * lost (L), so that it can be checked afterwards that no two nodes held a lease at once. Off unless {@code sample.journal} names a file.
 *
 * <p>A line has nine fields with tabs between them: kind, node, incarnation, lease, fencing token, run number, nanoseconds of the start (or of
 * the event), nanoseconds at which the lease was last known to be held, wall time. Fields that do not apply are 0. The nanoseconds are
 * {@link System#nanoTime()}, which on Linux is one clock for all processes of a machine. An S line without its E line is a run that was
 * killed. Each line is one write at the end of the file, so that lines of several threads do not mix.
 */
@Component
class Journal {

    private final @Nullable FileChannel file;
    private final String node;
    private final String incarnation;

    Journal(@Value("${sample.journal:}") String path, LeaseNode node) throws IOException {
        this.node = node.incarnation().nodeId();
        this.incarnation = node.incarnation().toString();
        this.file = path.isBlank()
                ? null
                : FileChannel.open(
                        Path.of(path), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    }

    void started(GuardedRun run) {
        write('S', run, 0);
    }

    void ended(GuardedRun run) {
        write('E', run, run.lastHeldNanos());
    }

    private void write(char kind, GuardedRun run, long lastHeldNanos) {
        Lease lease = run.lease();
        write(kind, lease.name(), lease.fencingToken(), run.number(), run.startNanos(), lastHeldNanos);
    }

    @EventListener
    void acquired(LeaseAcquiredEvent event) {
        write('A', event);
    }

    @EventListener
    void released(LeaseReleasedEvent event) {
        write('R', event);
    }

    @EventListener
    void lost(LeaseLostEvent event) {
        write('L', event);
    }

    private void write(char kind, LeaseEvent event) {
        write(kind, event.leaseName(), event.fencingToken(), 0, System.nanoTime(), 0);
    }

    private void write(char kind, String lease, long token, long run, long nanos, long lastHeldNanos) {
        if (file == null) {
            return;
        }
        String line = String.join(
                "\t",
                String.valueOf(kind),
                node,
                incarnation,
                lease,
                Long.toString(token),
                Long.toString(run),
                Long.toString(nanos),
                Long.toString(lastHeldNanos),
                Instant.now() + "\n");
        try {
            file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
        } catch (IOException failure) {
            throw new UncheckedIOException("The journal cannot be written", failure);
        }
    }

    @PreDestroy
    void close() throws IOException {
        if (file != null) {
            file.close();
        }
    }
}
