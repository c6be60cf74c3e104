/**
 * The runnable demonstration: guarded jobs, a database that checks fencing tokens, a live page, and a journal that proves what ran when.
 *
 * <p>Start reading at {@link io.paxoslease.sample.SampleApplication}, then {@code InvoiceJob} and {@code InvoiceBook}. What begins with
 * {@code Demo} breaks the nodes of the demo cell on request; no application needs anything like it.
 */
@NullMarked
package io.paxoslease.sample;

import org.jspecify.annotations.NullMarked;
