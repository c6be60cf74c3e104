package io.paxoslease.spring.boot.actuate;

import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;

/**
 * A page for browsers over what the endpoint {@code lease} answers: one static file that only reads. It is under the actuator's base path,
 * on its port and behind its security, like every endpoint.
 */
@WebEndpoint(id = "leaseui")
public final class PaxosLeaseUiEndpoint {

    /** Where the page is on the class path. */
    public static final String PAGE = "paxoslease/ui/lease.html";

    /** The page. */
    @ReadOperation(produces = "text/html;charset=UTF-8")
    public Resource page() {
        return new ClassPathResource(PAGE, PaxosLeaseUiEndpoint.class.getClassLoader());
    }
}
