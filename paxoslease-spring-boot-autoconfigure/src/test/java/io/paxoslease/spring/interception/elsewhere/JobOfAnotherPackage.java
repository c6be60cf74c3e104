package io.paxoslease.spring.interception.elsewhere;

import io.paxoslease.spring.LeaderOnly;
import org.springframework.scheduling.annotation.Scheduled;

/** Has a guarded method that a subclass of another package cannot override. */
public class JobOfAnotherPackage {

    @Scheduled(fixedRate = 1000)
    @LeaderOnly
    void tick() {}
}
