package io.paxoslease.spring.interception;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaderHint;
import io.paxoslease.Lease;
import io.paxoslease.LeaseLostException;
import io.paxoslease.LeaseManager;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** Leases that are held and lost when the test says so. */
public final class FakeLeases implements LeaseManager {

    private final Map<String, FakeElection> elections = new ConcurrentHashMap<>();
    private final AtomicLong tokens = new AtomicLong();

    public FakeLeases leading(String name) {
        lead(name);
        return this;
    }

    public FakeLease lead(String name) {
        FakeLease lease = new FakeLease(name, tokens.incrementAndGet());
        election(name).lease = lease;
        return lease;
    }

    public void lose(String name) {
        election(name).lease.lose();
    }

    @Override
    public FakeElection election(String name) {
        return elections.computeIfAbsent(name, FakeElection::new);
    }

    @Override
    public Optional<Lease> tryAcquire(String name, Duration time) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Lease acquire(String name, Duration time, Duration maxWait) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Optional<Lease>> tryAcquireAsync(String name, Duration time) {
        throw new UnsupportedOperationException();
    }

    public static final class FakeElection implements LeaderElection {
        private final String name;
        volatile FakeLease lease;
        volatile LeaderHint hint;

        FakeElection(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public boolean isLeader() {
            return lease().isPresent();
        }

        @Override
        public Optional<Lease> lease() {
            FakeLease current = lease;
            return current != null && current.isHeld() ? Optional.of(current) : Optional.empty();
        }

        @Override
        public Optional<LeaderHint> leader() {
            return Optional.ofNullable(hint);
        }

        @Override
        public void resign() {}
    }

    public static final class FakeLease implements Lease {
        private final String name;
        private final long token;
        private final List<Runnable> lossActions = new CopyOnWriteArrayList<>();
        private volatile boolean held = true;
        volatile Duration remaining = Duration.ofSeconds(10);

        FakeLease(String name, long token) {
            this.name = name;
            this.token = token;
        }

        void lose() {
            held = false;
            lossActions.forEach(Runnable::run);
        }

        int lossActions() {
            return lossActions.size();
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public String owner() {
            return "fake";
        }

        @Override
        public long fencingToken() {
            return token;
        }

        @Override
        public boolean isHeld() {
            return held;
        }

        @Override
        public Duration remaining() {
            return held ? remaining : Duration.ZERO;
        }

        @Override
        public void checkHeld() {
            if (!held) {
                throw new LeaseLostException(name, token);
            }
        }

        @Override
        public boolean extend() {
            return held;
        }

        @Override
        public Lease autoExtend() {
            return this;
        }

        @Override
        public void onLost(Runnable action) {
            lossActions.add(action);
            if (!held) {
                action.run();
            }
        }

        @Override
        public void release() {
            held = false;
        }
    }
}
