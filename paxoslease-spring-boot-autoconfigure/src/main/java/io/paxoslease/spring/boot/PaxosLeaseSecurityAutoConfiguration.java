package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import io.paxoslease.spring.boot.transport.FrameChannels;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.WebSecurityCustomizer;
import org.springframework.security.web.DefaultSecurityFilterChain;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.servlet.util.matcher.PathPatternRequestMatcher;
import org.springframework.security.web.util.matcher.RequestMatcher;

/**
 * Lets the frames of the other nodes past Spring Security, which would want a user and a CSRF token from them; frames authenticate
 * themselves, so the chain has no filters. Opens the one path that they are posted to and nothing else, and that only where an acceptor
 * answers other nodes.
 *
 * <p>It comes after Boot's own chain, and is not there without another one: Boot, and Spring Security itself, leave the application open if
 * they find a chain.
 */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({HttpSecurity.class, SecurityFilterChain.class, PathPatternRequestMatcher.class})
@ConditionalOnBean({LeaseNode.class, HttpSecurity.class})
public final class PaxosLeaseSecurityAutoConfiguration {

    /** Before Boot's chain, which matches every request. */
    private static final int ORDER = -50;

    /** Null where there is nothing to open: Spring Security refuses any chain that comes after one of the application's for every request. */
    @Bean
    @Order(ORDER)
    @ConditionalOnBean(SecurityFilterChain.class)
    @ConditionalOnMissingBean(name = "paxosLeaseSecurityFilterChain")
    @Nullable
    SecurityFilterChain paxosLeaseSecurityFilterChain(
            LeaseNode node, ObjectProvider<CellConfiguration> cell, Environment environment) {
        RequestMatcher frames = frames(node.settings(), cell.getIfAvailable(), environment);
        return frames == null ? null : new DefaultSecurityFilterChain(frames);
    }

    /** Beside the chain that Spring Security makes where there is none, because Boot's is excluded. It warns of what it is to ignore. */
    @Bean
    @ConditionalOnMissingBean(value = SecurityFilterChain.class, name = "paxosLeaseSecurityFilterChain")
    WebSecurityCustomizer paxosLeaseWebSecurityCustomizer(
            LeaseNode node, ObjectProvider<CellConfiguration> cell, Environment environment) {
        RequestMatcher frames = frames(node.settings(), cell.getIfAvailable(), environment);
        return frames == null ? web -> {} : web -> web.ignoring().requestMatchers(frames);
    }

    /** The same chain is before both servers, and what the application has under that path in its own is not for everybody. */
    private static boolean isAnsweredByManagementServer(HttpServletRequest request) {
        return request.getServletContext().getServletRegistration(PaxosLeaseManagementHttpConfiguration.SERVLET)
                != null;
    }

    /** Null for none. Decided here and not by a condition, which an ahead-of-time processed application could not decide anew. */
    private static @Nullable RequestMatcher frames(
            NodeSettings node, @Nullable CellConfiguration cell, Environment environment) {
        if (!isAcceptor(node) || (cell != null && !cell.answersOverHttp())) {
            return null;
        }
        String basePath = environment.getProperty("paxoslease.endpoint.base-path", "/paxoslease");
        RequestMatcher frames = PathPatternRequestMatcher.withDefaults().matcher(basePath + FrameChannels.PATH);
        return cell != null && cell.answersIn(Port.MANAGEMENT)
                ? request -> isAnsweredByManagementServer(request) && frames.matches(request)
                : frames;
    }

    private static boolean isAcceptor(NodeSettings node) {
        return !node.standalone() && node.cell().indexOf(node.nodeId()) >= 0;
    }
}
