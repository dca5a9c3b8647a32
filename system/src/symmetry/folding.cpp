#include "program_symmetry.hpp"

#include <bit>
#include <vector>

#include <astrolabe/system/symmetry/folding.hpp>

namespace astrolabe::system {

namespace {

using network::Equivalence;
using network::Folding;

/// From the fewest representatives up.
std::vector<Folding> candidates_for(std::size_t ranks) {
    std::vector<Folding> candidates;
    for (std::size_t representatives = 1; representatives <= ranks / 2; ++representatives) {
        if (ranks % representatives != 0) {
            continue;
        }
        candidates.push_back(
            {.ranks = ranks, .representatives = representatives, .equivalence = Equivalence::kRotation});
        // In classes of two ranks rotation and exclusive or are the same.
        if (std::has_single_bit(ranks) && ranks / representatives > 2) {
            candidates.push_back({.ranks = ranks,
                                  .representatives = representatives,
                                  .equivalence = Equivalence::kExclusiveOr});
        }
    }
    return candidates;
}

}  // namespace

FoldedRanks fold_ranks(const Program& program, const SystemOptions& options,
                       const std::shared_ptr<const network::Fabric>& fabric,
                       std::span<const network::HostId> placement) {
    FoldedRanks result{.folding = {.ranks = program.ranks, .representatives = program.ranks},
                       .classes = nullptr,
                       .unsupported = "there is one rank"};
    ProgramSymmetry symmetry(program, options);
    std::vector<Folding> candidates = candidates_for(program.ranks);
    if (auto reason = symmetry.order_dependence(); reason && !candidates.empty()) {
        result.unsupported = *std::move(reason);
        candidates.clear();
    }
    for (const Folding& folding : candidates) {
        if (auto reason = symmetry.asymmetry(folding)) {
            result.unsupported = *std::move(reason);
            continue;
        }
        if (result.classes == nullptr) {
            result.classes = std::make_shared<const network::LinkClasses>(fabric);
        }
        network::FoldedClasses folded =
            network::fold_classes(*result.classes, placement, folding, symmetry.pairs(folding));
        if (folded.classes) {
            return {folding, std::make_shared<const network::LinkClasses>(*std::move(folded.classes)), {}};
        }
        result.unsupported = std::move(folded.refusal);
    }
    if (result.classes == nullptr) {
        result.classes = std::make_shared<const network::LinkClasses>(fabric);
    }
    return result;
}

}  // namespace astrolabe::system
