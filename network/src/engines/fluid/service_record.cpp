#include "service_record.hpp"

#include <utility>

namespace astrolabe::network {

ServiceRecord::Sent& ServiceRecord::sent_of(std::uint32_t connection) {
    if (connection >= sent_.size()) {
        sent_.resize(connections_.size());
    }
    return sent_[connection];
}

PieceBytes ServiceRecord::sent_by(std::uint32_t connection) {
    const PieceBytes in_service = bytes_.in_service(connection);
    return {sent_of(connection).wire_of_whole + in_service.wire,
            static_cast<double>(connections_[connection].served.count()) + in_service.payload};
}

void ServiceRecord::report_until(std::uint32_t connection, Time now, const PeriodicRate* rate,
                                 const PieceBytes& all) {
    Sent& sent = sent_of(connection);
    const Time from = std::exchange(sent.until, now);
    PieceBytes left{all.wire - sent.reported.wire, all.payload - sent.reported.payload};
    const bool is_open = connections_[connection].state == Connection::State::kServing;
    // What is a part of a byte at one instant is of the next piece, if there is one.
    if (left.wire <= 0.0 || (from == now && is_open)) {
        return;
    }
    sent.reported = all;
    if (rate == nullptr) {
        report(connection, from, now, left);
        return;
    }
    cut(*rate, from, now);
    double given = 0;
    for (const Part& part : parts_) {
        given += part.bytes;
    }
    const double scale = given > 0.0 ? 1.0 / given : 0.0;
    const PieceBytes whole = left;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const double share = parts_[i].bytes * scale;
        // The last one has what rounding left, so that nothing is lost.
        const PieceBytes piece =
            i + 1 == parts_.size() ? left : PieceBytes{whole.wire * share, whole.payload * share};
        left.wire -= piece.wire;
        left.payload -= piece.payload;
        report(connection, parts_[i].from, parts_[i].to, piece);
    }
    if (parts_.empty()) {
        report(connection, now, now, left);
    }
}

void ServiceRecord::cut(const PeriodicRate& rate, Time from, Time to) {
    parts_.clear();
    const Time interval = observer_.interval(to);
    const auto add = [this](Time begin, Time end, double bytes) {
        if (bytes > 0.0) {
            parts_.push_back({begin, end, bytes});
        }
    };
    if (rate.segments_between(from, to) <= (to / interval - from / interval) + 1) {
        rate.for_each_segment(from, to, add);
        return;
    }
    for (Time begin = from; begin < to;) {
        const Time left = interval - begin % interval;
        const Time end = left < to - begin ? begin + left : to;
        add(begin, end, rate.served(begin, end));
        begin = end;
    }
}

void ServiceRecord::report(std::uint32_t connection, Time from, Time to, const PieceBytes& bytes) {
    rates_.for_each_link(connection, [&](LinkId link, double load) {
        observer_.carried(link, from, to, {bytes.wire * load, bytes.payload * load});
    });
    const Connection& sender = connections_[connection];
    const auto later = [&](Time time) {
        return sender.latency < Time::max() - time ? time + sender.latency : Time::max();
    };
    observer_.delivered(sender.destination, later(from), later(to), bytes.payload);
}

}  // namespace astrolabe::network
