#include "table_moves.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/study/search/search_space.hpp>

namespace astrolabe::study {

std::string Plan::key() const {
    std::string key = fmt::format("{}", fmt::join(choices, ","));
    if (const auto* counted = std::get_if<workload::CountedTables>(&tables)) {
        key += fmt::format(";{}", fmt::join(counted->tables, ","));
    } else if (const auto* placed = std::get_if<workload::PlacedTables>(&tables)) {
        for (const workload::TablePlace& place : placed->places) {
            key += fmt::format(";{}:{}:{}", static_cast<int>(place.sharding), fmt::join(place.ranks, ","),
                               fmt::join(place.hosts, ","));
        }
    }
    return key;
}

SearchSpace::SearchSpace(std::vector<Choice> choices, std::optional<TableMoves> moves, Plan start)
    : choices_(std::move(choices)),
      moves_(std::move(moves)),
      start_(std::move(start)) {
    ASTROLABE_ASSERT(start_.choices.size() == choices_.size(), "a plan takes an alternative of every choice");
}

std::uint64_t SearchSpace::combinations() const {
    std::uint64_t size = 1;
    for (const Choice& choice : choices_) {
        size = saturating_product(size, choice.alternatives.size());
    }
    return size;
}

std::uint64_t SearchSpace::size() const {
    return saturating_product(combinations(), moves_ ? count_places(*moves_, start_.tables) : 1);
}

Plan SearchSpace::at(std::uint64_t number) const {
    Plan plan = start_;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        const std::uint64_t alternatives = choices_[i].alternatives.size();
        plan.choices[i] = static_cast<std::uint32_t>(number % alternatives);
        number /= alternatives;
    }
    if (moves_) {
        plan.tables = places_at(*moves_, start_.tables, number);
    }
    return plan;
}

Move SearchSpace::choose(const Plan& plan, RandomStream& random) const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        if (choices_[i].alternatives.size() > 1) {
            open.push_back(i);
        }
    }
    const std::size_t which = open[random.below(static_cast<std::uint32_t>(open.size()))];
    const Choice& choice = choices_[which];
    Move move{plan, {}};
    std::uint32_t& taken = move.plan.choices[which];
    const std::uint32_t other = random.below(static_cast<std::uint32_t>(choice.alternatives.size() - 1));
    taken = other < taken ? other : other + 1;
    const ConfigNode& value = choice.alternatives[taken];
    move.what = value.is_scalar() ? fmt::format("{}: {}", choice.path, value.text)
                                  : fmt::format("{}: alternative {}", choice.path, taken);
    return move;
}

Move SearchSpace::neighbour(const Plan& plan, RandomStream& random) const {
    const bool can_choose = combinations() > 1;
    const bool can_move = moves_ && count_places(*moves_, start_.tables) > 1;
    ASTROLABE_ASSERT(can_choose || can_move, "a plan has neighbours");
    if (can_choose && (!can_move || random.below(2) == 0)) {
        return choose(plan, random);
    }
    Move move{plan, {}};
    move.what = move_tables(*moves_, move.plan.tables, random);
    return move;
}

}  // namespace astrolabe::study
