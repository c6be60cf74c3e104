/**
 * What adapters have in common: leases that are renewed in the background and end at a time of their own, and what stopping takes. For use inside
 * this module.
 */
@NullMarked
package io.paxoslease.spring.bounded;

import org.jspecify.annotations.NullMarked;
