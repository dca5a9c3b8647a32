/// Prices of the parts of networks, in US dollars (cost.hpp).
///
/// A part has one price for all rates, or prices by rate, none of which is below that of a lower rate. At
/// rates between those a price is either not known, or
///
///     r <= r_1           p_1                                      no cheaper part is made
///     r_i < r < r_i+1    p_i + (p_i+1 - p_i)(r - r_i)/(r_i+1 - r_i)
///     r >= r_n           p_n r / r_n                              a bundle of the fastest
///
/// which is continuous and never falls.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>

namespace astrolabe::network {

enum class Part : std::uint8_t {
    kNicPort,
    kTransceiver,
    kFibre,        ///< there and back
    kCopperCable,  ///< with its ends
    kSwitchPort,   ///< of a packet switch
    kRotorPort,
    kPatchPanelPort,
    kCircuitSwitchPort,
    kLookAheadSwitch,  ///< 1x2, optical
    kScaleUpLink,      ///< inside a server, of NVLinks as one, with its ends at GPUs
    kScaleUpPort,      ///< of a scale-up switch
    kPcieLink,         ///< inside a server, with its ends at GPUs, NICs and processors
    kPciePort          ///< of a PCIe switch
};
inline constexpr std::size_t kParts = 13;

/// What is bought with servers where nothing else is said: a price list may leave it out.
[[nodiscard]] constexpr bool is_inside_server(Part part) {
    return part >= Part::kScaleUpLink;
}

/// As in a price list: "nic_port".
[[nodiscard]] std::string_view key_of(Part part);

/// What the cables between hosts and switches are.
enum class HostCables : std::uint8_t { kFibre, kCopper };

/// What is known of rates that are not listed.
enum class OtherRates : std::uint8_t { kRefuse, kInterpolate };

struct PricePoint {
    Bandwidth rate;
    double dollars = 0.0;
};

struct Price {
    std::optional<double> dollars;    ///< at all rates; or
    std::vector<PricePoint> by_rate;  ///< by ascending rate
    OtherRates other_rates = OtherRates::kRefuse;
    std::string source;  ///< must be given

    /// Of one part at this rate; nothing where that is not known.
    [[nodiscard]] std::optional<double> at(Bandwidth rate) const;
};

struct PriceList {
    std::string name;
    HostCables host_cables = HostCables::kFibre;
    std::array<std::optional<Price>, kParts> prices;

    [[nodiscard]] const std::optional<Price>& of(Part part) const {
        return prices[static_cast<std::size_t>(part)];
    }
    /// All rates that a price is listed for, ascending, each once.
    [[nodiscard]] std::vector<Bandwidth> listed_rates() const;
};

[[nodiscard]] ValidationErrors validation_errors(const Price& price);

[[nodiscard]] Schema<PriceList> price_schema();

}  // namespace astrolabe::network
