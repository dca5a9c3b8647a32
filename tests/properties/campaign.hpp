/// Random experiments from a range of seeds, and what came of them.
#pragma once

#include "invariants.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace astrolabe::testing {

/// The smallest and the largest of a figure, and whose.
struct FigureRange {
    double least = 0;
    double most = 0;
    std::uint64_t least_seed = 0;
    std::uint64_t most_seed = 0;
    std::uint64_t count = 0;
};

struct Campaign {
    std::uint64_t ran = 0;
    std::uint64_t refused = 0;                      ///< draws that the reader refuses
    std::map<std::string, std::uint64_t> tried;     ///< experiments that an invariant concerned
    std::map<std::string, std::uint64_t> violated;  ///< those that it did not hold for
    std::map<std::string, FigureRange> figures;
    std::vector<std::string> failures;  ///< as a person reads them, with the shrunk experiment
    std::vector<std::string> unplaced;  ///< refusals without line and column
};

/// Experiments first to last. The first failure of each invariant is shrunk.
[[nodiscard]] Campaign run_campaign(std::uint64_t first, std::uint64_t last);

/// What is wrong with it, as a person reads it: invariants that do not hold, refusals without a place, and a
/// generator most of whose draws are refused. Empty: nothing.
[[nodiscard]] std::string campaign_problems(const Campaign& campaign);

/// A line for every invariant and figure.
[[nodiscard]] std::string campaign_text(const Campaign& campaign);

}  // namespace astrolabe::testing
