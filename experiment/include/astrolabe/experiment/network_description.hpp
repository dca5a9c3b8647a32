/// What a network is, before anything is sent: `astrolabe describe FILE`.
///
/// Of every fabric: hosts, switches and cables. Of rotor networks also the lengths of their slices, the
/// capacity of direct circuits with its losses kept apart, hops, spectral gaps and failures
/// (network/opera/rotor_description.hpp).
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/experiment.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/opera/rotor_network.hpp>

namespace astrolabe::experiment {

/// The fabric of a network file, or of the network of an experiment file.
[[nodiscard]] Result<std::shared_ptr<const network::Fabric>> load_fabric(const std::string& path,
                                                                         const Components& components);

/// Keys: kind, hosts, switches, cables; of rotor networks `rotors` with what is printed below, times in
/// seconds, rates in bits per second, shares of 1.
[[nodiscard]] nlohmann::ordered_json describe_json(const network::Fabric& fabric);
/// The same for people.
[[nodiscard]] std::string describe_text(const network::Fabric& fabric);

/// A drawing of the matchings and of the schedule of the rotors, SVG 1.1, readable without other files.
/// Matchings: a square for each pair of racks in the colour of the rotor that joins them, paler for later
/// matchings. Schedule: a row for each rotor, a bar for each matching while it is installed, nothing while it
/// is dark; the first two turns of the rotors.
[[nodiscard]] std::string draw_rotors(const network::opera::RotorNetwork& network);

}  // namespace astrolabe::experiment
