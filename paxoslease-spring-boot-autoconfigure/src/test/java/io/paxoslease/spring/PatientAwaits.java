package io.paxoslease.spring;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Lets a test that says nothing of it wait longer than Awaitility does: on a busy machine ten seconds are nothing. */
public final class PatientAwaits implements BeforeAllCallback {

    @Override
    public void beforeAll(ExtensionContext test) {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }
}
