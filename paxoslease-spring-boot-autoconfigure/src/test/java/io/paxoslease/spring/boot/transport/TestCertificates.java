package io.paxoslease.spring.boot.transport;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Self-signed keys, made by the JDK's own tool. */
final class TestCertificates {

    static final String PASSWORD = "changeit";

    private TestCertificates() {}

    /** A PKCS #12 file with one key for a host name. */
    static Path keyStore(Path directory, String host) throws Exception {
        Path file = directory.resolve(host + "-" + System.nanoTime() + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-J-XX:TieredStopAtLevel=1",
                        "-J-XX:+UseSerialGC",
                        "-genkeypair",
                        "-alias",
                        "node",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + host,
                        "-ext",
                        "san=" + (host.equals("localhost") ? "dns:localhost,ip:127.0.0.1" : "dns:" + host),
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        PASSWORD)
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes());
        if (keytool.waitFor() != 0) {
            throw new IllegalStateException(output);
        }
        return file;
    }

    /** Shows the key in the file and trusts nobody but it. */
    static SSLContext context(Path keyStore) throws Exception {
        return trusting(keyStore, keyStore);
    }

    /** Trusts nobody but the key in one file, and shows that in another, or none. */
    static SSLContext trusting(Path trustedStore, @Nullable Path keyStore) throws Exception {
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted(trustedStore));
        return context(keyStore, trust.getTrustManagers());
    }

    /** Shows the key in the file, or none. */
    static SSLContext context(@Nullable Path keyStore, TrustManager... trust) throws Exception {
        KeyManager[] shown = {};
        if (keyStore != null) {
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(load(keyStore), PASSWORD.toCharArray());
            shown = keys.getKeyManagers();
        }
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(shown, trust, null);
        return context;
    }

    /** A PKCS #12 file with the certificate of the key in another. */
    static Path trustStore(Path keyStore) throws Exception {
        Path file = keyStore.resolveSibling("trust-" + keyStore.getFileName());
        try (OutputStream out = Files.newOutputStream(file)) {
            trusted(keyStore).store(out, PASSWORD.toCharArray());
        }
        return file;
    }

    private static KeyStore trusted(Path keyStore) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("node", load(keyStore).getCertificate("node"));
        return trusted;
    }

    private static KeyStore load(Path keyStore) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keyStore)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }
}
