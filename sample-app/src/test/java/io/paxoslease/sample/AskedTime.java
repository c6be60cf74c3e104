package io.paxoslease.sample;

import java.io.IOException;

/** A program that tells the time of its monotonic clock for each byte that it reads. */
final class AskedTime {

    private AskedTime() {}

    public static void main(String[] args) throws IOException {
        while (System.in.read() >= 0) {
            System.out.println(System.nanoTime());
        }
    }
}
