package io.paxoslease.spring.boot;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Settings of leader election for Spring Integration.
 *
 * @param roles Roles for which this application is a candidate although it has no Candidate bean for them, for example because only listeners or
 *     endpoints with that role care.
 */
@ConfigurationProperties("paxoslease.integration")
public record PaxosLeaseIntegrationProperties(@Nullable List<String> roles) {

    public PaxosLeaseIntegrationProperties {
        roles = roles == null ? List.of() : List.copyOf(roles);
    }

    @Override
    public List<String> roles() {
        return roles == null ? List.of() : roles;
    }
}
