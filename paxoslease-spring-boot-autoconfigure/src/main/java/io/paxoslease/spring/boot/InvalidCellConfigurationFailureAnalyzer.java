package io.paxoslease.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Prints what is wrong with a setting and what to do instead of a stack trace. */
final class InvalidCellConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<InvalidCellConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidCellConfigurationException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
    }
}
