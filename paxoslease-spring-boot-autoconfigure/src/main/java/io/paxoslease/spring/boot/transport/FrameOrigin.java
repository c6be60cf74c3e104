package io.paxoslease.spring.boot.transport;

/** Where frames over HTTP may come from. What a shared secret authenticates may come from anywhere. */
public enum FrameOrigin {

    /** From everywhere. */
    ANYWHERE,

    /** By the loopback interface: nothing but that tells members from strangers. */
    OWN_MACHINE,

    /** Over a connection whose other end has shown a certificate that the web server trusts: nothing else tells members from strangers. */
    CERTIFIED
}
