/** Auto-configuration of PaxosLease in a Spring Boot application. */
@NullMarked
package io.paxoslease.spring.boot;

import org.jspecify.annotations.NullMarked;
