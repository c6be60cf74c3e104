package io.paxoslease;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows of ARCHITECTURE.md, and what the core must never touch. */
@AnalyzeClasses(packages = "io.paxoslease", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

    /** What decides in the node, like the protocol without a clock or a thread. */
    private static final String ENGINE = "io\\.paxoslease\\.node\\."
            + "(LeaseEngine|Campaigner|Candidacies|Candidacy|Extension|Majority|Output|Parked\\w+|Patience|RoundTrips|TimerHeap)(\\$.*)?";

    private static final String PROTOCOL = "io.paxoslease.protocol..";

    @ArchTest
    static final ArchRule protocolDependsOnNothingButTheLanguage = noClasses()
            .that()
            .resideInAPackage(PROTOCOL)
            .should()
            .dependOnClassesThat()
            .resideOutsideOfPackages(
                    PROTOCOL, "java.lang..", "java.util..", "java.nio", "java.nio.charset..", "org.jspecify..");

    @ArchTest
    static final ArchRule protocolReadsNoClock = noClasses()
            .that()
            .resideInAPackage(PROTOCOL)
            .should()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage("java.time..");

    @ArchTest
    static final ArchRule protocolAndEngineDrawNoRandomNumbersOfTheirOwn = noClasses()
            .that()
            .resideInAPackage(PROTOCOL)
            .or()
            .haveNameMatching(ENGINE)
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.util.Random")
            .orShould()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.util.SplittableRandom")
            .orShould()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.util.concurrent.ThreadLocalRandom")
            .orShould()
            .callMethod(Math.class, "random");

    @ArchTest
    static final ArchRule protocolAndEngineStartNoThreads = noClasses()
            .that()
            .resideInAPackage(PROTOCOL)
            .or()
            .haveNameMatching(ENGINE)
            .should()
            .dependOnClassesThat()
            .areAssignableTo(Thread.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(java.util.concurrent.Executor.class);

    @ArchTest
    static final ArchRule protocolLogsNothing = noClasses()
            .that()
            .resideInAPackage(PROTOCOL)
            .should()
            .dependOnClassesThat()
            .areAssignableTo(System.Logger.class);

    @ArchTest
    static final ArchRule nodeDoesNotKnowTheWire = noClasses()
            .that()
            .resideInAPackage("io.paxoslease.node..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.paxoslease.wire..");

    @ArchTest
    static final ArchRule coreKnowsNoFrameworkAndNoSockets = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.springframework..", "java.net..", "java.nio.channels..", "org.slf4j..", "jakarta..");

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("io.paxoslease.(*)..").should().beFreeOfCycles();
}
