package io.paxoslease.sample;

import java.io.PrintStream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.support.SpringApplicationJsonEnvironmentPostProcessor;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The sample in its two forms: without members a whole cell of three nodes in this process, with {@code paxoslease.members.…} on the
 * command line or in the environment one node of a cell of separate processes.
 */
@SpringBootApplication
@EnableScheduling
public class SampleApplication {

    /**
     * Starts one node or a whole cell.
     *
     * @param args properties in the form {@code --name=value}
     */
    public static void main(String[] args) {
        ConfigurableEnvironment outside = outsideWorld(args);
        if (namesMembers(outside)) {
            SpringApplication.run(SampleApplication.class, args);
        } else if (!startCell(outside, args)) {
            System.exit(1);
        }
    }

    /** The properties known before there is an application: command line, system properties, environment variables. */
    private static ConfigurableEnvironment outsideWorld(String... args) {
        ConfigurableEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new SimpleCommandLinePropertySource(args));
        new SpringApplicationJsonEnvironmentPostProcessor()
                .postProcessEnvironment(environment, new SpringApplication());
        ConfigurationPropertySources.attach(environment);
        return environment;
    }

    private static boolean namesMembers(ConfigurableEnvironment environment) {
        return Binder.get(environment)
                .bind("paxoslease.members", Bindable.mapOf(String.class, String.class))
                .isBound();
    }

    /** The web servers keep the process alive; Ctrl-C and SIGTERM close all three applications. */
    @SuppressWarnings("resource")
    private static boolean startCell(ConfigurableEnvironment outside, String... args) {
        PrintStream console = System.out;
        DemoCell cell;
        try {
            cell = DemoCell.start(outside, args);
        } catch (DemoCell.PortTakenException taken) {
            console.println(taken.getMessage());
            return false;
        } catch (RuntimeException logged) {
            console.println("The cell did not start; the reason is above.");
            return false;
        }
        console.println(cell.welcome());
        console.println(cell.awaitLeaders());
        return true;
    }
}
