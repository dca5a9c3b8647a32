// What carries out an experiment: a backend, and how the ranks on it are folded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/folding.hpp>

namespace astrolabe::experiment {

struct Engine {
    std::unique_ptr<network::NetworkBackend> backend;
    network::Folding folding;
    std::string refusal;  // where they are not
};

/// Why all ranks are simulated after a folded run that met a tie.
inline constexpr const char* kTieRefusal = "two things of one instant could as well come in the other order";

/// The hosts of the ranks, by rank.
[[nodiscard]] std::vector<network::HostId> place_ranks(const Experiment& experiment);

/// With every rank.
[[nodiscard]] Engine whole_engine(const Experiment& experiment, const std::vector<network::HostId>& placement,
                                  std::string refusal);
/// With as few ranks as the cluster, the backend and the program let it; all if what happens is
/// recorded.
[[nodiscard]] Engine make_engine(const Experiment& experiment, const std::vector<network::HostId>& placement,
                                 bool is_recorded);

}  // namespace astrolabe::experiment
