/// What a backend may ask of the one it notifies, so that it can run ahead where messages only follow from
/// each other.
///
/// Model. In a collective on a ring every message that a rank receives makes it send the next one to its
/// neighbour, and nothing else, thousands of times in a row. While that holds, and while no two of the pairs
/// of hosts share a link, what a host sends on such a *hop* depends on what has come over one other hop, and
/// on nothing else. A host may be on several rings, each with hops of its own. So a backend that knows the
/// rate of each pair need not follow all of them from instant to instant: it computes what one pair delivers
/// for a while, then the next pair, without an event for any message. Times are those that events would give.
///
/// Example. A ring of 4 hosts, 1 MB on each of its pairs at 100 Gbit/s, 1 us of latency, 6 steps: the
/// deliveries at 81, 162, 243, 324 and 405 us cause one message each, and those at 486 us end the collective.
/// At 81 us all that arrives before 162 us is known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

class Forwarder : public NotificationHandler {
public:
    /// A pair of hosts; what comes over it goes on over hop `next`.
    struct Hop {
        HostId source;
        HostId destination;
        std::uint32_t next = 0;
    };
    /// A message whose delivery causes one message at most, from the host that receives it, and nothing else.
    struct Forwarded {
        Bytes least;        ///< > 0; what follows from it has no fewer
        bool ends = false;  ///< but this one: it is to be notified
    };
    /// A message that a delivery causes; without bytes: none.
    struct Caused {
        Bytes size;
        std::uint64_t token = 0;
        bool ends = false;
    };

    /// Between which messages may be forwarded now, each once. Empty: none are. Valid until the next call.
    /// O(hops, and collectives under way).
    [[nodiscard]] virtual std::span<const Hop> hops() = 0;
    /// Of a message of now, by its token. Nothing: it is not one of these.
    [[nodiscard]] virtual std::optional<Forwarded> forwarded(std::uint64_t token) const = 0;
    /// In the place of `notify`, of forwarded messages of one hop that do not end: `caused` is as long.
    /// Deliveries of one hop come in their order, those of different hops in any; none is later than what is
    /// notified next.
    virtual void forward(std::span<const std::uint64_t> tokens, std::span<Caused> caused) = 0;

protected:
    ~Forwarder() = default;
};

}  // namespace astrolabe::network
