package io.paxoslease.spring;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/** Fills the heap of this process to the last byte, once, and has room again a moment later. For an {@link OtherJvm} only. */
public final class FullHeap {

    private static volatile Object[] hoard;
    private static volatile boolean filled;

    private FullHeap() {}

    /** To be called first: a thread cannot be started when the heap is full. */
    public static void releaseOnceFull() {
        // A class whose initialization fails for lack of memory is lost for good, and each idle thread of a pool needs
        // this one in Java 25.
        ThreadLocalRandom.current();
        Thread release = new Thread(FullHeap::releaseLater);
        release.setDaemon(true);
        release.start();
    }

    private static void releaseLater() {
        try {
            while (!filled) {
                Thread.sleep(10);
            }
            // The thread that failed comes to its end, or to what it does next, meanwhile.
            Thread.sleep(500);
            hoard = null;
        } catch (InterruptedException impossible) {
            hoard = null;
        }
    }

    /** Throws an {@link OutOfMemoryError} when it is full. */
    public static void fill() {
        for (int bytes = 1 << 20; ; bytes /= 2) {
            try {
                while (true) {
                    hoard = new Object[] {hoard, new byte[bytes]};
                }
            } catch (OutOfMemoryError full) {
                if (bytes == 0) {
                    filled = true;
                    throw full;
                }
            }
        }
    }

    /** Begins something while so many bytes are left at most; has room again a moment later, and waits for its end. */
    public static void leaving(int bytes, Runnable code) throws InterruptedException {
        Object[] room = {new byte[bytes]};
        AtomicBoolean begins = new AtomicBoolean();
        Thread thread = new Thread(() -> {
            while (!begins.get()) {
                Thread.onSpinWait();
            }
            code.run();
        });
        thread.setUncaughtExceptionHandler((failed, failure) -> {});
        thread.start();
        try {
            fill();
        } catch (OutOfMemoryError full) {
            room[0] = null;
        }
        begins.set(true);
        Thread.sleep(200);
        hoard = null;
        thread.join();
    }

    /** Whether it has been full. */
    public static boolean wasFilled() {
        return filled;
    }

    /** Waits until it has been full and has room again. */
    public static void awaitRoom() throws InterruptedException {
        while (!filled || hoard != null) {
            Thread.sleep(10);
        }
    }
}
