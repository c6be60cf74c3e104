/**
 * The runnable demonstration: guarded jobs, a database that checks fencing tokens, a status page, and a journal that proves what ran when.
 *
 * <p>Start reading at {@link io.paxoslease.sample.SampleApplication}, then {@code InvoiceJob} and {@code InvoiceBook}.
 */
@NullMarked
package io.paxoslease.sample;

import org.jspecify.annotations.NullMarked;
