/**
 * For tests of applications that use leases: {@link io.paxoslease.test.TestLeases} is a cell in memory whose time passes on request. It is reached
 * by {@link io.paxoslease.test.AutoConfigureTestLeases} in tests with Spring and by {@link io.paxoslease.test.TestLeasesExtension} in others.
 * {@link io.paxoslease.test.TestCell} is one whose nodes are several application contexts.
 */
@NullMarked
package io.paxoslease.test;

import org.jspecify.annotations.NullMarked;
