/// Prices from files, and the cost of the network of an experiment (network/cost.hpp).
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/experiment.hpp>
#include <astrolabe/network/cost.hpp>

namespace astrolabe::experiment {

struct PriceFile {
    network::PriceList list;
    ConfigNode node;  ///< what was read, for diagnostics
};

[[nodiscard]] Result<PriceFile> load_prices(const std::filesystem::path& path);
/// Those of inputs/costs/default.yaml when the program was built.
[[nodiscard]] PriceFile default_prices();

/// What the network section says and its fabric does not show: `medium`, and packages of hosts. `section` is
/// as resolved.
[[nodiscard]] network::Wiring wiring_of(const ConfigNode& section);

/// Or which prices are missing, at their places in the file.
[[nodiscard]] Result<network::NetworkCost> network_cost(const network::Fabric& fabric,
                                                        const network::Wiring& wiring,
                                                        const PriceFile& prices);
[[nodiscard]] Result<network::NetworkCost> network_cost(const Experiment& experiment,
                                                        const PriceFile& prices);

/// Keys: prices (their name), total_usd, per_host_usd, parts: a list of part, rate_bps, count, price_usd,
/// cost_usd.
[[nodiscard]] nlohmann::ordered_json cost_json(const network::NetworkCost& cost,
                                               const network::PriceList& prices);
/// The same for people.
[[nodiscard]] std::string cost_text(const network::NetworkCost& cost, const network::PriceList& prices);

/// Keys of a price list, for `describe`.
[[nodiscard]] ComponentDescription prices_description();

}  // namespace astrolabe::experiment
