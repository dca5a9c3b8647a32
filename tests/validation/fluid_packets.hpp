/// The fluid engine beside the packet engine: the questions, their answers and the tables of the docs.
///
/// Fluid links carry payload only. A packet of 4096 B of payload is 4178 B on the wire, so the fluid engine
/// gets links of 4096/4178 of the rate that the packet engine gets: headers are accounted, what remains is
/// queues, store and forward, acknowledgements (0.13 %) and how rates are shared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::testing {

/// Why a ratio may lie outside; each has its paragraph in docs/fluid-against-packets.md.
enum class Outlier { kNone, kQueues, kOneCableAtATime };

struct EngineComparison {
    std::string question;  ///< what ran, as the first columns of its table
    Time fluid;
    Time packet;
    double tolerance = 0;
    Outlier outlier = Outlier::kNone;

    [[nodiscard]] double ratio() const { return to_seconds(fluid) / to_seconds(packet); }
    /// Within the tolerance, or outside for the reason given. A reason that is not needed is wrong, too.
    [[nodiscard]] bool is_as_documented() const;
    [[nodiscard]] std::string row() const;  ///< of a Markdown table
};

/// Ring, direct, double binary trees and hierarchical on one switch, leaf-spine 1:1 and 3:1 and a torus;
/// within 10 %.
[[nodiscard]] std::vector<EngineComparison> compare_collectives(std::size_t ranks);

/// Mean iterations of the HOTI 2020 DLRM and of the Opera study's Model-A; within 5 %.
[[nodiscard]] std::vector<EngineComparison> compare_short_iterations();
[[nodiscard]] std::vector<EngineComparison> compare_long_iterations();

[[nodiscard]] std::string collectives_table(std::span<const EngineComparison> rows);
[[nodiscard]] std::string iterations_table(std::span<const EngineComparison> rows);

}  // namespace astrolabe::testing
