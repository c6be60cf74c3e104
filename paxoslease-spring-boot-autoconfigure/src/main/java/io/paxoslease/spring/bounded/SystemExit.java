package io.paxoslease.spring.bounded;

import java.util.Arrays;

/** Tells who ends the process. Nobody may wait for such a thread while the application stops: it waits for that itself. */
public final class SystemExit {

    private SystemExit() {}

    /**
     * Whether a thread is in {@code System.exit}, which does not return, and of which nothing else tells.
     *
     * @param thread the thread
     */
    public static boolean isUnderWayOn(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(Runtime.class.getName())
                        && frame.getMethodName().equals("exit"));
    }
}
