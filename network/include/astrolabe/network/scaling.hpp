/// A network with other speeds, whatever its kind: rates of its link classes, latencies, and how long
/// circuits are down, each times a factor.
///
/// Limits first. Links, routes, buffers and circuits stay those of the network: a topology that was chosen
/// for a job is not chosen anew. Links are told apart by the kinds of nodes at their ends alone. Where a
/// family has one rate for all links (NetworkFamily::has_one_rate) its classes are scaled alike. A schedule of
/// circuits gets no shorter with faster links, and longer where packets then need longer.
///
/// Model. With C and alpha the rate and the latency of a link of class c, F the time that a host takes to
/// forward, and r the time that a circuit is down when it changes,
///
///     C' = k_c C      alpha' = a alpha      F' = a F      r' = q r
///
/// rounded to a bit per second and a picosecond. An infinite k_c makes C' the largest rate that a link may
/// have, 1 Pb/s: what remains of a transfer at 100 Gb/s is a ten-thousandth.
///
/// Example. On a leaf-spine network {links: {spine-leaf: 2}} doubles the uplinks of all leaves and nothing
/// else.
///
/// Complexity: O(links), and the routes of the network once more.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::network {

struct Scaling {
    std::map<std::string, double> links{};  ///< k > 0 by class, may be infinite; others keep their rate
    double latency = 1;                     ///< a >= 0
    double reconfiguration = 1;             ///< q >= 0

    /// Of a class.
    [[nodiscard]] double of_links(const std::string& link_class) const;
};

/// What the links between two kinds of nodes are called, the kind that was added first in front: "host-leaf".
/// Numbers are left out of names.
[[nodiscard]] std::string link_class_name(const Fabric& fabric, LinkId link);
/// All of a fabric, in the order of their first links.
[[nodiscard]] std::vector<std::string> link_class_names(const Fabric& fabric);

/// The rate times a factor that may be infinite, and not more than a link may have.
[[nodiscard]] Bandwidth scaled(Bandwidth rate, double factor);
[[nodiscard]] Time scaled(Time time, double factor);

/// Or what cannot be scaled so, by keys of Scaling: "links.host-leaf".
[[nodiscard]] ScaledFabric scale(const std::shared_ptr<const Fabric>& fabric, const Scaling& scaling);

}  // namespace astrolabe::network
