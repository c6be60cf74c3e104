package io.paxoslease.spring;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Until it flows the log of a class takes no line, as where nobody reads the standard output or a disk is full. */
public final class BlockedLog extends Handler implements AutoCloseable {

    private final CountDownLatch flows = new CountDownLatch(1);
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final Logger logger;
    private final Level usual;

    public BlockedLog(Class<?> type) {
        logger = Logger.getLogger(type.getName());
        usual = logger.getLevel();
        logger.setLevel(Level.WARNING);
        logger.addHandler(this);
    }

    @Override
    public void publish(LogRecord line) {
        try {
            flows.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
        lines.add(line.getMessage());
    }

    /** Lets all lines come, which are returned. */
    public BlockingQueue<String> flow() {
        flows.countDown();
        return lines;
    }

    @Override
    public void flush() {
        // nothing is kept
    }

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setLevel(usual);
        flow();
    }
}
