package io.paxoslease.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;

/** One certificate for all nodes of a cell on the loopback interface: each shows it, and trusts nothing else. */
final class SharedCertificate {

    private static final String PASSWORD = "benchmark";
    private static final String ALIAS = "node";

    private SharedCertificate() {}

    /** Makes it, with its key, in a new file of the directory. */
    static Path create(Path directory) throws IOException, InterruptedException {
        Path file = directory.resolve("node.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=node",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        PASSWORD)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool could not make a certificate");
        }
        return file;
    }

    /** For a node that has the file. */
    static SslBundle bundle(Path file) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(ALIAS, keys.getCertificate(ALIAS));
        return SslBundle.of(SslStoreBundle.of(keys, PASSWORD, trusted));
    }
}
