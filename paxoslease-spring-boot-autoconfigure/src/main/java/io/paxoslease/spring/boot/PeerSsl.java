package io.paxoslease.spring.boot;

import javax.net.ssl.SSLContext;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/**
 * The TLS context for calls to other nodes: that of the configured bundle, made anew when the bundle is reloaded. No {@code Supplier}: Spring Cloud
 * Stream would bind the bean to a destination.
 */
final class PeerSsl {

    private static final Log LOG = LogFactory.getLog("io.paxoslease");

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
            bundles.addBundleUpdateHandler(bundle, updated -> reload(bundle, updated));
        } catch (NoSuchSslBundleException unknown) {
            throw new InvalidCellConfigurationException(
                    "paxoslease.ssl.bundle",
                    bundle,
                    "there is no SSL bundle of this name",
                    "Define it under spring.ssl.bundle.jks." + bundle + " or spring.ssl.bundle.pem." + bundle + ".");
        } catch (IllegalStateException unusable) {
            throw new InvalidCellConfigurationException(
                    "paxoslease.ssl.bundle",
                    bundle,
                    "this SSL bundle cannot be used: " + messages(unusable),
                    "Look at the files and passwords of the bundle under spring.ssl.bundle.");
        }
    }

    /** Of all causes: which file it is says one of the first, and what is wrong with it one of the last. */
    private static String messages(Throwable failure) {
        StringBuilder messages = new StringBuilder();
        for (Throwable next = failure; next != null; next = next.getCause()) {
            String message = next.getMessage() == null ? next.toString() : next.getMessage();
            if (messages.indexOf(message) < 0) {
                messages.append(messages.isEmpty() ? "" : ": ").append(message);
            }
        }
        return messages.toString();
    }

    /** Says so, because whoever exchanges certificates must know when the next node may follow. What fails is logged by who calls. */
    private void reload(String bundle, SslBundle updated) {
        context = updated.createSslContext();
        LOG.info("PaxosLease: SSL bundle '" + bundle + "' was reloaded");
    }

    @Nullable
    SSLContext context() {
        return context;
    }
}
