package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.EOFException;
import java.security.KeyStore;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class PeerSslTests {

    private final DefaultSslBundleRegistry bundles =
            new DefaultSslBundleRegistry("cell", SslBundle.of(SslStoreBundle.NONE));
    private final PeerSsl ssl = new PeerSsl("cell", bundles);

    @Test
    void takesABundleThatIsReloadedAndSaysSo(CapturedOutput output) {
        SSLContext before = ssl.context();
        bundles.updateBundle("cell", SslBundle.of(SslStoreBundle.NONE));
        assertThat(ssl.context()).isNotNull().isNotSameAs(before);
        assertThat(output).containsOnlyOnce("SSL bundle 'cell' was reloaded");
    }

    @Test
    void goesOnWithWhatItHadWhereAReloadFails(CapturedOutput output) {
        SSLContext before = ssl.context();
        assertThatIllegalStateException()
                .isThrownBy(() -> bundles.updateBundle("cell", SslBundle.of(new UnreadableStores())));
        assertThat(ssl.context()).isNotNull().isSameAs(before);
        assertThat(output).doesNotContain("reloaded");
    }

    @Test
    void stopsTheStartWhereTheBundleCannotBeRead() {
        DefaultSslBundleRegistry unreadable =
                new DefaultSslBundleRegistry("cell", SslBundle.of(new UnreadableStores()));
        assertThatExceptionOfType(InvalidCellConfigurationException.class)
                .isThrownBy(() -> new PeerSsl("cell", unreadable))
                .withMessageContainingAll("paxoslease.ssl.bundle", "'cell'", "key.p12: java.io.EOFException");
    }

    /** As where a file is half written: Spring Boot reads the files no earlier than this. */
    private static final class UnreadableStores implements SslStoreBundle {

        @Override
        public KeyStore getKeyStore() {
            throw new IllegalStateException("key.p12", new EOFException());
        }

        @Override
        public @Nullable String getKeyStorePassword() {
            return null;
        }

        @Override
        public @Nullable KeyStore getTrustStore() {
            return null;
        }
    }
}
