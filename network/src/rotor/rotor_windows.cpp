// Circuit windows of racks on rotor switches: from the installation of a matching, the bulk slot.
//
// Whatever waits at a host when a matching is installed may be granted a circuit then, and nothing is granted
// in between (slot_engine.hpp). Installations are a superslice T apart, so half a superslice of notice is
// after the one before. Hosts of one rack are connected at every installation, whether their uplink idles or
// not, if their messages may cross their own switch; else they have to go through another rack.

#include "../engines/slots/slot_timing.hpp"
#include "rotor_family.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::rotor {

namespace {

class RotorWindows final : public CircuitWindows {
public:
    explicit RotorWindows(std::shared_ptr<const RotorNetwork> network)
        : network_(std::move(network)),
          superslice_(schedule().timing().superslice()),
          packets_(SlotTiming(*network_).packets_per_slot()) {}

    [[nodiscard]] std::size_t places() const override { return schedule().racks(); }
    [[nodiscard]] PlaceId place_of(HostId host) const override {
        return PlaceId(host.index() / network_->hosts_per_rack);
    }

    [[nodiscard]] std::optional<CircuitWindow> next(PlaceId from, PlaceId to, Time time) const override {
        ASTROLABE_ASSERT(time >= Time(0), "time starts at 0");
        if (time > Time::max() - 2 * period()) {
            return std::nullopt;
        }
        const std::int64_t now = time / superslice_ + (time % superslice_ > Time(0) ? 1 : 0);
        if (from == to) {
            const bool is_joined = network_->bulk.intra_rack == IntraRack::kDirect;
            return is_joined ? std::optional(opportunity(now)) : std::nullopt;
        }
        const auto cycle = static_cast<std::int64_t>(schedule().superslices());
        std::optional<std::int64_t> soonest;
        for (const RotorSchedule::Installation& circuit :
             schedule().installations(from.index(), to.index())) {
            const std::int64_t wait = ((circuit.first - now) % cycle + cycle) % cycle;
            soonest = std::min(soonest.value_or(now + wait), now + wait);
        }
        return soonest ? std::optional(opportunity(*soonest)) : std::nullopt;
    }
    [[nodiscard]] Time period() const override { return schedule().cycle(); }

    [[nodiscard]] std::uint32_t packets() const override { return packets_; }
    [[nodiscard]] Bytes payload() const override { return network_->bulk.payload; }
    [[nodiscard]] Time notice() const override { return superslice_ / 2; }
    [[nodiscard]] bool wait_for_circuits(std::uint32_t traffic_class) const override {
        return !network_->is_low_latency(Bytes(0), traffic_class);
    }

private:
    [[nodiscard]] const RotorSchedule& schedule() const { return network_->schedule; }
    [[nodiscard]] CircuitWindow opportunity(std::int64_t superslice) const {
        const Time begin = superslice_ * superslice;
        return {begin, begin + schedule().bulk_slot()};
    }

    std::shared_ptr<const RotorNetwork> network_;
    Time superslice_;
    std::uint32_t packets_;
};

}  // namespace

std::shared_ptr<const CircuitWindows> rotor_windows(std::shared_ptr<const RotorNetwork> network) {
    return std::make_shared<const RotorWindows>(std::move(network));
}

}  // namespace astrolabe::network::rotor
