/// When two hosts are next joined directly: what a network of circuits tells those who plan traffic on it
/// (NetworkFamily::direct_opportunities).
///
/// Model. Hosts live at *places* (racks). A circuit joins two places for a while, again and again: each time
/// is an *opportunity* of the ordered pair. What was handed over to the network at its begin or before may
/// leave until its end, and has arrived by then but for the latency of its path. Over one opportunity a host
/// sends at most `packets` packets, of at most `payload` bytes of one message each, and receives as many; so
/// m hosts of one place that all send to the same m hosts of the other have ⌊packets / m⌋ for each pair.
///
/// What waits in the network meanwhile is the network's to forward over third places. To be served by one
/// opportunity and by nothing else a message is handed over within `notice` before its begin: no other
/// opportunity of its host begins in that time.
///
/// Places that never meet have no opportunities. A place meets itself where the network joins its hosts
/// without a circuit.
///
/// Limits: opportunities are those that are planned. What fails in the course of a run, and what other
/// traffic takes of a circuit, is not in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

using PlaceId = Id<struct PlaceTag>;

struct DirectOpportunity {
    Time begin;
    Time end;
};

class DirectOpportunities {
public:
    virtual ~DirectOpportunities() = default;

    [[nodiscard]] virtual std::size_t places() const = 0;
    [[nodiscard]] virtual PlaceId place_of(HostId host) const = 0;

    /// The first opportunity that begins at or after `time` >= 0; none: there never is one, or not before
    /// time ends. O(opportunities of the pair in a period).
    [[nodiscard]] virtual std::optional<DirectOpportunity> next(PlaceId from, PlaceId to,
                                                                Time time) const = 0;
    /// After which all opportunities between different places repeat.
    [[nodiscard]] virtual Time period() const = 0;

    [[nodiscard]] virtual std::uint32_t packets() const = 0;
    [[nodiscard]] virtual Bytes payload() const = 0;
    [[nodiscard]] virtual Time notice() const = 0;
    /// Do messages of this traffic class wait for circuits, whatever their size? Then they may be cut.
    [[nodiscard]] virtual bool wait_for_circuits(std::uint32_t traffic_class) const = 0;
};

}  // namespace astrolabe::network
