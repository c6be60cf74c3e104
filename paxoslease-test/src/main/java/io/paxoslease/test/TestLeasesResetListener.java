package io.paxoslease.test;

import java.util.function.Consumer;
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

    /** Before methods of the test class, or of one that shares its context, can start elections. */
    @Override
    public void prepareTestInstance(TestContext test) {
        withLeases(test, TestLeases::candidacies);
    }

    @Override
    public void beforeTestMethod(TestContext test) {
        withLeases(test, TestLeases::reset);
    }

    private static void withLeases(TestContext test, Consumer<TestLeases> action) {
        if (test.hasApplicationContext()) {
            test.getApplicationContext().getBeanProvider(TestLeases.class).ifAvailable(action);
        }
    }
}
