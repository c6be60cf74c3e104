package io.paxoslease.spring.boot;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/**
 * Matches if a property is true, as Spring reads truth values ({@code true}, {@code yes}, {@code on}, {@code 1}). Unlike the conditions of Spring Boot,
 * which compare with the text {@code true}, it fails the start for a value that is no truth value: a misspelt one must not switch guards off.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnSwitchCondition.class)
@interface ConditionalOnSwitch {

    /** The full name of the property. */
    String value();

    /** Whether it matches where the property is not set. */
    boolean byDefault();
}
