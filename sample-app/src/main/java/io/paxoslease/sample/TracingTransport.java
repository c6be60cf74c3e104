package io.paxoslease.sample;

import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Message;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.PrepareResponse;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Writes down what passes between a node and its transport, and changes nothing. */
record TracingTransport(Transport transport, MessageTrace trace, String self, List<String> acceptors)
        implements Transport {

    @Override
    public void start(Incarnation incarnation, Receiver receiver) {
        transport.start(incarnation, new Receiver() {
            @Override
            public void onResponse(int acceptor, Response response) {
                note(response, type(response, incarnation), acceptors.get(acceptor), self);
                receiver.onResponse(acceptor, response);
            }

            @Override
            public void onUnanswered(int acceptor, Request request) {
                note(request, "lost", self, acceptors.get(acceptor));
                receiver.onUnanswered(acceptor, request);
            }

            @Override
            public boolean awaitsVote() {
                return receiver.awaitsVote();
            }

            @Override
            public void onOtherVoter(String who) {
                receiver.onOtherVoter(who);
            }
        });
    }

    @Override
    public void send(int acceptor, Request request) {
        String type = request instanceof PrepareRequest
                ? "prepare"
                : request instanceof ProposeRequest ? "propose" : "release";
        note(request, type, self, acceptors.get(acceptor));
        transport.send(acceptor, request);
    }

    private static String type(Response response, Incarnation incarnation) {
        if (response instanceof PrepareResponse prepare) {
            boolean foreign =
                    prepare.lease() != null && !prepare.lease().ballot().owner().equals(incarnation);
            return !prepare.promised() ? "rejected" : foreign ? "blocked" : "promised";
        }
        return response instanceof ProposeResponse propose && propose.accepted() ? "accepted" : "rejected";
    }

    private void note(Message message, String type, String from, String to) {
        double millis = Duration.between(Instant.EPOCH, Instant.now()).toNanos() / 1e6;
        trace.add(message.resource(), message.ballot(), new MessageTrace.Line(type, from, to, millis));
    }

    @Override
    public void flush() {
        transport.flush();
    }

    @Override
    public void onHello(Incarnation sender) {
        transport.onHello(sender);
    }

    @Override
    public boolean majorityVotes() {
        return transport.majorityVotes();
    }

    @Override
    public void close() {
        transport.close();
    }
}
