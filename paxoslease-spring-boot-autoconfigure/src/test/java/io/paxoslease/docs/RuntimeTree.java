package io.paxoslease.docs;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * What an application gets at run time with one artifact, in the form of {@code mvn dependency:tree -Dscope=runtime}. It follows from the POMs of
 * this project's modules and from those beside the jars on the class path, where Maven chose the versions.
 */
final class RuntimeTree {

    /** What a POM hands on; none of these POMs leaves a scope to its parent. */
    record Dependency(String id, String scope, Set<String> excludes) {}

    /** An artifact in the tree. What it and those above it exclude is not below it. */
    private record Place(String id, String scope, Set<String> excludes, List<Place> below) {}

    private static final String OWN = "io.paxoslease:";

    private final Place root;
    private final Set<String> ids = new TreeSet<>();

    /** An artifact that is wanted more than once is where the way to it is shortest, then where it comes first: Maven's rule. */
    RuntimeTree(String id) {
        root = new Place(id, "compile", Set.of(), new ArrayList<>());
        ids.add(id);
        Queue<Place> open = new ArrayDeque<>(List.of(root));
        while (!open.isEmpty()) {
            Place above = open.remove();
            for (Dependency dependency : dependencies(above.id)) {
                if (!above.excludes.contains(dependency.id) && ids.add(dependency.id)) {
                    Set<String> excludes = new HashSet<>(above.excludes);
                    excludes.addAll(dependency.excludes);
                    String scope = above.scope.equals("runtime") ? above.scope : dependency.scope;
                    Place place = new Place(dependency.id, scope, excludes, new ArrayList<>());
                    above.below.add(place);
                    open.add(place);
                }
            }
        }
    }

    /** Every artifact, the one that brings the others included. */
    Set<String> ids() {
        return ids;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(jar(root)).append('\n');
        print(root, "", text);
        return text.toString();
    }

    private static void print(Place above, String indent, StringBuilder text) {
        for (Place place : above.below) {
            boolean last = place == above.below.get(above.below.size() - 1);
            text.append(indent).append(last ? "\\- " : "+- ").append(jar(place));
            text.append(':').append(place.scope).append('\n');
            print(place, indent + (last ? "   " : "|  "), text);
        }
    }

    private static String jar(Place place) {
        String version = place.id.startsWith(OWN)
                ? text(parse(Documents.ROOT.resolve("pom.xml")), "version")
                : jarOf(place.id).getParentFile().getName();
        return place.id + ":jar:" + version;
    }

    /** The dependencies that a user of an artifact inherits. */
    static List<Dependency> dependencies(String id) {
        List<Dependency> inherited = new ArrayList<>();
        for (Element dependency : children(child(parse(pomOf(id)), "dependencies"))) {
            String scope = text(dependency, "scope").replaceAll("^$", "compile");
            if (!text(dependency, "optional").equals("true") && (scope.equals("compile") || scope.equals("runtime"))) {
                Set<String> excludes = new HashSet<>();
                children(child(dependency, "exclusions")).forEach(exclusion -> excludes.add(id(exclusion)));
                inherited.add(new Dependency(id(dependency), scope, excludes));
            }
        }
        return inherited;
    }

    private static Path pomOf(String id) {
        if (id.startsWith(OWN)) {
            return Documents.ROOT.resolve(id.substring(OWN.length())).resolve("pom.xml");
        }
        return Path.of(jarOf(id).getPath().replaceAll("\\.jar$", ".pom"));
    }

    private static File jarOf(String id) {
        String groupId = id.substring(0, id.indexOf(':'));
        String artifactId = id.substring(id.indexOf(':') + 1);
        Path directory = Path.of(groupId.replace('.', '/'), artifactId);
        return Stream.of(System.getProperty("java.class.path").split(Pattern.quote(File.pathSeparator)))
                .map(File::new)
                .filter(file -> file.getName().startsWith(artifactId + "-"))
                .filter(file -> file.toPath().getParent().getParent().endsWith(directory))
                .findAny()
                .orElseThrow(() -> new IllegalStateException(id + " is not on the class path of the tests"));
    }

    private static Element parse(Path pom) {
        try {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(pom.toFile())
                    .getDocumentElement();
        } catch (Exception unreadable) {
            throw new IllegalStateException(pom + " cannot be read", unreadable);
        }
    }

    private static String id(Element element) {
        return text(element, "groupId") + ":" + text(element, "artifactId");
    }

    private static String text(Element element, String name) {
        Element child = child(element, name);
        return child == null ? "" : child.getTextContent().strip();
    }

    private static @Nullable Element child(Element element, String name) {
        return children(element).stream()
                .filter(child -> child.getTagName().equals(name))
                .findFirst()
                .orElse(null);
    }

    private static List<Element> children(@Nullable Element element) {
        List<Element> children = new ArrayList<>();
        for (Node node = element == null ? null : element.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element child) {
                children.add(child);
            }
        }
        return children;
    }
}
