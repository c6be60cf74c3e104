package io.paxoslease.spring;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * Begins each test with the levels of an application that sets none: one that was started in the same process, by this test class or
 * another, leaves its own behind.
 */
public final class UsualLogLevels implements BeforeEachCallback {

    @Override
    public void beforeEach(ExtensionContext test) {
        LoggerContext loggers = (LoggerContext) LoggerFactory.getILoggerFactory();
        for (Logger logger : loggers.getLoggerList()) {
            if (logger.getName().startsWith("io.paxoslease")) {
                logger.setLevel(null);
            }
        }
        loggers.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.INFO);
    }
}
