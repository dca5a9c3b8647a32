/// The state of a fabric's links as a simulation passes through its failures (failure_timeline.hpp): what
/// engines ask when they step from change to change.
///
/// Complexity: O(1) a change, and O(links) each time routes change.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/failures/failure_timeline.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

class RepairedRouting;

class LinksOverTime {
public:
    /// The state before anything fails. Precondition: the fabric has failures; it outlives this.
    explicit LinksOverTime(const Fabric& fabric);
    ~LinksOverTime();
    LinksOverTime(const LinksOverTime&) = delete;
    LinksOverTime& operator=(const LinksOverTime&) = delete;

    /// Of the next change of a rate or of routes; Time::max(): there is none.
    [[nodiscard]] Time next_change() const;

    using Visitor = std::function<void(LinkId, double factor)>;
    /// Makes all changes up to `now`, calling visit(link, factor) for each link whose rate is another since.
    /// True: routes changed too.
    bool advance(Time now, const Visitor& visit);

    /// Of the link's own rate; 0: it is down.
    [[nodiscard]] double factor(LinkId link) const { return factors_[link]; }
    [[nodiscard]] bool is_up(LinkId link) const { return factors_[link] > 0; }
    /// As those who make routes know the links now; valid until they change.
    [[nodiscard]] const RoutingPolicy& routing() const;

    /// "these pairs are cut: …" of messages between hosts that no links that are up connect, now; empty where
    /// there are none.
    [[nodiscard]] std::string name_cut_pairs(const std::vector<OutstandingMessage>& messages) const;

private:
    const Fabric& fabric_;
    const FailureTimeline& failures_;
    std::size_t next_rate_ = 0;
    std::size_t next_route_ = 0;
    IndexedVector<LinkId, double> factors_;
    IndexedVector<LinkId, std::uint8_t> is_known_down_;
    std::unique_ptr<const RepairedRouting> repaired_;  // null: routes never changed
};

}  // namespace astrolabe::network
