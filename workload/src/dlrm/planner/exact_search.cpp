#include "search.hpp"
#include "search_state.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace astrolabe::workload::planner {

namespace {

/// Tables one after the other, by falling work; of each all options, of each option all places.
class BranchAndBound {
public:
    BranchAndBound(const Problem& problem, std::int64_t best, std::int64_t lower_bound)
        : problem_(problem),
          best_(best),
          lower_bound_(lower_bound),
          loads_(problem),
          current_(problem.tables.size()),
          order_(problem.tables.size()),
          least_after_(problem.tables.size() + 1, 0) {
        std::vector<std::int64_t> least;
        for (const std::vector<Option>& options : problem.tables) {
            std::optional<std::int64_t> work;
            for (const Option& option : options) {
                has_hosts_ = has_hosts_ || option.span == Span::kHost;
                std::int64_t sum = 0;
                for (const Load& piece : option.pieces) {
                    sum += piece.cost() * static_cast<std::int64_t>(loads_.width(option.span));
                }
                work = std::min(work.value_or(sum), sum);
            }
            least.push_back(work.value_or(0));
        }
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return least[a] > least[b]; });
        for (std::size_t depth = order_.size(); depth > 0; --depth) {
            least_after_[depth - 1] = least_after_[depth] + least[order_[depth - 1]];
        }
    }

    [[nodiscard]] ExactResult run() {
        try_table(0);
        return {.better = std::move(found_), .complete = nodes_ < kMaxNodes, .nodes = nodes_};
    }

private:
    [[nodiscard]] bool is_over() const { return nodes_ >= kMaxNodes || best_ <= lower_bound_; }

    /// Whether nothing below this depth is better than the best.
    [[nodiscard]] bool is_hopeless(std::size_t depth) const {
        std::int64_t sum = least_after_[depth];
        for (const Load& load : loads_.all()) {
            sum += load.cost();
        }
        const auto ranks = static_cast<std::int64_t>(problem_.ranks);
        return std::max(loads_.makespan(), sum / ranks + (sum % ranks != 0 ? 1 : 0)) >= best_;
    }

    void try_table(std::size_t depth) {
        if (is_over() || is_hopeless(depth)) {
            return;
        }
        if (depth == order_.size()) {
            best_ = loads_.makespan();
            found_ = current_;
            return;
        }
        const std::size_t table = order_[depth];
        for (std::size_t option = 0; option < problem_.tables[table].size() && !is_over(); ++option) {
            current_[table] = {.option = option, .places = {}};
            try_piece(depth, 0);
        }
    }

    void try_piece(std::size_t depth, std::size_t number) {
        const std::size_t table = order_[depth];
        const Option& option = problem_.tables[table][current_[table].option];
        if (number == option.pieces.size()) {
            try_table(depth + 1);
            return;
        }
        const Load& piece = option.pieces[number];
        // Equal pieces of a table lie in the order of their places.
        const bool is_ordered = number > 0 && option.pieces[number - 1].forward == piece.forward &&
                                option.pieces[number - 1].backward == piece.backward &&
                                option.pieces[number - 1].memory == piece.memory;
        const std::size_t from = is_ordered ? current_[table].places[number - 1] + 1 : 0;
        for (std::size_t place = from; place < loads_.places(option.span) && !is_over(); ++place) {
            const std::vector<std::size_t>& taken = current_[table].places;
            if (std::find(taken.begin(), taken.end(), place) != taken.end() ||
                !loads_.has_room(option.span, place, piece.memory) ||
                is_too_much(option.span, place, piece) || has_double(option.span, place, taken)) {
                continue;
            }
            ++nodes_;
            current_[table].places.push_back(place);
            loads_.add(option.span, place, piece);
            try_piece(depth, number + 1);
            loads_.remove(option.span, place, piece);
            current_[table].places.pop_back();
        }
    }

    [[nodiscard]] bool is_too_much(Span span, std::size_t place, const Load& piece) const {
        const Load there = loads_.largest(span, place);
        const Load peak = loads_.largest();
        return std::max(peak.forward, there.forward + piece.forward) +
                   std::max(peak.backward, there.backward + piece.backward) >=
               best_;
    }

    /// Whether a rank before it, in the same host or where hosts do not matter, is like it in all respects.
    [[nodiscard]] bool has_double(Span span, std::size_t place, const std::vector<std::size_t>& taken) const {
        if (span != Span::kRank) {
            return false;
        }
        const std::size_t host = has_hosts_ ? problem_.ranks_per_host : problem_.ranks;
        for (std::size_t other = place / host * host; other < place; ++other) {
            if (loads_.of(other).forward == loads_.of(place).forward &&
                loads_.of(other).backward == loads_.of(place).backward &&
                loads_.of(other).memory == loads_.of(place).memory &&
                std::find(taken.begin(), taken.end(), other) == taken.end()) {
                return true;
            }
        }
        return false;
    }

    const Problem& problem_;
    std::int64_t best_;
    std::int64_t lower_bound_;
    RankLoads loads_;
    Assignment current_;
    std::vector<std::size_t> order_;
    std::vector<std::int64_t> least_after_;  // work of the tables from a depth on
    bool has_hosts_ = false;
    std::int64_t nodes_ = 0;
    std::optional<Assignment> found_;
};

}  // namespace

ExactResult search_exactly(const Problem& problem, std::int64_t best, std::int64_t lower_bound) {
    return BranchAndBound(problem, best, lower_bound).run();
}

}  // namespace astrolabe::workload::planner
