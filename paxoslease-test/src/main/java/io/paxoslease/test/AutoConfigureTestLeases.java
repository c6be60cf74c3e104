package io.paxoslease.test;

import io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration;
import io.paxoslease.spring.boot.PaxosLeaseEventsAutoConfiguration;
import io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * On a test class with an application context: the application runs as a node of a cell in memory, and {@link TestLeases} can be injected. Network and
 * clock of the node are replaced; everything else about leases is as in production. Real members are never called. A test slice gets
 * leases, guards and events by it too.
 *
 * <p>The node's id is {@code application}. Its members are those of the application's configuration, else {@code node-1} to {@code node-3}. Each
 * test method begins with {@link TestLeases#reset()}: the application leads what it is a candidate for.
 *
 * <p>With {@code @ContextHierarchy} the uppermost context has the node. This annotation would make one in the others too: exclude
 * {@link PaxosLeaseAutoConfiguration} there, by {@code @EnableAutoConfiguration} or {@code @ImportAutoConfiguration}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration({
    PaxosLeaseAutoConfiguration.class,
    PaxosLeaseInterceptionAutoConfiguration.class,
    PaxosLeaseEventsAutoConfiguration.class
})
public @interface AutoConfigureTestLeases {}
