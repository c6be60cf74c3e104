package io.paxoslease.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * What is committed in {@code docs/images} is what {@link Plots} draws from {@code docs/measurements}. To draw anew: {@code java -cp
 * paxoslease-benchmarks/target/benchmarks.jar io.paxoslease.benchmarks.Plots docs}.
 */
class PlotsTests {

    private static final Path DOCS =
            Path.of("").toAbsolutePath().resolve("../docs").normalize();

    private static final Offset<Double> NEAR = Offset.offset(0.3);

    static List<Path> measurements() throws IOException {
        return Plots.measurements(DOCS);
    }

    @ParameterizedTest
    @MethodSource("measurements")
    void theCommittedFigureIsDrawnFromTheCommittedMeasurement(Path measurement) throws IOException {
        Path image = Plots.image(DOCS, measurement);
        assertThat(Files.exists(image) ? Files.readString(image) : "")
                .as("%s", image)
                .isEqualTo(Plots.draw(Files.readString(measurement)));
    }

    @Test
    void aLineHasAPlaceForEachValue() throws Exception {
        List<Element> lines = elements(
                Plots.draw(
                        "# log\tx\ty\n# styles\tline\tpoints\nworkers\tmodel\tmeasured\n1\t10\t12\n10\t100\t\n100\t1000\t900\n"),
                "path",
                "line c0");
        assertThat(lines).hasSize(2);
        String[] places = lines.get(1).getAttribute("d").substring(1).split(" L?");
        assertThat(places).as("x and y of three places, each a decade apart").hasSize(6);
        assertThat(number(places[2]) - number(places[0])).isEqualTo(number(places[4]) - number(places[2]));
        assertThat(number(places[1]) - number(places[3])).isCloseTo(number(places[3]) - number(places[5]), NEAR);
    }

    @Test
    void barsGrowByDecades() throws Exception {
        String figure =
                Plots.draw("# kind\tbars\n# log\ty\nsystem\t1 worker\t16 workers\nours\t100\t1000\nother\t10\t\n");
        List<Element> first = elements(figure, "rect", "bar c0");
        assertThat(first).as("one in the legend, two systems").hasSize(3);
        double ours = height(first.get(1));
        double other = height(first.get(2));
        double most = height(elements(figure, "rect", "bar c1").get(1));
        assertThat(other).as("the least has a bar").isPositive();
        assertThat(ours - other).isCloseTo(most - ours, NEAR);
    }

    @Test
    void aHistogramCountsValuesAndMarksPercentiles() throws Exception {
        String values = Plots.draw("# kind\thistogram\n# bin\t5\nms\n31\n32\n34.9\n41\n");
        String counts = Plots.draw("# kind\thistogram\n# bin\t5\nms\tseen\n31\t1\n32\t1\n34.9\t1\n41\t1\n");
        assertThat(values).isEqualTo(counts).contains(">p50 32<", ">p99 41<");
        List<Element> bars = elements(values, "rect", "bar c0");
        assertThat(bars).hasSize(2);
        assertThat(height(bars.get(0))).isCloseTo(3 * height(bars.get(1)), NEAR);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x\ty\n", "x\ty\n1\n", "# log\ty\nx\ty\n1\t0\n2\t5\n", "# kind\tpie\nx\ty\n1\t2\n"})
    void refusesWhatItCannotDraw(String measurement) {
        assertThatThrownBy(() -> Plots.draw(measurement)).isInstanceOf(IllegalArgumentException.class);
    }

    private static double height(Element bar) {
        return number(bar.getAttribute("height"));
    }

    private static double number(String text) {
        return Double.parseDouble(text);
    }

    private static List<Element> elements(String svg, String tag, String style) throws Exception {
        Document document = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
        NodeList all = document.getElementsByTagName(tag);
        List<Element> found = new ArrayList<>();
        for (int i = 0; i < all.getLength(); i++) {
            Element element = (Element) all.item(i);
            if (element.getAttribute("class").equals(style)) {
                found.add(element);
            }
        }
        return found;
    }
}
