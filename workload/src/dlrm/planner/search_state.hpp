/// Loads of the ranks while pieces are put on them and taken off.
#pragma once

#include "search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace astrolabe::workload::planner {

class RankLoads {
public:
    explicit RankLoads(const Problem& problem)
        : problem_(problem),
          loads_(problem.ranks) {}

    [[nodiscard]] const std::vector<Load>& all() const { return loads_; }
    [[nodiscard]] const Load& of(std::size_t rank) const { return loads_[rank]; }

    /// The ranks of a place: [first, end).
    [[nodiscard]] std::size_t first(Span span, std::size_t place) const {
        return span == Span::kAll ? 0 : span == Span::kHost ? place * problem_.ranks_per_host : place;
    }
    [[nodiscard]] std::size_t width(Span span) const {
        return span == Span::kAll ? problem_.ranks : span == Span::kHost ? problem_.ranks_per_host : 1;
    }
    [[nodiscard]] std::size_t places(Span span) const { return problem_.ranks / width(span); }

    void add(Span span, std::size_t place, const Load& load) {
        for (std::size_t rank = first(span, place), i = 0; i < width(span); ++rank, ++i) {
            loads_[rank].forward += load.forward;
            loads_[rank].backward += load.backward;
            loads_[rank].memory += load.memory;
        }
    }
    void remove(Span span, std::size_t place, const Load& load) {
        add(span, place,
            {.forward = -load.forward, .backward = -load.backward, .memory = Bytes(-load.memory.count())});
    }
    void add(const Option& option, const Choice& choice) {
        for (std::size_t i = 0; i < option.pieces.size(); ++i) {
            add(option.span, choice.places[i], option.pieces[i]);
        }
    }
    void remove(const Option& option, const Choice& choice) {
        for (std::size_t i = 0; i < option.pieces.size(); ++i) {
            remove(option.span, choice.places[i], option.pieces[i]);
        }
    }

    /// The greatest of each phase of the ranks of a place.
    [[nodiscard]] Load largest(Span span, std::size_t place) const {
        Load found;
        for (std::size_t rank = first(span, place), i = 0; i < width(span); ++rank, ++i) {
            found.forward = std::max(found.forward, loads_[rank].forward);
            found.backward = std::max(found.backward, loads_[rank].backward);
        }
        return found;
    }
    /// Of all ranks.
    [[nodiscard]] Load largest() const { return largest(Span::kAll, 0); }
    [[nodiscard]] std::int64_t makespan() const { return largest().cost(); }
    [[nodiscard]] bool has_room(Span span, std::size_t place, Bytes memory) const {
        if (!problem_.memory) {
            return true;
        }
        for (std::size_t rank = first(span, place), i = 0; i < width(span); ++rank, ++i) {
            if (loads_[rank].memory + memory > *problem_.memory) {
                return false;
            }
        }
        return true;
    }
    /// The place with room that is not among `taken` where the makespan grows least, and of these the least
    /// loaded; the first of several.
    [[nodiscard]] std::optional<std::size_t> best_place(Span span, const Load& load,
                                                        const std::vector<std::size_t>& taken) const {
        const Load peak = largest();
        std::optional<std::size_t> best;
        std::pair<std::int64_t, std::int64_t> smallest;
        for (std::size_t place = 0; place < places(span); ++place) {
            const Load there = largest(span, place);
            const std::int64_t growth =
                std::max<std::int64_t>(there.forward + load.forward - peak.forward, 0) +
                std::max<std::int64_t>(there.backward + load.backward - peak.backward, 0);
            const std::pair size(growth, there.cost());
            if ((!best || size < smallest) && has_room(span, place, load.memory) &&
                std::find(taken.begin(), taken.end(), place) == taken.end()) {
                best = place;
                smallest = size;
            }
        }
        return best;
    }
    /// The rank that has most in a phase.
    [[nodiscard]] std::size_t busiest(std::int64_t Load::*phase) const {
        return static_cast<std::size_t>(
            std::max_element(loads_.begin(), loads_.end(),
                             [phase](const Load& a, const Load& b) { return a.*phase < b.*phase; }) -
            loads_.begin());
    }

private:
    const Problem& problem_;
    std::vector<Load> loads_;
};

}  // namespace astrolabe::workload::planner
