#include "improvement.hpp"

#include "search_state.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace astrolabe::workload::planner {

namespace {

struct PieceName {
    std::size_t table;
    std::size_t number;
};

class Improver {
public:
    Improver(const Problem& problem, Assignment& assignment)
        : problem_(problem),
          assignment_(assignment),
          loads_(problem),
          on_rank_(problem.ranks) {
        for (std::size_t table = 0; table < assignment.size(); ++table) {
            put(table);
        }
    }

    void run(std::int64_t lower_bound) {
        for (int step = 0; step < kMaxSteps && loads_.makespan() > lower_bound; ++step) {
            if (!relieve(&Load::forward, &Load::backward) && !relieve(&Load::backward, &Load::forward)) {
                return;
            }
        }
    }

private:
    using Phase = std::int64_t Load::*;

    /// The rank that is busiest in a phase.
    bool relieve(Phase phase, Phase other) {
        phase_ = phase;
        other_ = other;
        busiest_ = loads_.busiest(phase);
        load_ = loads_.of(busiest_).*phase;
        other_peak_ = loads_.largest().*other;
        return move() || swap() || reshard();
    }

    /// Whether a rank may get so much more in the other phase.
    [[nodiscard]] bool may_grow(std::size_t rank, std::int64_t more) const {
        return more <= 0 || loads_.of(rank).*other_ + more < other_peak_;
    }

    [[nodiscard]] const Option& option_of(std::size_t table) const {
        return problem_.tables[table][assignment_[table].option];
    }
    [[nodiscard]] const Load& load_of(const PieceName& piece) const {
        return option_of(piece.table).pieces[piece.number];
    }

    void put(std::size_t table) {
        const Option& option = option_of(table);
        loads_.add(option, assignment_[table]);
        for (std::size_t i = 0; option.span == Span::kRank && i < option.pieces.size(); ++i) {
            on_rank_[assignment_[table].places[i]].push_back({table, i});
        }
    }
    void take(std::size_t table) {
        const Option& option = option_of(table);
        loads_.remove(option, assignment_[table]);
        for (std::size_t i = 0; option.span == Span::kRank && i < option.pieces.size(); ++i) {
            std::erase_if(on_rank_[assignment_[table].places[i]],
                          [table](const PieceName& piece) { return piece.table == table; });
        }
    }
    void set(std::size_t table, Choice choice) {
        take(table);
        assignment_[table] = std::move(choice);
        put(table);
    }

    [[nodiscard]] bool holds(std::size_t table, std::size_t rank) const {
        const std::vector<std::size_t>& places = assignment_[table].places;
        return option_of(table).span == Span::kRank &&
               std::find(places.begin(), places.end(), rank) != places.end();
    }
    [[nodiscard]] bool has_room(std::size_t rank, Bytes more, Bytes less) const {
        return !problem_.memory || loads_.of(rank).memory + more - less <= *problem_.memory;
    }

    /// The least loaded ranks.
    [[nodiscard]] std::vector<std::size_t> idlest(std::size_t count) const {
        std::vector<std::size_t> ranks(problem_.ranks);
        std::iota(ranks.begin(), ranks.end(), std::size_t{0});
        count = std::min(count, ranks.size());
        std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), ranks.end(),
                          [this](std::size_t a, std::size_t b) {
                              return std::pair(loads_.of(a).*phase_, a) < std::pair(loads_.of(b).*phase_, b);
                          });
        ranks.resize(count);
        return ranks;
    }

    void place_piece(const PieceName& piece, std::size_t rank) {
        Choice choice = assignment_[piece.table];
        choice.places[piece.number] = rank;
        set(piece.table, std::move(choice));
    }

    bool move() {
        std::optional<std::pair<PieceName, std::size_t>> best;
        std::int64_t least = load_;
        for (const std::size_t rank : idlest(kNeighbours)) {
            for (const PieceName& piece : on_rank_[busiest_]) {
                const Load& load = load_of(piece);
                const std::int64_t larger =
                    std::max(loads_.of(rank).*phase_ + load.*phase_, load_ - load.*phase_);
                if (larger < least && may_grow(rank, load.*other_) && !holds(piece.table, rank) &&
                    has_room(rank, load.memory, Bytes(0))) {
                    best = {piece, rank};
                    least = larger;
                }
            }
        }
        if (best) {
            place_piece(best->first, best->second);
        }
        return best.has_value();
    }

    bool swap() {
        std::optional<std::pair<PieceName, PieceName>> best;
        std::size_t with = 0;
        std::int64_t least = load_;
        for (const std::size_t rank : idlest(kNeighbours)) {
            for (const PieceName& own : on_rank_[busiest_]) {
                for (const PieceName& other : on_rank_[rank]) {
                    const Load& mine = load_of(own);
                    const Load& theirs = load_of(other);
                    const std::int64_t more = mine.*phase_ - theirs.*phase_;
                    const std::int64_t larger = std::max(loads_.of(rank).*phase_ + more, load_ - more);
                    const std::int64_t others = mine.*other_ - theirs.*other_;
                    if (rank != busiest_ && larger < least && may_grow(rank, others) &&
                        may_grow(busiest_, -others) && !holds(own.table, rank) &&
                        !holds(other.table, busiest_) && has_room(rank, mine.memory, theirs.memory) &&
                        has_room(busiest_, theirs.memory, mine.memory)) {
                        best = {own, other};
                        with = rank;
                        least = larger;
                    }
                }
            }
        }
        if (best) {
            place_piece(best->first, with);
            place_piece(best->second, busiest_);
        }
        return best.has_value();
    }

    /// Another option, or other places, for a table that lies on the busiest rank.
    bool reshard() {
        for (const std::size_t table : tables_there()) {
            const Choice before = assignment_[table];
            take(table);
            std::optional<Choice> best;
            std::int64_t least = load_;
            for (std::size_t option = 0; option < problem_.tables[table].size(); ++option) {
                std::optional<Choice> choice = placed(table, option);
                if (!choice) {
                    continue;
                }
                const Option& taken = problem_.tables[table][option];
                loads_.add(taken, *choice);
                // The busiest rank must get less, and no rank that is touched as much as it had, in the other
                // phase as well.
                std::int64_t largest = loads_.of(busiest_).*phase_;
                std::int64_t largest_other = 0;
                for (const std::size_t place : choice->places) {
                    const Load there = loads_.largest(taken.span, place);
                    largest = std::max(largest, there.*phase_);
                    largest_other = std::max(largest_other, there.*other_);
                }
                loads_.remove(taken, *choice);
                if (largest < least && largest_other < other_peak_) {
                    least = largest;
                    best = std::move(choice);
                }
            }
            assignment_[table] = best ? *best : before;
            put(table);
            if (best) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::vector<std::size_t> tables_there() const {
        std::vector<std::size_t> tables;
        for (std::size_t table = 0; table < assignment_.size(); ++table) {
            const Option& option = option_of(table);
            const std::vector<std::size_t>& places = assignment_[table].places;
            if (std::any_of(places.begin(), places.end(), [&](std::size_t place) {
                    const std::size_t first = loads_.first(option.span, place);
                    return first <= busiest_ && busiest_ < first + loads_.width(option.span);
                })) {
                tables.push_back(table);
            }
        }
        return tables;
    }

    /// The pieces of an option one by one on the least loaded places.
    [[nodiscard]] std::optional<Choice> placed(std::size_t table, std::size_t number) {
        const Option& option = problem_.tables[table][number];
        Choice choice{.option = number, .places = {}};
        for (const Load& piece : option.pieces) {
            const auto found = loads_.best_place(option.span, piece, choice.places);
            if (!found) {
                return std::nullopt;
            }
            choice.places.push_back(*found);
        }
        return choice;
    }

    static constexpr std::size_t kNeighbours = 8;

    const Problem& problem_;
    Assignment& assignment_;
    RankLoads loads_;
    std::vector<std::vector<PieceName>> on_rank_;
    std::size_t busiest_ = 0;
    Phase phase_ = &Load::forward;
    Phase other_ = &Load::backward;
    std::int64_t load_ = 0;        // of the busiest rank, in the phase
    std::int64_t other_peak_ = 0;  // of any rank, in the other phase
};

}  // namespace

void improve(const Problem& problem, Assignment& assignment, std::int64_t lower_bound) {
    Improver(problem, assignment).run(lower_bound);
}

}  // namespace astrolabe::workload::planner
