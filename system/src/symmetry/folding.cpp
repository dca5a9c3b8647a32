#include "program_symmetry.hpp"

#include <bit>
#include <vector>

#include <astrolabe/system/symmetry/folding.hpp>

namespace astrolabe::system {

namespace {

using network::Folding;
using network::Images;

/// From the fewest kept ranks up.
std::vector<Folding> candidates_for(std::size_t ranks) {
    std::vector<Folding> candidates;
    for (std::size_t kept = 1; kept <= ranks / 2; ++kept) {
        if (ranks % kept != 0) {
            continue;
        }
        candidates.push_back({.ranks = ranks, .kept = kept, .images = Images::kRotation});
        // Of two images rotation and exclusive or make the same.
        if (std::has_single_bit(ranks) && ranks / kept > 2) {
            candidates.push_back({.ranks = ranks, .kept = kept, .images = Images::kExclusiveOr});
        }
    }
    return candidates;
}

}  // namespace

FoldedRanks fold_ranks(const Program& program, const SystemOptions& options,
                       const std::shared_ptr<const network::Fabric>& fabric,
                       std::span<const network::HostId> placement) {
    FoldedRanks result{.folding = {.ranks = program.ranks, .kept = program.ranks},
                       .classes = nullptr,
                       .refusal = "there is one rank"};
    ProgramSymmetry symmetry(program, options);
    std::vector<Folding> candidates = candidates_for(program.ranks);
    if (auto refusal = symmetry.order_refusal(); refusal && !candidates.empty()) {
        result.refusal = *std::move(refusal);
        candidates.clear();
    }
    for (const Folding& folding : candidates) {
        if (auto refusal = symmetry.refusal(folding)) {
            result.refusal = *std::move(refusal);
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
        result.refusal = std::move(folded.refusal);
    }
    if (result.classes == nullptr) {
        result.classes = std::make_shared<const network::LinkClasses>(fabric);
    }
    return result;
}

}  // namespace astrolabe::system
