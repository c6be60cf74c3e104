package io.paxoslease.spring.boot.actuate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Tells monotonic clocks apart. On Linux all processes read the same clock from one boot to the next, unless they are in different time
 * namespaces.
 */
final class MachineClock {

    private static final @Nullable String ID = read();

    private MachineClock() {}

    /** The same for all processes that read the same clock, null if that is unknown. */
    static @Nullable String id() {
        return ID;
    }

    private static @Nullable String read() {
        try {
            String boot =
                    Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
            Path namespace = Path.of("/proc/self/ns/time");
            // Kernels before 5.6 have one namespace only.
            return Files.isSymbolicLink(namespace) ? boot + " " + Files.readSymbolicLink(namespace) : boot;
        } catch (IOException | RuntimeException unknown) {
            return null;
        }
    }
}
