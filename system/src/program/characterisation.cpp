#include "../schedule/schedules.hpp"
#include "operation_kinds.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::system {

namespace {

/// Whether a send of a chunk has the same size on every rank.
bool sizes_are_alike(const CollectiveSchedule& schedule, Bytes chunk) {
    return schedule.symmetry() != Symmetry::kNone && blocks_are_equal(schedule, chunk);
}

/// Adds up what one operation sends.
class OperationCounter {
public:
    OperationCounter(const Program& program, const SystemOptions& options, Schedules& schedules,
                     TrafficMatrix* matrix)
        : program_(program),
          options_(options),
          schedules_(schedules),
          matrix_(matrix) {}

    /// `operations` move what `collective` moves; the matrix counts all of them.
    OperationTraffic count(const CollectiveOperation& collective, std::int64_t operations) {
        traffic_ = {};
        traffic_.sent_by_rank.assign(program_.ranks, Bytes(0));
        operations_ = operations;
        const auto& groups = program_.partitions[collective.partition].groups;
        for (std::size_t group = 0; group < groups.size(); ++group) {
            if (collective.moves_nothing(groups[group].size())) {
                continue;
            }
            group_ = groups[group];
            traffic_.chunks = chunk_count(collective, options_);
            if (collective.is_uneven()) {
                count_uneven(collective, (*collective.pair_sizes)[group]);
            } else {
                count_even(collective);
            }
        }
        return std::move(traffic_);
    }

private:
    void count_even(const CollectiveOperation& collective) {
        const Shape shape = group_shape(group_, options_);
        const std::vector<unsigned> variants =
            schedules_.algorithm(collective).variant_sequence(collective.kind, shape, traffic_.chunks);
        std::map<std::pair<unsigned, Bytes>, std::int64_t> alike;
        std::vector<std::pair<unsigned, Bytes>> order;  // of first chunks, for the order of stages
        for (std::uint32_t chunk = 0; chunk < traffic_.chunks; ++chunk) {
            const std::pair key{variants[chunk], part_size(collective.size, traffic_.chunks, chunk)};
            if (++alike[key] == 1) {
                order.push_back(key);
            }
        }
        for (const auto& [variant, size] : order) {
            const CollectiveSchedule& schedule = schedules_.of(collective, shape, variant);
            const bool same_on_all = sizes_are_alike(schedule, size);
            const auto size_of = [&schedule, size = size](Position rank, const Action& action) {
                return schedule.message_size(rank, action, size);
            };
            count_chunk(schedule, same_on_all, true, alike.at({variant, size}), size_of);
        }
    }

    void count_uneven(const CollectiveOperation& collective, const PairSizes& pairs) {
        const Shape shape = group_shape(group_, options_);
        const std::vector<unsigned> variants =
            schedules_.algorithm(collective).variant_sequence(collective.kind, shape, traffic_.chunks);
        for (std::uint32_t chunk = 0; chunk < traffic_.chunks; ++chunk) {
            const CollectiveSchedule& schedule = schedules_.of(collective, shape, variants[chunk]);
            const auto size_of = [&](Position rank, const Action& action) {
                Bytes sum;
                for (const BlockReference reference : schedule.program(rank).blocks_of(action)) {
                    const std::uint64_t block = schedule.resolve(rank, reference);
                    sum += part_size(pairs(block / schedule.ranks(), block % schedule.ranks()),
                                     traffic_.chunks, chunk);
                }
                return sum;
            };
            count_chunk(schedule, false, false, 1, size_of);
        }
    }

    /// Adds `times` chunks; messages of no bytes only where `empty_ones` are sent.
    template <class SizeOf>
    void count_chunk(const CollectiveSchedule& schedule, bool same_on_all, bool empty_ones,
                     std::int64_t times, const SizeOf& size_of) {
        const std::vector<std::size_t> places = places_of(schedule.stages());
        if (same_on_all && matrix_ == nullptr) {
            count_alike(schedule, places, times, size_of);
            return;
        }
        std::vector<Bytes> sizes;  // of rank 0's actions, where they are all ranks'
        if (same_on_all) {
            for (const Action& action : schedule.program(0).actions) {
                sizes.push_back(action.is_send() ? size_of(0, action) : Bytes(0));
            }
        }
        for (Position rank = 0; rank < schedule.ranks(); ++rank) {
            const std::vector<Action>& actions = schedule.program(rank).actions;
            for (std::size_t index = 0; index < actions.size(); ++index) {
                if (!actions[index].is_send()) {
                    continue;
                }
                const Bytes size = same_on_all ? sizes[index] : size_of(rank, actions[index]);
                if (size > Bytes(0) || empty_ones) {
                    add(traffic_.stages[places[actions[index].stage]], rank,
                        schedule.resolve(rank, actions[index].peer), size, times);
                }
            }
        }
    }

    /// Where every rank sends what rank 0 does.
    template <class SizeOf>
    void count_alike(const CollectiveSchedule& schedule, const std::vector<std::size_t>& places,
                     std::int64_t times, const SizeOf& size_of) {
        Bytes own;
        for (const Action& action : schedule.program(0).actions) {
            if (action.is_send()) {
                const Bytes size = size_of(0, action);
                own += size * times;
                add(traffic_.stages[places[action.stage]], size, times * schedule.ranks());
            }
        }
        for (const RankId rank : group_) {
            traffic_.sent_by_rank[rank.index()] += own;
        }
    }

    void add(StageTraffic& stage, Bytes size, std::int64_t times) {
        const auto count = static_cast<std::uint64_t>(times);
        stage.bytes += size * times;
        stage.messages += count;
        stage.sizes[std::bit_width(static_cast<std::uint64_t>(size.count()))] += count;
    }

    void add(StageTraffic& stage, Position source, Position destination, Bytes size, std::int64_t times) {
        add(stage, size, times);
        const std::size_t rank = group_[source].index();
        traffic_.sent_by_rank[rank] += size * times;
        if (matrix_ != nullptr) {
            matrix_->add(rank, group_[destination].index(), size * times * operations_);
        }
    }

    /// Where the stages of a schedule are counted.
    std::vector<std::size_t> places_of(const std::vector<Stage>& stages) {
        std::vector<std::size_t> places;
        for (const Stage& stage : stages) {
            const auto found = std::find_if(traffic_.stages.begin(), traffic_.stages.end(),
                                            [&](const StageTraffic& known) { return known.stage == stage; });
            places.push_back(static_cast<std::size_t>(found - traffic_.stages.begin()));
            if (found == traffic_.stages.end()) {
                traffic_.stages.push_back({.stage = stage, .bytes = Bytes(0)});
            }
        }
        return places;
    }

    const Program& program_;
    const SystemOptions& options_;
    Schedules& schedules_;
    TrafficMatrix* matrix_;
    std::span<const RankId> group_;
    std::int64_t operations_ = 1;
    OperationTraffic traffic_;
};

}  // namespace

void StageTraffic::add(const StageTraffic& other) {
    bytes += other.bytes;
    messages += other.messages;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        sizes[i] += other.sizes[i];
    }
}

Bytes OperationTraffic::bytes() const {
    Bytes sum;
    for (const StageTraffic& stage : stages) {
        sum += stage.bytes;
    }
    return sum;
}

std::uint64_t OperationTraffic::messages() const {
    std::uint64_t sum = 0;
    for (const StageTraffic& stage : stages) {
        sum += stage.messages;
    }
    return sum;
}

Shape group_shape(std::span<const RankId> group, const SystemOptions& options) {
    return options.dimensions ? shape_of(group, *options.dimensions)
                              : Shape(static_cast<Position>(group.size()));
}

Bytes TrafficMatrix::sent(std::size_t source) const {
    const auto row = bytes_.begin() + static_cast<std::ptrdiff_t>(source * ranks_);
    return std::accumulate(row, row + static_cast<std::ptrdiff_t>(ranks_), Bytes(0));
}

Bytes TrafficMatrix::total() const {
    return std::accumulate(bytes_.begin(), bytes_.end(), Bytes(0));
}

ProgramTraffic::ProgramTraffic(const Program& program, const SystemOptions& options) {
    Kinds kinds = kinds_of(program);
    Schedules schedules(options);
    OperationCounter counter(program, options, schedules, nullptr);
    kinds_.emplace_back();
    for (std::size_t i = 0; i < kinds.examples.size(); ++i) {
        kinds_.push_back(counter.count(*kinds.examples[i], kinds.operations[i]));
    }
    kind_of_ = std::move(kinds.kind_of);
}

Bytes ProgramTraffic::bytes() const {
    Bytes sum;
    for (const std::uint32_t kind : kind_of_) {
        sum += kinds_[kind].bytes();
    }
    return sum;
}

std::uint64_t ProgramTraffic::messages() const {
    std::uint64_t sum = 0;
    for (const std::uint32_t kind : kind_of_) {
        sum += kinds_[kind].messages();
    }
    return sum;
}

std::vector<Bytes> ProgramTraffic::sent_by_rank() const {
    std::vector<std::int64_t> operations(kinds_.size());
    std::size_t ranks = 0;
    for (const std::uint32_t kind : kind_of_) {
        ++operations[kind];
        ranks = std::max(ranks, kinds_[kind].sent_by_rank.size());
    }
    std::vector<Bytes> sent(ranks);
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        for (std::size_t rank = 0; rank < kinds_[kind].sent_by_rank.size(); ++rank) {
            sent[rank] += kinds_[kind].sent_by_rank[rank] * operations[kind];
        }
    }
    return sent;
}

TrafficMatrix traffic_matrix(const Program& program, const SystemOptions& options) {
    TrafficMatrix matrix(program.ranks);
    const Kinds kinds = kinds_of(program);
    Schedules schedules(options);
    OperationCounter counter(program, options, schedules, &matrix);
    for (std::size_t i = 0; i < kinds.examples.size(); ++i) {
        static_cast<void>(counter.count(*kinds.examples[i], kinds.operations[i]));
    }
    return matrix;
}

}  // namespace astrolabe::system
