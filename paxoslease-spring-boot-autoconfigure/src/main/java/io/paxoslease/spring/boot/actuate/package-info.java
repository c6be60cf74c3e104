/**
 * What operators see: the endpoint {@code lease}, health, readiness, info and meters. Reads the node and {@link
 * io.paxoslease.spring.boot.actuate.CellView}; decides nothing about leases.
 */
@NullMarked
package io.paxoslease.spring.boot.actuate;

import org.jspecify.annotations.NullMarked;
