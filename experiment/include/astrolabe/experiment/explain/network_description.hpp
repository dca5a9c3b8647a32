/// What a network is, before anything is sent: `astrolabe describe FILE`.
///
/// Of every fabric: hosts, switches and cables. Of rotor networks also the lengths of their slices, the
/// capacity of direct circuits with its losses kept apart, hops, spectral gaps and failures
/// (network/rotor/rotor_description.hpp). Of networks that are built for the job of an experiment, what was
/// chosen (topology_report.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/explain/topology_report.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::experiment {

struct DescribedNetwork {
    ConfigNode section;  ///< of the network, as resolved
    std::shared_ptr<const network::Fabric> fabric;
    std::optional<TopologyReport> topology;  ///< of one that is built for the job of an experiment
};

/// The network of a network file, or of an experiment file. One that is built for a job needs the latter.
[[nodiscard]] Result<DescribedNetwork> load_network(const std::string& path, const Components& components);

/// Keys: kind, hosts, switches, cables; of rotor networks `rotors` with what is printed below, times in
/// seconds, rates in bits per second, shares of 1; `topology` of those that are built for a job.
[[nodiscard]] nlohmann::ordered_json describe_json(const DescribedNetwork& described);
/// The same for people.
[[nodiscard]] std::string describe_text(const DescribedNetwork& described);

/// A drawing of the matchings and of the schedule of the rotors, SVG 1.1, readable without other files.
/// Matchings: a square for each pair of racks in the colour of the rotor that joins them, paler for later
/// matchings. Schedule: a row for each rotor, a bar for each matching while it is installed, nothing while it
/// is dark; the first two turns of the rotors.
[[nodiscard]] std::string draw_rotors(const network::rotor::RotorNetwork& network);

}  // namespace astrolabe::experiment
