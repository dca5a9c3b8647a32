/// Links for immutable traffic: matchings of greatest demand, one for each interface.
///
/// Model. Each round takes a matching of greatest weight in the demand that is left, T_ij + T_ji between
/// servers i and j, and then halves what its pairs ask for: a second link between the same two is worth half
/// of the first. All servers are matched, but one where their number is odd: the pairs of a matching of
/// greatest weight among those who ask for something, then the rest, among whom no demand is left. As no
/// weight is negative this is a perfect matching of greatest weight. The rest, in ascending order, is paired
/// with those half the list away, and the one left over in an odd number is the middle one: links that no
/// demand wants are at least chords.
///
/// Weights are integers in the matching, the demand times a power of 2 so that the greatest has 50 bits:
/// halvings are exact until a weight is below 2^-50 of the greatest.
///
/// The matching is LEMON's blossom algorithm (Edmonds 1965; Dezső, Jüttner, Kovács, LEMON 2011), O(n m log n)
/// for m pairs with demand: 1,024 servers that all ask for different amounts take 3 s a round, 20,000 pairs
/// 4 ms. Boost.Graph 1.74's maximum_weighted_matching crashes on 64 servers of equal demand. Equal weights
/// are resolved the same way for the same demand.
///
/// Source: TopoOpt (NSDI 2023), section 4.2, "MP sub-topology". C++17, for the ns-3 module.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <astrolabe/network/demand.hpp>

namespace astrolabe::network::topoopt {

struct MatchingRound {
    std::vector<std::pair<Server, Server>> pairs;  ///< smaller server first, ascending
    double weight = 0;                             ///< bytes left to ask for, of these pairs
};

/// `rounds` of them for `servers` >= 2; `demand` is of as many servers, or of none.
[[nodiscard]] std::vector<MatchingRound> match_demand(std::uint32_t servers, const PairDemand& demand,
                                                      std::uint32_t rounds);

}  // namespace astrolabe::network::topoopt
