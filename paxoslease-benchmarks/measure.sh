#!/bin/sh
# Measures everything that docs/performance.md tells of, one after another at one commit: two hours on a machine that does nothing else.
# With words as arguments, only the commands that have one of them: measure.sh idle holding
set -eu
cd "$(dirname "$0")/.."
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
jar=paxoslease-benchmarks/target/benchmarks.jar
cell=io.paxoslease.benchmarks.CellBenchmark
words="$*"

run() {
    wanted=$([ -n "$words" ] || echo yes)
    for word in $words; do
        case "$*" in *"$word"*) wanted=yes ;; esac
    done
    if [ -n "$wanted" ]; then
        printf '\n%s $ %s\n' "$(date -u +%H:%M)" "$*"
        "$@" || echo "failed with $?"
    fi
}

# The collections that the benchmark asks for at its end are not meant.
memory() {
    pauses=paxoslease-benchmarks/target/pauses.log
    "$java" -Xmx1g -Xlog:gc:file=$pauses -cp $jar io.paxoslease.benchmarks.LeaseMemory 10000000
    grep -v 'System.gc' $pauses | sed -n 's/.*Pause.* \([0-9.]*\)ms$/\1/p' | sort -n | tail -n 1 | sed 's/^/longest pause, ms: /'
}

in_sample() {
    ./mvnw -q -B verify -pl sample-app -am "$@" -Dtest=NoSuch -Dsurefire.failIfNoSpecifiedTests=false \
        -Dfailsafe.failIfNoSpecifiedTests=false
}

./mvnw -q -Pbench -DskipTests -pl paxoslease-benchmarks -am package
git log -1 --format='%h %cs'
uname -srm
nproc
"$java" -version

for i in 1 2 3; do
    run "$java" -Dtransport=tcp -cp $jar $cell idle true 10
    run "$java" -cp $jar $cell idle true 10
done
run "$java" -jar $jar 'RoleBenchmarks.*(isHeld|clocks)' -p leases=1000 -f 3 -wi 3 -w 1s -i 5 -r 1s
run "$java" -jar $jar 'RoleBenchmarks|FrameCodecBenchmarks' -f 1 -wi 3 -w 1s -i 4 -r 1s
for transport in http https tcp tls; do
    run "$java" -Dtransport=$transport -cp $jar $cell throughput true 5
done
run "$java" -cp $jar $cell throughput false 5
run "$java" -Dnodes=5 -cp $jar $cell throughput true 3
run "$java" -Dnodes=7 -cp $jar $cell throughput true 3
run "$java" -cp $jar $cell holding true 1g 1000000 60000 40
for i in 1 2; do
    run "$java" -Dwarm.up.leases=510000 -cp $jar $cell holding true 3g 510000 2000 20 8000
done
for i in 1 2 3; do
    run memory
done
run "$java" -cp $jar $cell handover true 200
run "$java" -cp $jar $cell takeover true 90
for transport in tcp http; do
    run "$java" -Dtransport=$transport -cp $jar $cell contention true 200
    run "$java" -Dtransport=$transport -cp $jar $cell contention false 200
done
run "$java" -cp $jar $cell nodes true 41
for distance in 10 80; do
    for transport in tcp http; do
        run "$java" -Ddistance=$distance -Dtransport=$transport -cp $jar $cell idle true 10
        run "$java" -Ddistance=$distance -Dtransport=$transport -cp $jar $cell handover true 40
        run "$java" -Ddistance=$distance -Dtransport=$transport -cp $jar $cell takeover true 12
        run "$java" -Ddistance=$distance -Dtransport=$transport -cp $jar $cell throughput true 5
    done
done
run "$java" -cp $jar io.paxoslease.benchmarks.PeerBenchmark 5
run in_sample -Dpaxoslease.startup=true -Dit.test=StartupCostIT
run in_sample -Dpaxoslease.idle=8 -Dit.test=IdleCostIT
