#include "mlperf_sharding.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace astrolabe::workload::mlperf {
namespace {

constexpr int kMostRounds = 20;

class Rounds {
public:
    Rounds(const std::vector<PlannedTable>& tables, const Buckets& buckets, double shard_cost)
        : tables_(tables),
          ranks_of_bucket_(buckets.ranks),
          memory_(buckets.ranks * buckets.memory),
          shard_cost_(shard_cost),
          plan_{.buckets = buckets.count,
                .replicated = {},
                .shards = std::vector<std::int64_t>(tables.size(), 0),
                .placed = {}} {}

    void replicate_below(Bytes threshold) {
        for (std::size_t table = 0; table < tables_.size(); ++table) {
            if (tables_[table].size < threshold) {
                plan_.replicated.push_back(table);
                memory_ -= ranks_of_bucket_ * tables_[table].size;
            } else {
                plan_.shards[table] = 1;
            }
        }
    }

    [[nodiscard]] std::optional<MlperfSharding> best() {
        std::optional<MlperfSharding> best = everywhere();
        for (int round = 0; round < kMostRounds; ++round) {
            if (memory_ < Bytes(0)) {
                break;  // the copies alone take more than there is
            }
            const std::optional<std::size_t> without_room = deal();
            if (!without_room && (!best || plan_.cost < best->cost)) {
                best = plan_;
            }
            const std::optional<std::size_t> cut = without_room ? without_room : hottest();
            if (!cut || !may_be_cut(*cut)) {
                break;
            }
            plan_.shards[*cut] *= 2;
        }
        return best;
    }

private:
    [[nodiscard]] double lookups_of_shard(std::size_t table) const {
        return static_cast<double>(tables_[table].pooling) / static_cast<double>(plan_.shards[table]);
    }
    /// Rounded up.
    [[nodiscard]] Bytes size_of_shard(std::size_t table) const {
        const std::int64_t shards = plan_.shards[table];
        return Bytes((tables_[table].size.count() + shards - 1) / shards);
    }
    [[nodiscard]] bool may_be_cut(std::size_t table) const {
        return plan_.shards[table] * 2 <= static_cast<std::int64_t>(plan_.buckets);
    }
    /// Tables that are not replicated, those with most lookups a shard first, then by falling number.
    [[nodiscard]] std::vector<std::size_t> by_lookups() const {
        std::vector<std::size_t> order;
        for (std::size_t table = tables_.size(); table-- > 0;) {
            if (plan_.shards[table] > 0) {
                order.push_back(table);
            }
        }
        std::ranges::stable_sort(order, std::greater<>(),
                                 [this](std::size_t table) { return lookups_of_shard(table); });
        return order;
    }
    [[nodiscard]] std::optional<std::size_t> hottest() const {
        for (const std::size_t table : by_lookups()) {
            if (may_be_cut(table)) {
                return table;
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<MlperfSharding> everywhere() const {
        MlperfSharding plan = plan_;
        const auto buckets = static_cast<double>(plan.buckets);
        Bytes held;
        std::vector<std::size_t> tables;
        for (std::size_t table = 0; table < tables_.size(); ++table) {
            if (plan.shards[table] > 0) {
                plan.shards[table] = static_cast<std::int64_t>(plan.buckets);
                plan.cost += static_cast<double>(tables_[table].pooling) / buckets + shard_cost_;
                held += Bytes(tables_[table].size.count() / plan.shards[table] + 1);
                tables.push_back(table);
            }
        }
        if (held > memory_) {
            return std::nullopt;
        }
        plan.placed.assign(plan.buckets, tables);
        return plan;
    }

    /// A round; the table for which there was no room.
    [[nodiscard]] std::optional<std::size_t> deal() {
        std::vector<double> costs(plan_.buckets, 0);
        std::vector<Bytes> room(plan_.buckets, memory_);
        plan_.placed.assign(plan_.buckets, {});
        std::vector<std::size_t> order(plan_.buckets);
        for (const std::size_t table : by_lookups()) {
            for (std::int64_t shard = 0; shard < plan_.shards[table]; ++shard) {
                std::iota(order.begin(), order.end(), std::size_t{0});
                std::ranges::stable_sort(order, {}, [&](std::size_t bucket) { return costs[bucket]; });
                const auto takes = std::ranges::find_if(order, [&](std::size_t bucket) {
                    return room[bucket] >= size_of_shard(table) &&
                           std::ranges::find(plan_.placed[bucket], table) == plan_.placed[bucket].end();
                });
                if (takes == order.end()) {
                    return table;
                }
                costs[*takes] += lookups_of_shard(table) + shard_cost_;
                room[*takes] -= size_of_shard(table);
                plan_.placed[*takes].push_back(table);
            }
        }
        plan_.cost = *std::ranges::max_element(costs);
        return std::nullopt;
    }

    const std::vector<PlannedTable>& tables_;
    std::int64_t ranks_of_bucket_;
    Bytes memory_;  ///< of a bucket, for shards
    double shard_cost_;
    MlperfSharding plan_;
};

}  // namespace

std::optional<MlperfSharding> plan_shards(const std::vector<PlannedTable>& tables, const Buckets& buckets,
                                          Bytes replicate_below, double shard_cost) {
    Rounds rounds(tables, buckets, shard_cost);
    rounds.replicate_below(replicate_below);
    return rounds.best();
}

}  // namespace astrolabe::workload::mlperf
