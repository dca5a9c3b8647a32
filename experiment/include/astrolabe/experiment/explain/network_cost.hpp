/// Prices from files, and the cost of the network of an experiment (network/cost/cost.hpp).
///
/// Equal cost. Beside the keys of its kind a network may have
///
///     cost_equivalent_to: FILE     another network, or an experiment with one
///     solve_for: …                 what is free here
///     costs: FILE                  prices; unset: those the program has built in, inputs/costs/default.yaml
///
/// and is then made to cost the same per host, c, as the other one:
///
///     link_rate          any kind with one link.rate: the greatest rate in whole bit/s that costs at most c.
///                        Rates that follow from it follow.
///     oversubscription   fat_tree: so many aggregation switches in each pod, leaf_spine: so many spines,
///                        that the cost is nearest to c, the lower of two that are equally near; at least
///                        one, at most as many as make the edge switches 1:1. The tree as it is given says
///                        the rest: all cables keep their rate and number, and an aggregation switch
///                        the number of cores it reaches.
///
/// The cost does not fall as either grows, so both are found by bracketing: bisection over the rates that
/// prices are listed for, then straight lines, exact where the cost is one. What is read is the network with
/// the number found, and so is the resolved experiment: it does not need the other file.
///
/// Errors, at the place of cost_equivalent_to: no number reaches c; the other network is itself made to
/// cost as much as a third; the kind has nothing to solve for; what is solved for is also given.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/cost/cost.hpp>

namespace astrolabe::experiment {

struct PriceFile {
    network::PriceList list;
    ConfigNode node;  ///< what was read, for diagnostics
};

[[nodiscard]] Result<PriceFile> load_prices(const std::filesystem::path& path);
/// Those of inputs/costs/default.yaml when the program was built.
[[nodiscard]] PriceFile default_prices();

/// What the network section says and its fabric does not show: `medium`. `section` is as resolved.
[[nodiscard]] network::Wiring wiring_of(const ConfigNode& section);

/// Or which prices are missing, at their places in the file.
[[nodiscard]] Result<network::NetworkCost> network_cost(const network::Fabric& fabric,
                                                        const network::Wiring& wiring,
                                                        const PriceFile& prices);
[[nodiscard]] Result<network::NetworkCost> network_cost(const Experiment& experiment,
                                                        const PriceFile& prices);

/// Keys: prices (their name), total_usd, per_host_usd, parts: a list of part, rate_bps, count, price_usd,
/// cost_usd. Of servers also scale_out_usd and inside_servers_usd, and not_priced: a list of part, rate_bps,
/// count.
[[nodiscard]] nlohmann::ordered_json cost_json(const network::NetworkCost& cost,
                                               const network::PriceList& prices);
/// The same for people.
[[nodiscard]] std::string cost_text(const network::NetworkCost& cost, const network::PriceList& prices);

/// Keys of a price list, for `describe`.
[[nodiscard]] ComponentDescription prices_description();
/// Keys of networks that are made to cost as much as others, for `describe`.
[[nodiscard]] ComponentDescription equal_cost_description();

}  // namespace astrolabe::experiment
