#include "slot_low_latency.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::rotor {

namespace {

constexpr std::int64_t kMostPieces = 64;

/// The end of simulated time where the sum is behind it.
Time later(Time time, Time by) {
    return by > Time::max() - time ? Time::max() : time + by;
}

/// The number of an element that may be used, a free one if there is any.
template <class Element>
std::uint32_t take_one(std::vector<Element>& elements, std::vector<std::uint32_t>& free) {
    if (free.empty()) {
        elements.emplace_back();
        return static_cast<std::uint32_t>(elements.size() - 1);
    }
    const std::uint32_t index = free.back();
    free.pop_back();
    return index;
}

}  // namespace

SlotLowLatency::SlotLowLatency(const RotorNetwork& network)
    : network_(network),
      packet_(network.packet_between_racks()),
      up_(std::size_t{network.schedule.racks()} * network.hosts_per_rack),
      down_(up_.size()),
      uplinks_(std::size_t{network.schedule.racks()} * network.schedule.uplinks()),
      random_(network.seed, "low_latency") {
    ASTROLABE_ASSERT(network.paths != nullptr, "low-latency messages have paths");
}

bool SlotLowLatency::joins(HostId source, HostId destination, Time now) {
    if (rack_of(source) == rack_of(destination)) {
        return true;
    }
    return find_paths(network_.schedule.at(now).superslice, rack_of(source), rack_of(destination));
}

bool SlotLowLatency::find_paths(std::uint64_t superslice, Rack from, Rack to) {
    network_.paths_of(network_.state_in(superslice))->find(superslice, from, to, paths_);
    return paths_.size() > 0;
}

void SlotLowLatency::send(std::uint32_t message, HostId source, HostId destination, Bytes size, Time now) {
    const Bytes payload = network_.bulk.payload;
    const std::int64_t packets =
        std::max<std::int64_t>(1, (size.count() + payload.count() - 1) / payload.count());
    const std::uint32_t index = take_one(sendings_, free_sendings_);
    Sending& sending = sendings_[index];
    sending = {.message = message,
               .source = source,
               .destination = destination,
               .left = size,
               .packets_left = packets,
               .packets_a_piece = (packets + kMostPieces - 1) / kMostPieces,
               .in_flight = 0,
               .latest = now};
    add_event(up_[source.index()].transmit(now, at_source(sending)), index, true);
}

void SlotLowLatency::process(SlotLinks& links, SlotMessages& messages) {
    const Event event = events_.top();
    events_.pop();
    if (event.leaves) {
        leave(event, links);
    } else {
        come(event, links, messages);
    }
}

/// The next piece of a message leaves its host.
void SlotLowLatency::leave(const Event& event, SlotLinks& links) {
    const RotorSchedule& schedule = network_.schedule;
    Sending& sending = sendings_[event.index];
    const Rack from = rack_of(sending.source);
    const Rack to = rack_of(sending.destination);
    const RotorSchedule::Position position = schedule.at(event.time);
    if (from != to && !find_paths(position.superslice, from, to)) {
        wait(event, position);
        return;
    }
    const std::uint32_t number = take_one(pieces_, free_pieces_);
    Piece& piece = pieces_[number];
    const std::int64_t packets = std::min(sending.packets_left, sending.packets_a_piece);
    const Bytes payload = std::min(sending.left, network_.bulk.payload * packets);
    piece.sending = event.index;
    piece.all = time_of(payload, packets);
    piece.first = time_of(std::min(payload, network_.bulk.payload), 1);
    piece.packets = packets;
    piece.payload = payload;
    piece.superslice = position.superslice;
    piece.at = from;
    piece.hops_done = 0;
    piece.path.clear();
    if (from != to) {
        const auto path = paths_[random_.below(static_cast<std::uint32_t>(paths_.size()))];
        piece.path.assign(path.begin(), path.end());
    }
    links.cross_up(sending.source.index(), on_link(piece, event.time));
    ++sending.in_flight;
    sending.packets_left -= packets;
    sending.left -= payload;
    add_event(later(event.time, piece.first + network_.host_latency), number, false);
    if (sending.packets_left > 0) {
        add_event(later(event.time, piece.all), event.index, true);
    }
}

void SlotLowLatency::wait(const Event& event, const RotorSchedule::Position& position) {
    const Sending& sending = sendings_[event.index];
    Wire& wire = up_[sending.source.index()];
    const Time all = at_source(sending);
    wire.booked -= all;
    // What failed stays so: without a path in a whole cycle from now on there will be none.
    const std::uint64_t end = position.superslice + network_.schedule.superslices();
    std::uint64_t next = position.superslice + 1;
    while (next < end && !find_paths(next, rack_of(sending.source), rack_of(sending.destination))) {
        ++next;
    }
    if (next == end) {
        disconnected_.emplace_back(sending.source.index(), sending.destination.index());
        return;
    }
    const Time start = later(position.begin, network_.schedule.timing().superslice());
    add_event(wire.transmit(start, all), event.index, true);
}

SlotLinks::Piece SlotLowLatency::on_link(const Piece& piece, Time start) {
    return {static_cast<std::uint64_t>(piece.packets), piece.payload, start, later(start, piece.all)};
}

/// The first packet of a piece comes to a switch.
void SlotLowLatency::come(const Event& event, SlotLinks& links, SlotMessages& messages) {
    Piece& piece = pieces_[event.index];
    if (piece.hops_done < piece.path.size()) {
        const Rotor rotor = piece.path[piece.hops_done++];
        const Time start = uplink(piece.at, rotor).transmit(event.time, piece.all);
        links.cross_circuit({rotor, network_.schedule.matching_index(rotor, piece.superslice), piece.at},
                            on_link(piece, start));
        piece.at = network_.schedule.peer(rotor, piece.at, piece.superslice);
        add_event(later(start, piece.first + network_.propagation), event.index, false);
        return;
    }
    Sending& sending = sendings_[piece.sending];
    const Time start = down_[sending.destination.index()].transmit(event.time, piece.all);
    links.cross_down(sending.destination.index(), on_link(piece, start), network_.host_latency);
    sending.latest = std::max(sending.latest, later(start, piece.all + network_.host_latency));
    free_pieces_.push_back(event.index);
    --sending.in_flight;
    if (sending.packets_left == 0 && sending.in_flight == 0) {
        if (sending.latest == Time::max()) {
            ++beyond_time_;
        } else {
            messages.arrives(sending.message, sending.latest);
        }
        free_sendings_.push_back(piece.sending);
    }
}

/// What no event is left for is beyond simulated time.
void SlotLowLatency::add_event(Time time, std::uint32_t index, bool leaves) {
    if (time == Time::max()) {
        ++beyond_time_;
        return;
    }
    events_.push({time, added_++, index, leaves});
}

/// Time that what is left of a message takes of its host's link, piece by piece.
Time SlotLowLatency::at_source(const Sending& sending) const {
    const std::int64_t full = (sending.packets_left - 1) / sending.packets_a_piece;
    const Bytes payload = network_.bulk.payload * sending.packets_a_piece;
    const Time piece = time_of(payload, sending.packets_a_piece);
    if (full > 0 && piece > Time::max() / full) {
        return Time::max();
    }
    return later(piece * full, time_of(sending.left - payload * full,
                                       sending.packets_left - sending.packets_a_piece * full));
}

Time SlotLowLatency::Wire::transmit(Time at, Time all) {
    const Time start = std::max(at, free_from);
    free_from = later(start, all);
    booked = later(booked, all);
    return start;
}

/// What was transmitted by `now` and not yet charged; what is booked is transmitted last.
Time SlotLowLatency::Wire::charge(Time now, Time most) {
    const Time transmitted = std::max(charged, booked - std::max(Time(0), free_from - now));
    return std::min(most, transmitted - std::exchange(charged, transmitted));
}

std::uint32_t SlotLowLatency::packets(Time time) const {
    return static_cast<std::uint32_t>((time.count() + packet_.count() - 1) / packet_.count());
}

SlotLowLatency::Taken SlotLowLatency::taken(std::uint32_t host, Time uplink, Time now) {
    const Time most = network_.schedule.timing().superslice();
    return {packets(up_[host].charge(now, most) + uplink), packets(down_[host].charge(now, most))};
}

Time SlotLowLatency::taken_of_uplink(Rack rack, Rotor rotor, Time now) {
    const Time most = network_.schedule.timing().superslice() * network_.schedule.residence();
    return uplink(rack, rotor).charge(now, most) / network_.hosts_per_rack;
}

}  // namespace astrolabe::network::rotor
