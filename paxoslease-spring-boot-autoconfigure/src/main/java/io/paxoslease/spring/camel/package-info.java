/** Apache Camel on leases: {@link io.paxoslease.spring.camel.PaxosLeaseClusterService}. */
@NullMarked
package io.paxoslease.spring.camel;

import org.jspecify.annotations.NullMarked;
