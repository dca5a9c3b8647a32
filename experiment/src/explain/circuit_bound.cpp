#include "circuit_bound.hpp"

#include <algorithm>
#include <cmath>

#include <astrolabe/network/family.hpp>

namespace astrolabe::experiment {
namespace {

using network::LinkId;
using network::NodeId;

/// What the links of one place carry in every interval of a period, in bytes per picosecond.
class Capacity {
public:
    explicit Capacity(const network::CircuitSchedule& circuits)
        : circuits_(circuits),
          rates_(circuits.intervals().size(), 0) {}

    void add(LinkId link, Bandwidth rate) {
        const double bytes = to_bytes_per_second(rate) / 1e12;
        if (circuits_.is_circuit(link)) {
            for (const std::uint32_t interval : circuits_.intervals_of(link)) {
                rates_[interval] += bytes;
            }
        } else {
            always_ += bytes;
        }
    }
    void add_always(Bandwidth rate) { always_ += to_bytes_per_second(rate) / 1e12; }

    /// When so much can have been carried, counted from 0. Where nothing ever is, no run ends: 0.
    [[nodiscard]] Time until(double bytes) const {
        const auto carried_in = [this](std::size_t interval) {
            const Time duration = circuits_.intervals()[interval].duration;
            return (rates_[interval] + always_) * static_cast<double>(duration.count());
        };
        double of_a_period = 0;
        for (std::size_t interval = 0; interval < rates_.size(); ++interval) {
            of_a_period += carried_in(interval);
        }
        if (of_a_period <= 0) {
            return Time(0);
        }
        const double periods = std::floor(bytes / of_a_period);
        if (periods >= 9.2e18 / static_cast<double>(circuits_.period().count())) {
            return Time::max();
        }
        double left = bytes - periods * of_a_period;
        std::size_t interval = 0;
        while (interval + 1 < rates_.size() && left > carried_in(interval)) {
            left -= carried_in(interval++);
        }
        const double rate = rates_[interval] + always_;
        const Time inside = rate > 0 ? Time(static_cast<std::int64_t>(left / rate)) : Time(0);
        return saturating_sum(
            circuits_.period() * static_cast<std::int64_t>(periods),
            circuits_.begin(interval) + std::min(inside, circuits_.intervals()[interval].duration));
    }

private:
    const network::CircuitSchedule& circuits_;
    std::vector<double> rates_;
    double always_ = 0;
};

}  // namespace

Time circuit_bound(const TotalLoad& total, const network::Fabric& fabric) {
    struct Crossing {
        double out = 0;
        double in = 0;
    };
    std::vector<Crossing> of_place(fabric.node_count());
    for (const network::PlaceTraffic& pair : total.places) {
        of_place[pair.source.index()].out += pair.amount;
        of_place[pair.destination.index()].in += pair.amount;
    }
    const std::optional<Bandwidth> always = fabric.family().rate_of_place();
    Time most;
    for (std::size_t i = 0; i < fabric.node_count(); ++i) {
        const auto [out, in] = of_place[i];
        if (out <= 0 && in <= 0) {
            continue;
        }
        const NodeId place(i);
        Capacity away(fabric.circuits());
        Capacity back(fabric.circuits());
        if (always) {
            away.add_always(*always);
            back.add_always(*always);
        }
        for (std::size_t port = 0; port < fabric.out_degree(place); ++port) {
            const LinkId link(fabric.first_link(place).index() + port);
            if (is_between_places(fabric, link) && !always) {
                away.add(link, fabric.link(link).rate);
            }
        }
        for (const LinkId link : fabric.links_into(place)) {
            if (is_between_places(fabric, link) && !always) {
                back.add(link, fabric.link(link).rate);
            }
        }
        most = std::max({most, away.until(out * kSafety), back.until(in * kSafety)});
    }
    return most;
}

}  // namespace astrolabe::experiment
