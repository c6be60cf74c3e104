package io.paxoslease.test;

import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Keeps what one test method did to the cell from the next one, which may share its application context. */
final class TestLeasesResetListener implements TestExecutionListener, Ordered {

    private static final int BEFORE_TRANSACTIONS = 3_500;

    @Override
    public int getOrder() {
        return BEFORE_TRANSACTIONS;
    }

    @Override
    public void beforeTestMethod(TestContext test) {
        if (test.hasApplicationContext()) {
            test.getApplicationContext().getBeanProvider(TestLeases.class).ifAvailable(TestLeases::reset);
        }
    }
}
