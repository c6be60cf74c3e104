package io.paxoslease.spring.boot.actuate;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.AdditionalPathsMapper;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.boot.health.actuate.endpoint.AdditionalHealthEndpointPath;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.actuate.endpoint.HttpCodeStatusMapper;
import org.springframework.boot.health.actuate.endpoint.StatusAggregator;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Adds the quarantine to the readiness group, whatever else is in it, and keeps it out of the primary group, where {@code paxoslease}
 * says the same and more.
 */
@Order(Ordered.LOWEST_PRECEDENCE)
public final class QuarantineReadinessGroups implements HealthEndpointGroupsPostProcessor {

    /** The name of the component that is added. */
    public static final String COMPONENT = "paxosleaseQuarantine";

    private static final String READINESS = "readiness";

    @Override
    public HealthEndpointGroups postProcessHealthEndpointGroups(HealthEndpointGroups groups) {
        return new Groups(groups);
    }

    /** Also a mapper of paths, as what it wraps: Spring Security's request matchers cast it to one. */
    private record Groups(HealthEndpointGroups delegate) implements HealthEndpointGroups, AdditionalPathsMapper {

        @Override
        public HealthEndpointGroup getPrimary() {
            return new Group(delegate.getPrimary(), false);
        }

        @Override
        public Set<String> getNames() {
            return delegate.getNames();
        }

        @Override
        public @Nullable HealthEndpointGroup get(String name) {
            HealthEndpointGroup group = delegate.get(name);
            return group != null && name.equals(READINESS) ? new Group(group, true) : group;
        }

        @Override
        public @Nullable List<String> getAdditionalPaths(EndpointId endpoint, WebServerNamespace namespace) {
            return delegate instanceof AdditionalPathsMapper mapper
                    ? mapper.getAdditionalPaths(endpoint, namespace)
                    : null;
        }
    }

    private record Group(HealthEndpointGroup delegate, boolean quarantine) implements HealthEndpointGroup {

        @Override
        public boolean isMember(String name) {
            return name.equals(COMPONENT) ? quarantine : delegate.isMember(name);
        }

        @Override
        public boolean showComponents(SecurityContext context) {
            return delegate.showComponents(context);
        }

        @Override
        public boolean showDetails(SecurityContext context) {
            return delegate.showDetails(context);
        }

        @Override
        public StatusAggregator getStatusAggregator() {
            return delegate.getStatusAggregator();
        }

        @Override
        public HttpCodeStatusMapper getHttpCodeStatusMapper() {
            return delegate.getHttpCodeStatusMapper();
        }

        @Override
        public @Nullable AdditionalHealthEndpointPath getAdditionalPath() {
            return delegate.getAdditionalPath();
        }
    }
}
