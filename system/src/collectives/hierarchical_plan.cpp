#include "hierarchical_plan.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::hierarchical {

namespace {

/// The digits of block numbers, or of one half of them: the sources or the destinations of an all_to_all.
struct Digits {
    std::vector<std::uint32_t> radices;
    std::vector<std::uint32_t> weights;  // of one in a digit
    std::vector<bool> own;               // else free

    Digits(std::vector<std::uint32_t> digit_radices, bool starts_own)
        : radices(std::move(digit_radices)),
          weights(radices.size()),
          own(radices.size(), starts_own) {
        std::exclusive_scan(radices.begin(), radices.end(), weights.begin(), std::uint32_t{1},
                            std::multiplies<>());
    }
};

Expansion expand(const Digits& digits, std::uint32_t stage_dimension) {
    Expansion expansion{.weight = digits.weights[stage_dimension], .own = {}};
    for (std::uint32_t dimension = 0; dimension < digits.radices.size(); ++dimension) {
        if (dimension == stage_dimension) {
            continue;
        }
        if (digits.own[dimension]) {
            expansion.own.emplace_back(dimension, digits.weights[dimension]);
            continue;
        }
        const std::size_t before = expansion.offsets.size();
        for (std::uint32_t digit = 1; digit < digits.radices[dimension]; ++digit) {
            for (std::size_t i = 0; i < before; ++i) {
                expansion.offsets.push_back(expansion.offsets[i] + digit * digits.weights[dimension]);
            }
        }
    }
    return expansion;
}

}  // namespace

std::vector<Order> orders_of(const Shape& shape, DimensionOrder rule) {
    Order ascending;
    for (std::uint32_t dimension = 0; dimension < shape.size(); ++dimension) {
        if (shape[dimension] > 1) {
            ascending.push_back(dimension);
        }
    }
    std::vector<Order> orders{ascending};
    constexpr std::size_t kAllPermutations = 4;  // dimensions; 4! = 24 orders
    if (rule == DimensionOrder::kThemis && ascending.size() <= kAllPermutations) {
        for (Order next = ascending; std::ranges::next_permutation(next).found;) {
            orders.push_back(next);
        }
    } else if (rule != DimensionOrder::kAscending) {
        for (std::size_t start = 1; start < ascending.size(); ++start) {
            Order rotated = ascending;
            std::rotate(rotated.begin(), rotated.begin() + static_cast<std::ptrdiff_t>(start), rotated.end());
            orders.push_back(std::move(rotated));
        }
    }
    return orders;
}

std::vector<Stage> stages_of(CollectiveKind kind, const Order& order, HierarchicalOptimisation optimisation) {
    const bool narrows =
        kind == CollectiveKind::kAllReduce && optimisation == HierarchicalOptimisation::kLocalBandwidthAware;
    std::vector<Stage> stages;
    if (order.empty()) {
        return stages;
    }
    for (const std::uint32_t dimension : order) {
        stages.push_back({dimension, narrows ? CollectiveKind::kReduceScatter : kind});
    }
    if (kind == CollectiveKind::kAllGather) {
        std::ranges::reverse(stages);
    } else if (narrows) {
        stages.back().kind = CollectiveKind::kAllReduce;
        for (std::size_t outer = order.size() - 1; outer-- > 0;) {
            stages.push_back({order[outer], CollectiveKind::kAllGather});
        }
    }
    return stages;
}

std::uint32_t Expansion::base(const Shape& shape, Position rank) const {
    std::uint32_t sum = 0;
    for (const auto& [dimension, dimension_weight] : own) {
        sum += shape.coordinate(rank, dimension) * dimension_weight;
    }
    return sum;
}

std::vector<std::uint32_t> column_radices(const Shape& shape, const std::vector<Phase>& phases) {
    std::vector<std::uint32_t> radices(shape.dimensions().begin(), shape.dimensions().end());
    for (const Phase& phase : phases) {
        if (phase.stage.kind == CollectiveKind::kAllReduce) {
            radices[phase.stage.dimension] = static_cast<std::uint32_t>(phase.inner.block_count());
        }
    }
    return radices;
}

std::uint64_t count_columns(const std::vector<std::uint32_t>& radices) {
    std::uint64_t columns = 1;
    for (const std::uint32_t radix : radices) {
        columns = std::min(columns * radix, kMaxColumns);
    }
    return columns;
}

Plan::Plan(CollectiveKind kind, const Shape& shape, std::vector<Phase> phases)
    : kind_(kind),
      shape_(shape),
      phases_(std::move(phases)) {
    Digits sources({shape.dimensions().begin(), shape.dimensions().end()}, true);
    Digits columns(column_radices(shape, phases_), kind == CollectiveKind::kAllGather);
    columns_ = count_columns(columns.radices);
    ASTROLABE_ASSERT(columns_ < kMaxColumns, "a plan with too many blocks is unsupported");
    for (Phase& phase : phases_) {
        const std::uint32_t dimension = phase.stage.dimension;
        phase.columns = expand(columns, dimension);
        if (kind == CollectiveKind::kAllToAll) {
            phase.sources = expand(sources, dimension);
            sources.own[dimension] = false;
            columns.own[dimension] = true;
        } else if (phase.stage.kind != CollectiveKind::kAllReduce) {
            columns.own[dimension] = phase.stage.kind == CollectiveKind::kReduceScatter;
        }
    }
}

Symmetry Plan::symmetry() const {
    const Symmetry common = phases_.front().inner.symmetry();
    const bool is_shared =
        std::ranges::all_of(phases_, [&](const Phase& phase) { return phase.inner.symmetry() == common; });
    const bool is_of_grid = common == Symmetry::kExclusiveOr || phases_.size() == 1;
    return is_shared && is_of_grid && columns_ == shape_.ranks() ? common : Symmetry::kNone;
}

CollectiveSchedule Plan::write() const {
    std::vector<Stage> stages;
    for (const Phase& phase : phases_) {
        stages.push_back(phase.stage);
    }
    const Symmetry common = symmetry();
    ScheduleBuilder builder(kind_, shape_.ranks(), block_count(), common, std::move(stages));
    std::vector<ActionIndex> written(common == Symmetry::kNone ? shape_.ranks() : 1);
    for (std::size_t stage = 0; stage < phases_.size(); ++stage) {
        builder.begin_stage(stage);
        for (Position rank = 0; rank < written.size(); ++rank) {
            written[rank] += write_phase(builder, phases_[stage], rank, written[rank]);
        }
    }
    return std::move(builder).build();
}

ActionIndex Plan::write_phase(ScheduleBuilder& builder, const Phase& phase, Position rank,
                              ActionIndex first) const {
    const CollectiveSchedule& inner = phase.inner;
    const std::size_t dimension = phase.stage.dimension;
    const Position member = shape_.coordinate(rank, dimension);
    const RankProgram& program = inner.program(member);
    const std::uint32_t source_base = phase.sources.base(shape_, rank);
    const std::uint32_t column_base = phase.columns.base(shape_, rank);
    std::vector<BlockReference> blocks;
    std::vector<ActionIndex> after;
    for (const Action& action : program.actions) {
        blocks.clear();
        for (const BlockReference reference : program.blocks_of(action)) {
            const std::uint64_t block = inner.resolve(member, reference);
            const bool has_source = kind_ == CollectiveKind::kAllToAll;
            const auto row = static_cast<std::uint32_t>(has_source ? block / inner.ranks() : 0);
            const auto column = static_cast<std::uint32_t>(has_source ? block % inner.ranks() : block);
            const std::uint32_t first_source = source_base + row * phase.sources.weight;
            const std::uint32_t first_column = column_base + column * phase.columns.weight;
            for (const std::uint32_t source : phase.sources.offsets) {
                for (const std::uint32_t offset : phase.columns.offsets) {
                    blocks.push_back({.source = first_source + source, .block = first_column + offset});
                }
            }
        }
        after.clear();
        for (const ActionIndex dependency : program.dependencies_of(action)) {
            after.push_back(first + dependency);
        }
        const Position peer = shape_.with_coordinate(rank, dimension, inner.resolve(member, action.peer));
        if (action.is_send()) {
            builder.send(rank, peer, blocks, after);
        } else {
            builder.receive(rank, peer, blocks, after, action.kind == Action::Kind::kReceiveReduce);
        }
    }
    return static_cast<ActionIndex>(program.actions.size());
}

}  // namespace astrolabe::system::hierarchical
