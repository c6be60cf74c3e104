package io.paxoslease.sample;

import java.net.URI;
import java.util.LinkedHashSet;
import java.util.Set;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Lets the pages of the other nodes talk to this one, so that a page can go on when its own node is gone. */
@Component
class PageOrigins implements WebMvcConfigurer {

    private final Members members;

    PageOrigins(Members members) {
        this.members = members;
    }

    @Override
    public void addCorsMappings(CorsRegistry registry) {
        Set<String> origins = new LinkedHashSet<>();
        for (String url : members.urls().values()) {
            URI uri = URI.create(url);
            String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
            origins.add(uri.getScheme() + "://" + uri.getHost() + port);
            if ("localhost".equals(uri.getHost())) {
                origins.add(uri.getScheme() + "://127.0.0.1" + port);
            }
        }
        registry.addMapping("/sample/**")
                .allowedOrigins(origins.toArray(String[]::new))
                .allowedMethods("GET", "POST");
    }
}
