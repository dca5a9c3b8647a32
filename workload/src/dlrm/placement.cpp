#include "../integer_division.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/dlrm/placement.hpp>

namespace astrolabe::workload {

namespace {

using system::RankId;

/// Items by falling cost; equal ones by falling memory, then in their own order.
std::vector<std::size_t> by_falling_cost(const std::vector<PlacementItem>& items) {
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&items](std::size_t a, std::size_t b) {
        return std::pair(items[a].cost, items[a].memory) > std::pair(items[b].cost, items[b].memory);
    });
    return order;
}

std::int64_t lower_bound_of(const PlacementProblem& problem) {
    const std::vector<std::int64_t>& before = problem.cost_before;
    std::int64_t sum = std::accumulate(before.begin(), before.end(), std::int64_t{0});
    std::int64_t bound = *std::max_element(before.begin(), before.end());
    const std::int64_t smallest = *std::min_element(before.begin(), before.end());
    for (const PlacementItem& item : problem.items) {
        sum += item.cost;
        bound = std::max(bound, smallest + item.cost);
    }
    return std::max(bound, divide_up(sum, static_cast<std::int64_t>(before.size())));
}

void require_sound(const PlacementProblem& problem) {
    ASTROLABE_ASSERT(!problem.items.empty(), "something to place");
    ASTROLABE_ASSERT(!problem.cost_before.empty(), "somewhere to place it");
    ASTROLABE_ASSERT(problem.cost_before.size() == problem.memory_before.size(), "one number a rank");
}

class BranchAndBound {
public:
    BranchAndBound(const PlacementProblem& problem, Placement start, std::int64_t max_nodes)
        : problem_(problem),
          order_(by_falling_cost(problem.items)),
          remaining_(order_.size() + 1, 0),
          loads_(problem.cost_before),
          memory_(problem.memory_before),
          rank_of_(problem.items.size()),
          best_(std::move(start)),
          limit_(best_.found() ? best_.makespan : std::numeric_limits<std::int64_t>::max()),
          max_nodes_(max_nodes) {
        for (std::size_t i = order_.size(); i-- > 0;) {
            remaining_[i] = remaining_[i + 1] + problem.items[order_[i]].cost;
        }
    }

    [[nodiscard]] Placement solve() && {
        best_.nodes = 0;
        branch(0);
        best_.proven = best_.nodes < max_nodes_ || limit_ == best_.lower_bound;
        return std::move(best_);
    }

private:
    [[nodiscard]] bool is_over() const { return best_.nodes >= max_nodes_ || limit_ <= best_.lower_bound; }

    [[nodiscard]] std::int64_t average_of_all(std::size_t placed) const {
        const std::int64_t sum = std::accumulate(loads_.begin(), loads_.end(), remaining_[placed]);
        return divide_up(sum, static_cast<std::int64_t>(loads_.size()));
    }

    void branch(std::size_t placed) {
        if (placed == order_.size()) {
            limit_ = *std::max_element(loads_.begin(), loads_.end());
            best_.makespan = limit_;
            best_.rank_of = rank_of_;
            return;
        }
        if (average_of_all(placed) >= limit_) {
            return;
        }
        const std::size_t item = order_[placed];
        for (const std::size_t rank : candidates(problem_.items[item])) {
            if (is_over() || loads_[rank] + problem_.items[item].cost >= limit_) {
                return;  // candidates come by rising load
            }
            ++best_.nodes;
            loads_[rank] += problem_.items[item].cost;
            memory_[rank] += problem_.items[item].memory;
            rank_of_[item] = RankId(rank);
            branch(placed + 1);
            loads_[rank] -= problem_.items[item].cost;
            memory_[rank] -= problem_.items[item].memory;
        }
    }

    /// Ranks with room, by rising load, one of each kind.
    [[nodiscard]] std::vector<std::size_t> candidates(const PlacementItem& item) const {
        std::vector<std::size_t> ranks;
        for (std::size_t rank = 0; rank < loads_.size(); ++rank) {
            if (!problem_.memory || memory_[rank] + item.memory <= *problem_.memory) {
                ranks.push_back(rank);
            }
        }
        const auto state = [this](std::size_t rank) { return std::pair(loads_[rank], memory_[rank]); };
        std::stable_sort(ranks.begin(), ranks.end(),
                         [&state](std::size_t a, std::size_t b) { return state(a) < state(b); });
        ranks.erase(std::unique(ranks.begin(), ranks.end(),
                                [this, &state](std::size_t a, std::size_t b) {
                                    return problem_.memory ? state(a) == state(b) : loads_[a] == loads_[b];
                                }),
                    ranks.end());
        return ranks;
    }

    const PlacementProblem& problem_;
    std::vector<std::size_t> order_;
    std::vector<std::int64_t> remaining_;  // cost of the items from the i-th of the order
    std::vector<std::int64_t> loads_;
    std::vector<Bytes> memory_;
    std::vector<RankId> rank_of_;
    Placement best_;
    std::int64_t limit_;  // makespan to beat
    std::int64_t max_nodes_;
};

}  // namespace

Placement place_greedily(const PlacementProblem& problem) {
    require_sound(problem);
    std::set<std::pair<std::int64_t, std::size_t>> ranks;
    for (std::size_t rank = 0; rank < problem.cost_before.size(); ++rank) {
        ranks.emplace(problem.cost_before[rank], rank);
    }
    std::vector<Bytes> memory = problem.memory_before;
    Placement placement{.rank_of = std::vector<RankId>(problem.items.size()),
                        .lower_bound = lower_bound_of(problem)};
    for (const std::size_t item : by_falling_cost(problem.items)) {
        const PlacementItem& placed = problem.items[item];
        const auto roomy = std::find_if(ranks.begin(), ranks.end(), [&](const auto& rank) {
            return !problem.memory || memory[rank.second] + placed.memory <= *problem.memory;
        });
        if (roomy == ranks.end()) {
            placement.rank_of.clear();
            return placement;
        }
        const auto [load, rank] = *roomy;
        ranks.erase(roomy);
        ranks.emplace(load + placed.cost, rank);
        memory[rank] += placed.memory;
        placement.rank_of[item] = RankId(rank);
        ++placement.nodes;
    }
    placement.makespan = ranks.rbegin()->first;
    placement.proven = placement.makespan == placement.lower_bound;
    return placement;
}

Placement place_exactly(const PlacementProblem& problem, std::int64_t max_nodes) {
    ASTROLABE_ASSERT(problem.items.size() <= kMaxExactItems, "the search is not too deep");
    return BranchAndBound(problem, place_greedily(problem), max_nodes).solve();
}

}  // namespace astrolabe::workload
