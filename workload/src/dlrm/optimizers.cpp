#include "optimizers.hpp"

#include "../integer_division.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

constexpr std::int64_t kStateBytes = 4;  // fp32, whatever the weights are

/// Values of state for each value of a row, and for the row.
struct StateValues {
    std::int64_t of_value;
    std::int64_t of_row;
};

StateValues state_values(EmbeddingOptimizer optimizer) {
    switch (optimizer) {
        case EmbeddingOptimizer::kSgd:
            return {.of_value = 0, .of_row = 0};
        case EmbeddingOptimizer::kAdagrad:
            return {.of_value = 1, .of_row = 0};
        case EmbeddingOptimizer::kRowWiseAdagrad:
            return {.of_value = 0, .of_row = 1};
        case EmbeddingOptimizer::kAdam:
        case EmbeddingOptimizer::kLamb:
            return {.of_value = 2, .of_row = 0};
        case EmbeddingOptimizer::kPartialRowWiseAdam:
            return {.of_value = 1, .of_row = 1};
    }
    ASTROLABE_ASSERT(false, "every optimiser has its state");
}

}  // namespace

Bytes in_sectors(Bytes size) {
    return divide_up(size.count(), kMemorySector.count()) * kMemorySector;
}

Bytes state_of_row(EmbeddingOptimizer optimizer, std::int64_t columns) {
    const StateValues values = state_values(optimizer);
    return Bytes(kStateBytes * (values.of_value * columns + values.of_row));
}

Bytes state_access_of_row(EmbeddingOptimizer optimizer, std::int64_t columns) {
    const StateValues values = state_values(optimizer);
    return values.of_value * in_sectors(Bytes(kStateBytes * columns)) +
           values.of_row * in_sectors(Bytes(kStateBytes));
}

bool has_row_state(EmbeddingOptimizer optimizer) {
    return state_values(optimizer).of_row > 0;
}

Bytes dense_state_of(DenseOptimizer optimizer) {
    switch (optimizer) {
        case DenseOptimizer::kSgd:
            return Bytes(0);
        case DenseOptimizer::kAdagrad:
            return Bytes(kStateBytes);
        case DenseOptimizer::kAdam:
            return Bytes(2 * kStateBytes);
    }
    ASTROLABE_ASSERT(false, "every optimiser has its state");
}

Bytes dense_update_of(DenseOptimizer optimizer) {
    switch (optimizer) {
        case DenseOptimizer::kSgd:
            return Bytes(12);
        case DenseOptimizer::kAdagrad:
            return Bytes(44);
        case DenseOptimizer::kAdam:
            return Bytes(72);
    }
    ASTROLABE_ASSERT(false, "every optimiser moves something");
}

std::int64_t dense_kernels_of(DenseOptimizer optimizer) {
    switch (optimizer) {
        case DenseOptimizer::kSgd:
            return 1;
        case DenseOptimizer::kAdagrad:
            return 4;
        case DenseOptimizer::kAdam:
            return 7;
    }
    ASTROLABE_ASSERT(false, "every optimiser launches kernels");
}

}  // namespace astrolabe::workload
