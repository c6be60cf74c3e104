package io.paxoslease.spring.boot;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationPredicate;
import io.micrometer.observation.ObservationRegistry;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.transport.FrameChannels;
import io.paxoslease.spring.interception.GuardedLeases;
import io.paxoslease.spring.observation.LeaderOnlyObservationConvention;
import io.paxoslease.spring.observation.LeaderOnlyObserver;
import io.paxoslease.spring.observation.LeaseAttemptObservationConvention;
import io.paxoslease.spring.observation.LeaseAttemptObserver;
import io.paxoslease.wire.FrameServer;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import reactor.core.publisher.Mono;

/**
 * Auto-configuration of the observations of guarded calls and of attempts. The frames of the other nodes are not observed as requests to the
 * application: there may be thousands a second, and its latency and its traces are about others.
 */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
public final class PaxosLeaseObservationAutoConfiguration {

    // Once in a hierarchy of contexts: the guards and the node of a parent are its children's too.
    @Bean
    @ConditionalOnBean(GuardedLeases.class)
    @ConditionalOnMissingBean(name = "paxosLeaseCallObservations")
    SmartInitializingSingleton paxosLeaseCallObservations(
            GuardedLeases guarded,
            ObservationRegistry registry,
            ObjectProvider<LeaderOnlyObservationConvention> convention) {
        return () -> {
            if (!registry.isNoop()) {
                guarded.observeCalls(new LeaderOnlyObserver(registry, convention.getIfAvailable()));
            }
        };
    }

    @Bean
    @ConditionalOnBean(LeaseNode.class)
    @ConditionalOnMissingBean(name = "paxosLeaseAttemptObservations")
    SmartInitializingSingleton paxosLeaseAttemptObservations(
            LeaseNode node,
            ObservationRegistry registry,
            ObjectProvider<LeaseAttemptObservationConvention> convention) {
        return () -> {
            if (!registry.isNoop()) {
                node.addAttemptListener(new LeaseAttemptObserver(registry, convention.getIfAvailable()));
            }
        };
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({
        HttpServletRequest.class,
        org.springframework.http.server.observation.ServerRequestObservationContext.class
    })
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnBean(FrameServer.class)
    static class ServletFrames {

        @Bean
        ObservationPredicate paxosLeaseFramesAreNotObserved(PaxosLeaseProperties properties) {
            return (name, context) -> {
                HttpServletRequest request = request(name, context);
                return request == null || !isFrame(properties, request.getServletPath(), request.getContentType());
            };
        }

        /** Spring Security observes its filters beside the request, by the same thread. */
        private static @Nullable HttpServletRequest request(@Nullable String name, Observation.Context context) {
            if (context instanceof org.springframework.http.server.observation.ServerRequestObservationContext http) {
                return http.getCarrier();
            }
            return name != null
                            && name.startsWith("spring.security.")
                            && RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes current
                    ? current.getRequest()
                    : null;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({
        Mono.class,
        org.springframework.http.server.reactive.observation.ServerRequestObservationContext.class
    })
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnBean(FrameServer.class)
    static class ReactiveFrames {

        @Bean
        ObservationPredicate paxosLeaseFramesAreNotObserved(PaxosLeaseProperties properties) {
            return (name, context) -> {
                ServerHttpRequest request = request(context);
                return request == null
                        || !isFrame(
                                properties,
                                request.getPath().pathWithinApplication().value(),
                                request.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE));
            };
        }

        private static @Nullable ServerHttpRequest request(Observation.Context context) {
            return context
                            instanceof
                            org.springframework.http.server.reactive.observation.ServerRequestObservationContext http
                    ? http.getCarrier()
                    : null;
        }
    }

    private static boolean isFrame(PaxosLeaseProperties properties, String path, @Nullable String contentType) {
        return FrameChannels.isFrame(contentType)
                && path.equals(properties.endpoint().basePath() + FrameChannels.PATH);
    }
}
