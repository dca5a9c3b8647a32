/// What a network is, before anything is sent: `astrolabe describe FILE`.
///
/// Of every fabric: hosts, switches and cables, and what its family adds (network/family.hpp). Of networks
/// that are built for the job of an experiment that is what was chosen, and what the job makes of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::experiment {

struct DescribedNetwork {
    ConfigNode section;  ///< of the network, as resolved
    std::shared_ptr<const network::Fabric> fabric;
    network::Description description;     ///< what its family adds
    std::vector<FailureSpan> failures{};  ///< of an experiment's section `failures`, by time
};

/// The network of a network file, or of an experiment file, with what that has `scaled` and what fails of it.
/// One that is built for a job needs the latter.
[[nodiscard]] Result<DescribedNetwork> load_network(const std::string& path, const Components& components);

/// What the family of an experiment's network adds, with what the job sends over it. Complexity: that of
/// `traffic_matrix`, and what the family says.
[[nodiscard]] network::Description describe_for_job(const Experiment& experiment);

/// Keys: kind, hosts, switches, cables; one_way_links where there are any; that of the family's description;
/// failures where there are any, with times in seconds.
[[nodiscard]] nlohmann::ordered_json describe_json(const DescribedNetwork& described);
/// The same for people.
[[nodiscard]] std::string describe_text(const DescribedNetwork& described);

}  // namespace astrolabe::experiment
