/** Reads what the nodes of a cell recorded about their leases, away from the cell, and judges it. */
@NullMarked
package io.paxoslease.history;

import org.jspecify.annotations.NullMarked;
