package io.paxoslease.spring.interception;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains what cannot be guarded and what to do about it. */
final class LeaderOnlyFailureAnalyzer extends AbstractFailureAnalyzer<UnguardableMethodException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnguardableMethodException cause) {
        return new FailureAnalysis(
                cause.description() + "\n\nWithout the guard the method would run on every node.",
                cause.remedy(),
                cause);
    }
}
