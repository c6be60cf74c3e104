package io.paxoslease.spring.boot;

import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundles;

/**
 * The TLS context for calls to other nodes: that of the configured bundle, made anew when the bundle is reloaded. No {@code Supplier}: Spring Cloud
 * Stream would bind the bean to a destination.
 */
final class PeerSsl {

    private volatile @Nullable SSLContext context;

    PeerSsl(@Nullable String bundle, @Nullable SslBundles bundles) {
        if (bundle == null) {
            return;
        }
        try {
            if (bundles == null) {
                throw new NoSuchSslBundleException(bundle, "there are no SSL bundles");
            }
            context = bundles.getBundle(bundle).createSslContext();
            bundles.addBundleUpdateHandler(bundle, updated -> context = updated.createSslContext());
        } catch (NoSuchSslBundleException unknown) {
            throw new InvalidCellConfigurationException(
                    "paxoslease.ssl.bundle",
                    bundle,
                    "there is no SSL bundle of this name",
                    "Define it under spring.ssl.bundle.jks." + bundle + " or spring.ssl.bundle.pem." + bundle + ".");
        }
    }

    @Nullable
    SSLContext context() {
        return context;
    }
}
