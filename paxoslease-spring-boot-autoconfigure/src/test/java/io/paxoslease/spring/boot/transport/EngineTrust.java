package io.paxoslease.spring.boot.transport;

import java.net.Socket;
import java.security.cert.X509Certificate;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Trusts the other side of an engine unless the test says otherwise, and nobody else. */
final class EngineTrust extends X509ExtendedTrustManager {

    private final Consumer<SSLEngine> check;

    EngineTrust(Consumer<SSLEngine> check) {
        this.check = check;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
        check.accept(engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
        check.accept(engine);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
