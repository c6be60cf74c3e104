package io.paxoslease.wire;

import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC-SHA-256 under one shared secret. Safe to call from any thread: each call works on a clone of a keyed instance. */
final class FrameMac {

    /** How many bytes a MAC has. */
    static final int BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec key;
    private final Mac keyed;

    FrameMac(WireSettings.Secret secret) {
        this.key = new SecretKeySpec(secret.bytes(), ALGORITHM);
        this.keyed = create();
    }

    /** The MAC of the first {@code length} bytes. */
    byte[] of(byte[] bytes, int length) {
        Mac mac = fresh();
        mac.update(bytes, 0, length);
        return mac.doFinal();
    }

    /** Whether the last bytes of a frame are the MAC of all bytes before them. The time it takes does not tell where they differ. */
    boolean matches(byte[] frame) {
        int length = frame.length - BYTES;
        return length >= 0 && MessageDigest.isEqual(of(frame, length), Arrays.copyOfRange(frame, length, frame.length));
    }

    private Mac fresh() {
        try {
            return (Mac) keyed.clone();
        } catch (CloneNotSupportedException unusualProvider) {
            return create();
        }
    }

    private Mac create() {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac;
        } catch (NoSuchAlgorithmException | InvalidKeyException missing) {
            throw new IllegalStateException("This Java runtime has no " + ALGORITHM, missing);
        }
    }
}
