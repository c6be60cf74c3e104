package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.Lines;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells of what may go wrong at every turn of a thread: at once, and then once a minute with how often it did meanwhile. Used by that thread only.
 */
final class Complaint {

    static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Lines lines;
    private final String text;
    private final LongSupplier nanos;

    private long nextNanos;
    private long untold;

    /** The text is a whole sentence, or the begin of one. */
    Complaint(Lines lines, String text) {
        this(lines, text, System::nanoTime);
    }

    Complaint(Lines lines, String text, LongSupplier nanos) {
        this.lines = lines;
        this.text = text;
        this.nanos = nanos;
        this.nextNanos = nanos.getAsLong();
    }

    /** Where there is no memory, this fails too, and the next one is told. */
    void tell(String detail, @Nullable Throwable failure) {
        long nowNanos = nanos.getAsLong();
        if (nowNanos - nextNanos < 0) {
            untold++;
            return;
        }
        String more = untold == 0 ? "" : " (and " + untold + " times more since this was said last)";
        lines.tell(Level.WARNING, text + detail + more, failure);
        nextNanos = nowNanos + PAUSE_NANOS;
        untold = 0;
    }
}
