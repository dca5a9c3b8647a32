/// The fabric of a rotor network: hosts, top-of-rack switches, and circuits that come and go.
///
/// Graph. Host h hangs on the switch of rack ⌊h / hosts_per_rack⌋ by one cable. For each rotor, each of its
/// matchings and each pair of racks that it joins there is one full-duplex cable between their switches. It
/// exists while the matching is installed, but for the r at the end, in which the rotor is dark:
///
///     interval 2s      eps + del of superslice s    the circuits of all rotors
///     interval 2s + 1  r of superslice s            those of the rotors that do not go dark
///
/// (an interval without length is left out). Rotors themselves are not nodes: they add no delay. Shortest
/// paths lead over the one circuit between two racks, so an engine that knows nothing of rotors has messages
/// wait for it.
///
/// N racks have N (N - 1) / 2 circuits. Memory: about 150 bytes for each, and 8 for each circuit in each
/// interval: 60 MB for 512 racks with 8 uplinks.
#pragma once

#include "rotor_family.hpp"

#include <memory>
#include <string>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::network::rotor {

/// `kind` is that of the fabric: "opera", "rotornet".
[[nodiscard]] std::shared_ptr<const Fabric> build_rotor_fabric(std::string kind,
                                                               std::shared_ptr<const RotorNetwork> network,
                                                               RotorVariants variants = {});

}  // namespace astrolabe::network::rotor
