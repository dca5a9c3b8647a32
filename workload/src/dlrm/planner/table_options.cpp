#include "table_options.hpp"

#include "../../integer_division.hpp"
#include "../embedding/embedding_kernels.hpp"
#include "../sharding_decisions.hpp"
#include "torchrec_estimate.hpp"

#include <algorithm>

namespace astrolabe::workload::planner {

namespace {

/// What a weighted table's lookup sends beside its index.
Bytes weight_of_lookup(const EqualTables& table) {
    return Bytes(table.traits.weighted ? 4 : 0);
}

constexpr std::int64_t kVectorColumns = 4;

std::int64_t host_size(const Sharding& sharding) {
    return sharding.ranks_per_host.value_or(1);
}

/// So that sums cannot overflow.
Time limited(Time time) {
    return std::min(time, Time::max() / 32);
}

/// Ranks that share a table's lookups by its rows.
std::int64_t sharers_of(const Sharding& sharding, std::size_t ranks, TableSharding kind) {
    switch (kind) {
        case TableSharding::kRowWise:
            return static_cast<std::int64_t>(ranks);
        case TableSharding::kTableRowWise:
        case TableSharding::kGrid:
            return host_size(sharding);
        default:
            return 1;
    }
}

/// Numbers of pieces to cut D columns in, at most `most`.
std::vector<std::int64_t> cuts(const Sharding& sharding, std::int64_t dimension, std::int64_t most) {
    std::vector<std::int64_t> found;
    if (sharding.min_partition) {
        for (std::int64_t width = partition_width(dimension, *sharding.min_partition); width < dimension;
             width = partition_width(dimension, width + 1)) {
            if (dimension / width <= most) {
                found.push_back(dimension / width);
            }
        }
        return found;
    }
    most = std::min(most, dimension / kVectorColumns);
    for (std::int64_t pieces = 2; pieces <= most; pieces *= 2) {
        found.push_back(pieces);
        if (pieces + pieces / 2 <= most && pieces % 2 == 0) {
            found.push_back(pieces + pieces / 2);
        }
    }
    return found;
}

class OptionMaker {
public:
    OptionMaker(const Sharding& sharding, const TrainingCosts& costs, const EqualTables& description,
                std::size_t table)
        : sharding_(sharding),
          costs_(costs),
          table_(description),
          number_(table),
          ranks_(static_cast<std::int64_t>(costs.ranks)) {}

    [[nodiscard]] std::vector<TableOption> all() && {
        const auto add_allowed = [this](TableSharding kind, std::int64_t shards) {
            if (is_allowed(sharding_, kind)) {
                add(kind, shards);
            }
        };
        const std::int64_t hosts = ranks_ / host_size(sharding_);
        add_allowed(TableSharding::kTableWise, 1);
        for (const std::int64_t shards : cuts(sharding_, table_.dimension, ranks_)) {
            add_allowed(TableSharding::kColumnWise, shards);
        }
        if (table_.dimension % host_size(sharding_) == 0) {
            add_allowed(TableSharding::kTableColumnWise, host_size(sharding_));
        }
        add_allowed(TableSharding::kRowWise, 1);
        add_allowed(TableSharding::kTableRowWise, 1);
        for (const std::int64_t shards : cuts(sharding_, table_.dimension, hosts)) {
            add_allowed(TableSharding::kGrid, shards);
        }
        add_allowed(TableSharding::kDataParallel, 1);
        return std::move(options_);
    }
    [[nodiscard]] std::vector<TableOption> options() && { return std::move(options_); }

    void add(TableSharding kind, std::int64_t shards) {
        TableOption made{.kind = kind, .shards = shards};
        const bool fills_host = is_placed_on_hosts(kind);
        made.option.span = is_placed_on_ranks(kind) ? Span::kRank : fills_host ? Span::kHost : Span::kAll;
        // All ranks of a host have as many columns of table_column_wise: one piece for all of them.
        const std::int64_t pieces = kind == TableSharding::kTableColumnWise ? 1 : shards;
        for (std::int64_t i = 0; i < pieces; ++i) {
            const std::int64_t columns = columns_of_shard(table_.dimension, shards, i);
            const PieceTimes times = sharding_.objective == PlannerObjective::kTorchRec
                                         ? estimated(kind, columns)
                                         : modelled(kind, columns);
            made.times.push_back(times);
            made.option.pieces.push_back(
                {.forward = times.forward().count(),
                 .backward = times.backward().count(),
                 .memory = piece_memory(sharding_, costs_, table_, kind, columns).total()});
        }
        if (kind == TableSharding::kTableColumnWise) {
            made.shards = 1;
        }
        options_.push_back(std::move(made));
    }

private:
    [[nodiscard]] PieceTimes modelled(TableSharding kind, std::int64_t columns) const {
        const std::int64_t sharers = sharers_of(sharding_, costs_.ranks, kind);
        const WireFormats& formats = costs_.formats;
        PieceTimes times;
        if (kind == TableSharding::kDataParallel) {
            times.lookup = limited(costs_.lookup(number_, columns, costs_.samples, 1));
            times.update = limited(costs_.replica_update(number_));
            times.gradients = to_all(copy_exchange());
            return times;
        }
        const std::int64_t samples = ranks_ / sharers * costs_.samples;
        times.lookup = limited(costs_.lookup(number_, columns, samples, sharers));
        times.update = limited(costs_.update(number_, columns, samples, sharers));
        const bool by_rows = kind == TableSharding::kRowWise;
        const auto forward = by_rows ? formats.forward_reduce_scatter : formats.forward_all_to_all;
        const auto backward = by_rows ? formats.backward_all_gather : formats.backward_all_to_all;
        if (kind == TableSharding::kTableRowWise || kind == TableSharding::kGrid) {
            const std::int64_t hosts = ranks_ / host_size(sharding_);
            const auto in_two_steps = [&](std::optional<WireFormat> format) {
                return inside((host_size(sharding_) - 1) *
                              wire_size(hosts * costs_.samples, columns, format)) +
                       across((hosts - 1) * wire_size(costs_.samples, columns, format));
            };
            times.pooled = in_two_steps(forward);
            times.gradients = in_two_steps(backward);
        } else {
            times.pooled = to_all(wire_size(costs_.samples, columns, forward));
            times.gradients = to_all(wire_size(costs_.samples, columns, backward));
        }
        if (sharding_.input_distribution) {
            const InputDistribution& input = *sharding_.input_distribution;
            times.input =
                to_all(costs_.samples * input.length + divide_up(costs_.samples * table_.pooling, sharers) *
                                                           (input.index + weight_of_lookup(table_)));
        }
        return times;
    }

    [[nodiscard]] PieceTimes estimated(TableSharding kind, std::int64_t columns) const {
        const TorchRecShard shard{.kind = kind,
                                  .rows = table_.rows,
                                  .columns = columns,
                                  .lookups = static_cast<double>(table_.pooling),
                                  .is_weighted = table_.traits.weighted};
        const TorchRecEstimate estimate = torchrec_estimate(
            shard, {.ranks = costs_.ranks,
                    .ranks_per_host = static_cast<std::size_t>(
                        sharding_.ranks_per_host.value_or(static_cast<std::int64_t>(costs_.ranks))),
                    .samples = costs_.samples,
                    .element_size = costs_.element_size,
                    .output_size = costs_.activation_size});
        const auto picoseconds = [](double seconds) {
            return Time(static_cast<std::int64_t>(seconds * static_cast<double>(kPicosecondsPerSecond)));
        };
        PieceTimes times;
        times.lookup = picoseconds(estimate.forward_compute + estimate.backward_compute);
        times.pooled = picoseconds(estimate.forward_exchange + estimate.backward_exchange);
        return times;
    }

    [[nodiscard]] Bytes wire_size(std::int64_t samples, std::int64_t columns,
                                  std::optional<WireFormat> format) const {
        return Payload{.values = samples * columns,
                       .rows = samples,
                       .blocks = samples * divide_up(columns, 32),
                       .fours = samples * divide_up(columns, 4),
                       .element_size = costs_.activation_size,
                       .format = format}
            .size();
    }

    /// To every other rank.
    [[nodiscard]] Bytes copy_exchange() const {
        if (costs_.has_dense_gradients) {
            return 2 * divide_up(table_.rows * table_.dimension, ranks_) * costs_.element_size;
        }
        constexpr Bytes kRowIndex(8);
        return std::min(costs_.samples * table_.pooling, table_.rows) *
               (table_.dimension * costs_.element_size + kRowIndex);
    }

    [[nodiscard]] Time to_all(Bytes each) const {
        const std::int64_t hosts_ranks = host_size(sharding_);
        const LinkRate& link = *sharding_.link_rate;
        if (!link.inside) {
            return ((ranks_ - 1) * each) / link.across;
        }
        return std::max(inside((hosts_ranks - 1) * each), across((ranks_ - hosts_ranks) * each));
    }
    [[nodiscard]] Time inside(Bytes size) const {
        return size / sharding_.link_rate->inside.value_or(sharding_.link_rate->across);
    }
    [[nodiscard]] Time across(Bytes size) const { return size / sharding_.link_rate->across; }

    const Sharding& sharding_;
    const TrainingCosts& costs_;
    const EqualTables& table_;
    std::size_t number_;
    std::int64_t ranks_;
    std::vector<TableOption> options_;
};

}  // namespace

PieceMemory& PieceMemory::operator+=(const PieceMemory& other) {
    weights += other.weights;
    state += other.state;
    activations += other.activations;
    indices += other.indices;
    return *this;
}

bool is_allowed(const Sharding& sharding, TableSharding kind) {
    if (!sharding.kinds.empty() &&
        std::find(sharding.kinds.begin(), sharding.kinds.end(), kind) == sharding.kinds.end()) {
        return false;
    }
    return !is_placed_on_hosts(kind) || host_size(sharding) > 1;
}

PieceMemory piece_memory(const Sharding& sharding, const TrainingCosts& costs, const EqualTables& description,
                         TableSharding kind, std::int64_t columns) {
    const std::int64_t sharers = sharers_of(sharding, costs.ranks, kind);
    const std::int64_t rows = divide_up(description.rows, sharers);
    const std::int64_t all_samples = static_cast<std::int64_t>(costs.ranks) * costs.samples;
    PieceMemory memory;
    if (description.traits.memory == TableMemory::kHbm) {
        memory.weights = rows * columns * costs.element_size;
        memory.state = costs.optimizer ? rows * state_of_row(*costs.optimizer, columns) : Bytes(0);
    } else {
        memory.weights = memory_of_shard({.element = costs.element_size, .optimizer = costs.optimizer},
                                         description.traits, rows, columns)
                             .device;
    }
    const bool is_copy = kind == TableSharding::kDataParallel;
    memory.activations = 2 * (is_copy ? costs.samples : all_samples) * columns * costs.activation_size;
    const InputDistribution input = sharding.input_distribution.value_or(
        InputDistribution{.index = sharding.bytes_per_index(), .length = Bytes(0), .ahead = false});
    const std::int64_t looked_up = is_copy ? costs.samples : all_samples;
    memory.indices = (input.ahead ? 2 : 1) *
                     (looked_up * input.length + divide_up(looked_up * description.pooling, sharers) *
                                                     (input.index + weight_of_lookup(description)));
    return memory;
}

std::vector<TableOption> table_options(const Sharding& sharding, const TrainingCosts& costs,
                                       const EqualTables& description, std::size_t table,
                                       const TableRule* rule) {
    OptionMaker maker(sharding, costs, description, table);
    if (rule != nullptr) {
        maker.add(rule->sharding, rule->sharding == TableSharding::kTableColumnWise
                                      ? sharding.ranks_per_host.value_or(1)
                                      : shards_of(sharding, *rule, description).value_or(1));
        return std::move(maker).options();
    }
    return std::move(maker).all();
}

}  // namespace astrolabe::workload::planner
