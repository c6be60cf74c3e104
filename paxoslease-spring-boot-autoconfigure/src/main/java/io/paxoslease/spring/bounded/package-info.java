/** Leases that are renewed in the background and end at a time of their own: what lock adapters have in common. For use inside this module. */
@NullMarked
package io.paxoslease.spring.bounded;

import org.jspecify.annotations.NullMarked;
