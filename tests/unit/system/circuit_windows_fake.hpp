/// Places that meet by turns, in arithmetic that a test can follow.
#pragma once

#include <cstdint>
#include <optional>

#include <astrolabe/network/circuit_windows.hpp>

namespace astrolabe::testing {

/// n places of h hosts, host i at place ⌊i/h⌋. Places x and y meet at (x + y mod n)·T, and again every n·T,
/// for `kOpen`. 10 packets of 100 bytes each, notice T/2. `meets_itself`: a place meets itself at every T.
class TurnsOfPlaces final : public network::CircuitWindows {
public:
    static constexpr Time kTurn{1'000'000};  ///< T
    static constexpr Time kOpen{900'000};

    TurnsOfPlaces(std::uint32_t places, std::uint32_t hosts, bool meets_itself = false)
        : places_(places),
          hosts_(hosts),
          meets_itself_(meets_itself) {}

    [[nodiscard]] std::size_t places() const override { return places_; }
    [[nodiscard]] network::PlaceId place_of(network::HostId host) const override {
        return network::PlaceId(host.index() / hosts_);
    }
    [[nodiscard]] std::optional<network::CircuitWindow> next(network::PlaceId from, network::PlaceId to,
                                                             Time time) const override {
        const std::int64_t now = (time + kTurn - Time(1)) / kTurn;
        if (from == to) {
            return meets_itself_ ? std::optional(at(now)) : std::nullopt;
        }
        const auto turn = static_cast<std::int64_t>((from.index() + to.index()) % places_);
        const auto places = static_cast<std::int64_t>(places_);
        return at(now + ((turn - now) % places + places) % places);
    }
    [[nodiscard]] Time period() const override { return kTurn * places_; }
    [[nodiscard]] std::uint32_t packets() const override { return 10; }
    [[nodiscard]] Bytes payload() const override { return Bytes(100); }
    [[nodiscard]] Time notice() const override { return kTurn / 2; }
    [[nodiscard]] bool wait_for_circuits(std::uint32_t traffic_class) const override {
        return traffic_class != passing_class_;
    }

    void let_pass(std::uint32_t traffic_class) { passing_class_ = traffic_class; }

private:
    [[nodiscard]] static network::CircuitWindow at(std::int64_t turn) {
        return {kTurn * turn, kTurn * turn + kOpen};
    }

    std::uint32_t places_;
    std::uint32_t hosts_;
    bool meets_itself_;
    std::uint32_t passing_class_ = 7;
};

}  // namespace astrolabe::testing
