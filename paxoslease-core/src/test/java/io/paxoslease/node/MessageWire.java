package io.paxoslease.node;

import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.wire.SimulatedWire;
import java.util.List;

/**
 * Every message alone in a frame, encoded and decoded by the production codec, without sessions: messages of former lives arrive, too, and may
 * overtake each other as they like.
 *
 * <p>Nothing but a MAC sees every change of a frame. Here the codec must refuse every frame that was cut short, and may understand one with
 * flipped bits, but then a checksum further down is taken to have seen it.
 */
final class MessageWire implements Wire {

    private final Simulation simulation;

    MessageWire(Simulation simulation) {
        this.simulation = simulation;
    }

    @Override
    public void boot(Simulation.Life life) {
        life.codec = new SimulatedWire.Codec(life.cell, life.self);
    }

    @Override
    public void flush(Simulation.Life from) {}

    @Override
    public void send(Simulation.Life from, int acceptor, Request request) {
        String member = from.cell.acceptors().get(acceptor);
        byte[] frame = from.codec.encode(member, request);
        Simulation.Host to = simulation.hostOf(member);
        simulation.travel(
                from.host,
                to,
                request.ballot().counter(),
                frame,
                (bytes, damage) -> arrive(from, to, acceptor, request, bytes, damage));
    }

    private void arrive(
            Simulation.Life from,
            Simulation.Host to,
            int acceptor,
            Request sent,
            byte[] frame,
            Simulation.Damage damage) {
        Simulation.Life life = simulation.receiver(to);
        if (life == null || life.acceptor == null) {
            if (simulation.refusesConnection()) {
                simulation.travel(
                        to,
                        from.host,
                        sent.ballot().counter(),
                        from.codec.encode(sent, null),
                        (bytes, harm) -> answer(from, acceptor, sent, null, bytes, harm));
            }
            return;
        }
        Request request;
        try {
            request = life.codec.decodeRequest(frame);
        } catch (SimulatedWire.Refused refused) {
            onRefused(damage, refused);
            return;
        }
        if (!isWhole(damage)) {
            return;
        }
        if (!request.equals(sent)) {
            simulation.violate("the codec made " + request + " of " + sent);
        }
        if (from.host.foreign && simulation.refusesOtherMembers()) {
            simulation.count(Happening.REFUSED_OTHER_MEMBERS, true);
            return;
        }
        Response response = simulation.serve(life, List.of(request)).get(0);
        if (!(request instanceof ReleaseRequest)) {
            simulation.travel(
                    to,
                    from.host,
                    request.ballot().counter(),
                    life.codec.encode(request, response),
                    (bytes, harm) -> answer(from, acceptor, sent, response, bytes, harm));
        }
    }

    private void answer(
            Simulation.Life from,
            int acceptor,
            Request request,
            Response sent,
            byte[] frame,
            Simulation.Damage damage) {
        Simulation.Life life = from.host.life;
        if (life == null) {
            return;
        }
        Response response;
        try {
            response = life.codec.decodeAnswer(frame, request);
        } catch (SimulatedWire.Refused refused) {
            onRefused(damage, refused);
            return;
        }
        if (!isWhole(damage)) {
            return;
        }
        if (sent == null ? response != null : !sent.equals(response)) {
            simulation.violate("the codec made " + response + " of " + sent);
        }
        if (response != null) {
            simulation.count(Happening.ANSWER_TO_FORMER_LIFE, life != from);
            simulation.onResponse(life, acceptor, response);
        } else if (life == from) {
            simulation.onUnanswered(life, acceptor, request);
        }
    }

    private void onRefused(Simulation.Damage damage, SimulatedWire.Refused refused) {
        if (damage == Simulation.Damage.NONE) {
            simulation.violate("the codec refused a whole frame: " + refused.getMessage());
        }
        simulation.count(Happening.DAMAGED_FRAME_REFUSED, true);
    }

    private boolean isWhole(Simulation.Damage damage) {
        if (damage == Simulation.Damage.CUT_SHORT) {
            simulation.violate("the codec understood a frame that was cut short");
        }
        simulation.count(Happening.FLIPPED_BITS_LEFT_TO_A_CHECKSUM, damage == Simulation.Damage.BITS_FLIPPED);
        return damage == Simulation.Damage.NONE;
    }
}
