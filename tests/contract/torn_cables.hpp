/// Runs in which cables of a network are torn at random times, and what must hold of each, whatever the
/// engine.
#pragma once

#include "engines.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace astrolabe::testing {

struct TornSetting {
    std::string name;
    std::string network;
    std::string backend;
    int ranks = 5;  ///< where the network is built for a job of theirs, its hosts

    friend std::ostream& operator<<(std::ostream& out, const TornSetting& setting) {
        return out << setting.name;
    }
};

/// Every kind of static network with this backend.
[[nodiscard]] std::vector<TornSetting> torn_settings(const std::string& backend);
/// Of these the networks that give a pair one path over cables.
[[nodiscard]] std::vector<TornSetting> torn_one_path_settings(const std::string& backend);
/// Networks with spines under the packet engine with other transports, flow controls and switches.
[[nodiscard]] std::vector<TornSetting> torn_transports();

/// What came of runs, added up.
struct TornRuns {
    std::size_t arrived = 0;  ///< messages
    std::size_t cut = 0;      ///< messages that could not arrive
    std::size_t lost = 0;     ///< packets
};

/// Draws messages and torn cables from `seed`, runs them twice, and says what went wrong, if anything:
///   - every message arrives once, or its pair is named by explain_stall and no links that are up for ever
///     lead from its source to its destination, or back where the engine has acknowledgements;
///   - bytes that are counted as delivered are those of the messages that arrived;
///   - both runs are the same to the picosecond.
[[nodiscard]] std::optional<std::string> run_with_torn_cables(const Setting& setting, std::uint64_t seed,
                                                              TornRuns& runs);

}  // namespace astrolabe::testing
