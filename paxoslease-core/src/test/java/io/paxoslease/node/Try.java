package io.paxoslease.node;

import io.paxoslease.protocol.Mistake;
import java.util.*;

class Try {
    public static void main(String[] a) {
        long from = Long.parseLong(a[0]), n = Long.parseLong(a[1]);
        EnumSet<Mistake> m = EnumSet.noneOf(Mistake.class);
        for (int i = 2; i < a.length; i++) m.add(Mistake.valueOf(a[i]));
        long ev = 0, t0 = System.nanoTime(), tr = 0;
        long[] h = new long[Simulation.Happening.values().length];
        int bad = 0;
        for (long s = from; s < from + n && bad < 6; s++) {
            var r = new Simulation(s, m, new BitSet(), n == 1 ? System.out::println : null).run();
            ev += r.events();
            tr += r.trueNanos();
            for (int i = 0; i < h.length; i++) h[i] += r.happened()[i];
            if (r.violation() != null) {
                bad++;
                System.out.println("seed " + s + " events " + r.events() + ": " + r.violation());
                if (!m.isEmpty()) break;
            }
        }
        double sec = (System.nanoTime() - t0) / 1e9;
        System.out.printf("%d events, %.1f s, %.0f events/s, simulated %.0f s%n", ev, sec, ev / sec, tr / 1e9);
        if (m.isEmpty()) for (var x : Simulation.Happening.values()) System.out.print(x + "=" + h[x.ordinal()] + " ");
        System.out.println();
    }
}
