package io.paxoslease.node;

import java.util.random.RandomGenerator;

/** SplitMix64, written out so that a seed means the same on every JDK. */
final class Dice implements RandomGenerator {

    private long state;

    Dice(long seed) {
        this.state = seed;
    }

    @Override
    public long nextLong() {
        state += 0x9e3779b97f4a7c15L;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    @Override
    public long nextLong(long bound) {
        return (nextLong() >>> 1) % bound;
    }

    @Override
    public int nextInt(int bound) {
        return (int) nextLong(bound);
    }

    @Override
    public double nextDouble() {
        return (nextLong() >>> 11) * 0x1.0p-53;
    }

    boolean chance(double probability) {
        return probability > 0 && nextDouble() < probability;
    }

    /** Between two bounds, small values as often as large ones. */
    long spread(long from, long to) {
        long range = from + nextLong(to - from + 1);
        return from + nextLong(range - from + 1);
    }

    long one(long... values) {
        return values[nextInt(values.length)];
    }
}
