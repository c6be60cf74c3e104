package io.paxoslease.spring.boot;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Decides for {@link ConditionalOnSwitch}. */
final class OnSwitchCondition extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        MergedAnnotation<ConditionalOnSwitch> annotation =
                metadata.getAnnotations().get(ConditionalOnSwitch.class);
        String property = annotation.getString("value");
        boolean on = isOn(context.getEnvironment(), property, annotation.getBoolean("byDefault"));
        ConditionMessage message = ConditionMessage.forCondition(ConditionalOnSwitch.class, property)
                .because(on ? "it is on" : "it is off");
        return new ConditionOutcome(on, message);
    }

    private static boolean isOn(Environment environment, String property, boolean byDefault) {
        Binder binder = Binder.get(environment);
        BindResult<String> text = binder.bind(property, String.class);
        if (!text.isBound()) {
            return byDefault;
        }
        Boolean value = null;
        try {
            value = binder.bind(property, Boolean.class).orElse(null);
        } catch (BindException noTruthValue) {
            // Told below, as an empty one.
        }
        if (value == null) {
            throw new InvalidCellConfigurationException(
                    property,
                    text.get(),
                    "it is neither true nor false",
                    "Set it to true or false, or leave it out, which means " + byDefault + ".");
        }
        return value;
    }
}
