/// Circuits that move with the demand: the contract between those who plan a wiring and engines that run it.
///
/// Model. Every host has the same number of ports, and a link leaves each. At the instants `every`,
/// 2·`every`, … at which bytes wait, the controller observes how many wait for every pair of hosts, and
/// answers with the wiring that it wants, or with nothing if the present one stays. From that instant on
/// links that move are *dark*; `delay` later the new wiring is whole:
///
///     [t, t + delay)        `meanwhile`: the links that stay, over which what can go on goes on
///     [t + delay, …)        `next`
///
/// What has no route waits where it is. `delay` is less than `every`, so a wiring is whole when the next is
/// planned.
///
/// The controller has no state, and its answer follows from what it observes alone: a fabric that has one can
/// be shared, and runs repeat.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

/// What waits at one host for another.
struct WaitingPair {
    HostId source;
    HostId destination;
    Bytes bytes;  ///< >= 0; messages without bytes wait too
};

/// A fabric for some time, without a reconfiguration of its own.
struct WiredFabric {
    std::shared_ptr<const Fabric> fabric;
    /// By link of this fabric, the port it leaves: a link of the fabric that has the reconfiguration, out of
    /// the same host and of the same rate.
    std::vector<LinkId> ports;
};

/// A change of the wiring.
struct Rewiring {
    WiredFabric meanwhile;  ///< not looked at where `delay` is 0
    WiredFabric next;       ///< its links are the ports, by number
    std::size_t dark = 0;   ///< links of `next` that are not in `meanwhile`
};

class DemandAwareCircuits {
public:
    /// 0 <= delay < every.
    DemandAwareCircuits(Time every, Time delay)
        : every_(every),
          delay_(delay) {
        ASTROLABE_ASSERT(Time(0) <= delay && delay < every, "circuits come up before the next change");
    }
    virtual ~DemandAwareCircuits() = default;

    [[nodiscard]] Time every() const { return every_; }
    [[nodiscard]] Time delay() const { return delay_; }

    /// None: the wiring stays. `present` is the fabric itself or that of the last `next`; `waiting` names a
    /// pair at most once, in any order that is the same in every run.
    ///
    /// As long as something waits, the wiring that comes of it carries something of what waits.
    [[nodiscard]] virtual std::optional<Rewiring> rewire(const Fabric& present,
                                                         std::span<const WaitingPair> waiting) const = 0;

    /// The same on links of other rates and latencies that are dark for another time, each times its factor
    /// (scaling.hpp), or why that cannot be.
    [[nodiscard]] virtual std::variant<std::shared_ptr<const DemandAwareCircuits>, ValidationErrors> scaled(
        double /*links*/, double /*latency*/, double /*reconfiguration*/) const {
        return ValidationErrors{{"", "its circuits are not made for other speeds", "leave it out"}};
    }

private:
    Time every_;
    Time delay_;
};

}  // namespace astrolabe::network
