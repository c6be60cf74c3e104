package io.paxoslease.test;

import io.paxoslease.LeaseManager;
import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * JUnit extension for tests without an application context: hands each test method, and the methods that run before and after it, a cell of their own as
 * {@link TestLeases}, and its {@link LeaseManager}. In that cell nobody holds anything at first. With JUnit 5 and 6.
 */
public final class TestLeasesExtension implements ParameterResolver, AfterEachCallback {

    private static final Namespace NAMESPACE = Namespace.create(TestLeasesExtension.class);

    /** Makes the extension; for JUnit. */
    public TestLeasesExtension() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return (type == TestLeases.class || type == LeaseManager.class)
                && parameter.getDeclaringExecutable() instanceof Method
                && context.getTestMethod().isPresent();
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestLeases leases = leases(context);
        return parameter.getParameter().getType() == LeaseManager.class ? leases.manager() : leases;
    }

    private static TestLeases leases(ExtensionContext context) {
        Store store = context.getStore(NAMESPACE);
        TestLeases leases = store.get(TestLeases.class, TestLeases.class);
        if (leases == null) {
            leases = TestLeases.started();
            store.put(TestLeases.class, leases);
        }
        return leases;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        TestLeases leases = context.getStore(NAMESPACE).remove(TestLeases.class, TestLeases.class);
        if (leases != null) {
            leases.close();
        }
    }
}
