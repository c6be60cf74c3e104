package io.paxoslease;

import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Hears the lines that a class logs, from info on, until it is closed. What the ear throws is as if the log threw it, and so with what blocks there. */
public final class HeardLog extends Handler implements AutoCloseable {

    private final Logger logger;
    private final Level usual;
    private final Consumer<LogRecord> ear;

    public HeardLog(Class<?> type, Consumer<LogRecord> ear) {
        this.logger = Logger.getLogger(type.getName());
        this.usual = logger.getLevel();
        this.ear = ear;
        logger.setLevel(Level.INFO);
        logger.addHandler(this);
    }

    @Override
    public void publish(LogRecord line) {
        ear.accept(line);
    }

    @Override
    public void flush() {
        // nothing is kept back
    }

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setLevel(usual);
    }
}
