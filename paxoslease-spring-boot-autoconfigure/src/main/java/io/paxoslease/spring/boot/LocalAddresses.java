package io.paxoslease.spring.boot;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;

/** What the machine knows about its own addresses; replaced in tests. */
class LocalAddresses {

    /** Whether a host name or address is one of this machine. A name that cannot be resolved is not. */
    boolean isLocal(String host) {
        try {
            for (InetAddress address : InetAddress.getAllByName(host)) {
                if (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null) {
                    return true;
                }
            }
            return false;
        } catch (UnknownHostException | SocketException unknown) {
            return false;
        }
    }

    /** Whether a host is the loopback interface. Names other than {@code localhost} are not looked up: they may change. */
    boolean isLoopback(String host) {
        String literal = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        return literal.equalsIgnoreCase("localhost")
                || literal.matches("127(\\.\\d{1,3}){3}")
                || literal.equals("::1")
                || literal.equals("0:0:0:0:0:0:0:1");
    }

    /** The name of this machine. */
    String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unknown) {
            return "localhost";
        }
    }
}
