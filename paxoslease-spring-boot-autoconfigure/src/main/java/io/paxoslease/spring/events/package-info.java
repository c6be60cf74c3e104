/** Turns what happens in a {@link io.paxoslease.node.LeaseNode} into application events. */
@NullMarked
package io.paxoslease.spring.events;

import org.jspecify.annotations.NullMarked;
