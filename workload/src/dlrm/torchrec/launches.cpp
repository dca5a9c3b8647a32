#include "launches.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload::torchrec {
namespace {

std::int64_t matrices_of(const MlpLayer& layer) {
    return layer.rank == 0 ? 1 : 2;
}

}  // namespace

std::int64_t forward_launches(const MlpLayer& layer, bool is_last) {
    if (layer.is_cross) {
        return matrices_of(layer) + 2;  // ∘ x0, + x
    }
    return is_last ? 3 : 2;
}

std::int64_t input_gradient_launches(const MlpLayer& layer, bool is_last) {
    if (layer.is_cross) {
        return matrices_of(layer) + 4;  // two factors of ∘, sums of the gradients of x0 and of x
    }
    return is_last ? 1 : 2;
}

std::int64_t weight_gradient_launches(const MlpLayer& layer, bool has_input_gradient, bool is_last) {
    const std::int64_t activation = has_input_gradient || is_last ? 0 : 1;
    return activation + matrices_of(layer) + (layer.has_bias ? 1 : 0) + tensors_of(layer);
}

std::int64_t tensors_of(const MlpLayer& layer) {
    return matrices_of(layer) + (layer.has_bias ? 1 : 0);
}

InteractionLaunches forward_launches(Interaction interaction) {
    switch (interaction) {
        case Interaction::kDot:
            return {.before = 3, .after = 2, .blocking_copies = 2};
        case Interaction::kConcatenation:
        case Interaction::kDcnV2:
            return {.before = 0, .after = 1, .blocking_copies = 0};
    }
    ASTROLABE_ASSERT(false, "every interaction has its kernels");
}

InteractionLaunches backward_launches(Interaction interaction) {
    switch (interaction) {
        case Interaction::kDot:
            return {.before = 1, .after = 12, .blocking_copies = 2};
        case Interaction::kConcatenation:
        case Interaction::kDcnV2:
            return {.before = 0, .after = 2, .blocking_copies = 0};
    }
    ASTROLABE_ASSERT(false, "every interaction has its kernels");
}

std::int64_t splitting_launches(std::size_t ranks) {
    return static_cast<std::int64_t>(ranks) + 2;
}

std::int64_t input_launches(TableSharding kind) {
    constexpr std::int64_t kPermutation = 7;
    constexpr std::int64_t kBucketing = 5;
    const bool by_rows = kind == TableSharding::kRowWise || kind == TableSharding::kTableRowWise ||
                         kind == TableSharding::kGrid;
    return kPermutation + (by_rows ? kBucketing : 0);
}

}  // namespace astrolabe::workload::torchrec
