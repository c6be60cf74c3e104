/** Spring Boot auto-configuration of PaxosLease. */
@NullMarked
package io.paxoslease.spring.boot;

import org.jspecify.annotations.NullMarked;
