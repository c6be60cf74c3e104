package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaseManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestLeasesExtension.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class TestLeasesExtensionTests {

    private static @Nullable LeaseManager former;

    @Test
    @Order(1)
    void theManagerIsThatOfTheCell(TestLeases leases, LeaseManager manager) {
        assertThat(manager).isSameAs(leases.manager());
        assertThat(manager.tryAcquire("import", leases.leaseTime())).isPresent();

        former = manager;
    }

    @Test
    @Order(2)
    void theCellOfTheMethodBeforeIsClosed(TestLeases leases) {
        assertThat(former).isNotNull().isNotSameAs(leases.manager());
        assertThat(former.tryAcquire("another", leases.leaseTime())).isEmpty();
    }
}
