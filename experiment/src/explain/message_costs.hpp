/// What one message takes under a transport, by the equations of transport_estimate.hpp.
#pragma once

#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/transport.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::experiment::wire {

[[nodiscard]] inline double seconds_of(Time time) {
    return to_seconds(time);
}

[[nodiscard]] inline double count_of(Bytes bytes) {
    return static_cast<double>(bytes.count());
}

/// Seconds that a byte takes on a link.
[[nodiscard]] inline double byte_seconds(const network::Fabric& fabric, network::LinkId link) {
    return 1 / to_bytes_per_second(fabric.link(link).rate);
}

struct Path {
    double forward = 0;  ///< α, seconds
    double back = 0;     ///< α'
    double slowest = 0;  ///< seconds for a byte on the slowest link
    double all = 0;      ///< on all links one after another

    Path& operator+=(const Path& other) {
        forward += other.forward;
        back += other.back;
        slowest += other.slowest;
        all += other.all;
        return *this;
    }
    [[nodiscard]] Path over(double count) const {
        return {forward / count, back / count, slowest / count, all / count};
    }
};

/// The path from one host to another; by `single` the one that `select` follows, else as the fabric spreads
/// it.
[[nodiscard]] Path path_between(const network::Fabric& fabric, network::HostId source,
                                network::HostId destination, bool single);

/// Messages of one size.
struct MessageGroup {
    double size = 0;
    double count = 0;
};

/// Sizes are known by powers of two; the groups have the bytes of every stage.
[[nodiscard]] std::vector<MessageGroup> message_groups(const system::OperationTraffic& traffic);

/// Of a message of `size`; 0 of an engine without packets, and of an empty message.
[[nodiscard]] double packets_of(double size, const network::Transport& transport);

/// Bytes on links for each of payload: of messages, and of what acknowledges them.
struct WireFactors {
    double messages = 1;
    double acknowledgements = 0;
};

[[nodiscard]] WireFactors wire_factors(const std::vector<MessageGroup>& groups,
                                       const network::Transport& transport);

/// For a pair of hosts whose connection is as fast as it gets.
inline constexpr double kEstablished = -1;

/// What a message takes beside its bytes on the slowest link of its path.
class MessageCosts {
public:
    MessageCosts(const network::Transport& transport, double concurrent)
        : transport_(transport),
          concurrent_(concurrent),
          payload_(transport.payload == Bytes(0) ? 0 : count_of(transport.payload)),
          header_(count_of(transport.header)) {}

    [[nodiscard]] double latency(const Path& path) const { return transport_.has_latency ? path.forward : 0; }
    [[nodiscard]] double wire(double size) const {
        return size <= 0
                   ? 0
                   : size + count_of(transport_.message_header) + packets_of(size, transport_) * header_;
    }
    [[nodiscard]] double stored(double size, const Path& path) const {
        return transport_.stores_packets && size > 0
                   ? (std::min(size + count_of(transport_.message_header), payload_) + header_) *
                         (path.all - path.slowest)
                   : 0;
    }
    /// Of a message whose pair has sent `before` so far, and has a window that grew by as much.
    [[nodiscard]] double connection(double size, const Path& path, double before) const {
        double delay = 0;
        if (transport_.has_handshake && before == 0) {
            delay += path.forward + path.back + 2 * header_ * path.all;
        }
        if (!transport_.initial_window) {
            return delay;
        }
        const double pace = byte_pace(path) * concurrent_;
        const double trip = round_trip(size, path);
        double window = count_of(*transport_.initial_window) + before;
        const double most = transport_.window ? count_of(*transport_.window) : 1e18;
        for (double sent = 0; window < most && window * pace < trip && sent + window < size; window *= 2) {
            delay += trip - window * pace;
            sent += window;
        }
        return delay;
    }
    /// `size` between two ranks at the rate of their window, beyond what it takes without.
    [[nodiscard]] double window_limited(double size, const Path& path) const {
        if (!transport_.window || size <= count_of(*transport_.window)) {
            return 0;
        }
        const double window = count_of(*transport_.window);
        return std::max(0.0, (size - window) * (round_trip(size, path) / window - byte_pace(path)));
    }
    /// What `count` messages between two ranks need of their window, as the time that it takes to come round.
    [[nodiscard]] double window_time(double size, double count, const Path& path) const {
        if (!transport_.window || size <= 0) {
            return 0;
        }
        const double share = transport_.window_counts_packets
                                 ? packets_of(size, transport_) * payload_ / count_of(*transport_.window)
                                 : size / count_of(*transport_.window);
        return count * share * round_trip(size, path);
    }
    /// From when the last part of a message that its window has room for leaves to when it is there.
    [[nodiscard]] double last_window(double size, const Path& path) const {
        const double part = transport_.window ? std::min(size, count_of(*transport_.window)) : size;
        return latency(path) + wire(part) * path.slowest + stored(part, path);
    }
    [[nodiscard]] double round_trip(double size, const Path& path) const {
        const double packet = payload_ > 0 ? std::min(size, payload_) + header_ : 0;
        return path.forward + path.back + (packet + count_of(transport_.acknowledgement)) * path.all;
    }
    /// `before`: kEstablished, or what its pair sent before. Those alike connect together, and wait for
    /// `longest`.
    [[nodiscard]] double message(double size, const Path& path, double before, const Path& longest) const {
        const double own_before = transport_.connects_messages ? 0 : before;
        return latency(path) + wire(size) * path.slowest + stored(size, path) + window_limited(size, path) +
               (own_before == kEstablished ? 0 : connection(size, longest, own_before));
    }

private:
    /// Seconds for a byte of payload in full packets.
    [[nodiscard]] double byte_pace(const Path& path) const {
        return path.slowest * (payload_ > 0 ? (payload_ + header_) / payload_ : 1);
    }
    const network::Transport& transport_;
    double concurrent_;
    double payload_;
    double header_;
};

}  // namespace astrolabe::experiment::wire
