package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.servlet.util.matcher.PathPatternRequestMatcher;

/**
 * Lets the frames of the other nodes past Spring Security, which would want a user and a CSRF token from them; frames authenticate
 * themselves. Opens the one path that they are posted to and nothing else, and only in a cell that has members.
 *
 * <p>It comes after Boot's own chain: Boot leaves the application open if it finds a chain that was there before.
 */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({HttpSecurity.class, SecurityFilterChain.class, PathPatternRequestMatcher.class})
@ConditionalOnBean({LeaseNode.class, HttpSecurity.class})
@Conditional(PaxosLeaseSecurityAutoConfiguration.OnMembers.class)
public final class PaxosLeaseSecurityAutoConfiguration {

    /** Before Boot's chain, which matches every request. */
    private static final int ORDER = -50;

    @Bean
    @Order(ORDER)
    @ConditionalOnMissingBean(name = "paxosLeaseSecurityFilterChain")
    SecurityFilterChain paxosLeaseSecurityFilterChain(HttpSecurity http, Environment environment) {
        String basePath = environment.getProperty("paxoslease.endpoint.base-path", "/paxoslease");
        String path = basePath.replaceFirst("/+$", "") + "/messages";
        return http.securityMatcher(PathPatternRequestMatcher.withDefaults().matcher(path))
                .authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                .csrf(AbstractHttpConfigurer::disable)
                .headers(AbstractHttpConfigurer::disable)
                .logout(AbstractHttpConfigurer::disable)
                .requestCache(AbstractHttpConfigurer::disable)
                .sessionManagement(AbstractHttpConfigurer::disable)
                .build();
    }

    /** A cell of one exposes no path, so there is none to open. */
    static final class OnMembers extends SpringBootCondition {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            boolean members = Binder.get(context.getEnvironment())
                    .bind("paxoslease.members", Bindable.mapOf(String.class, String.class))
                    .isBound();
            ConditionMessage.Builder message = ConditionMessage.forCondition("paxoslease.members");
            return members
                    ? ConditionOutcome.match(message.because("the cell has members"))
                    : ConditionOutcome.noMatch(message.because("the cell has none"));
        }
    }
}
