#include "stage_queue.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::detail {

StageQueue::StageQueue(std::size_t ranks, const SystemOptions& options)
    : limit_(options.active_chunks_per_dimension.value_or(std::numeric_limits<std::uint32_t>::max())),
      is_agreed_(options.start_order == StartOrder::kAgreed),
      alternates_(options.stage_order == StageOrder::kAlternate),
      ready_(ranks, 0),
      under_way_(ranks, 0),
      gathers_next_(is_agreed_ ? 1 : ranks, false),
      order_(ranks) {}

TurnIndex StageQueue::open(const Claim& claim) {
    if (free_turns_.empty()) {
        free_turns_.push_back(static_cast<TurnIndex>(turns_.size()));
        turns_.push_back({.claim = {}, .ready_at = std::vector<Time>(ready_.size(), kNever)});
    }
    const TurnIndex index = free_turns_.back();
    free_turns_.pop_back();
    Turn& turn = turns_[index];
    turn.claim = claim;
    turn.started = 0;
    turn.is_ordered = false;
    waiting_.push_back(index);
    return index;
}

void StageQueue::make_ready(TurnIndex index, Position position, Time now) {
    Turn& turn = turns_[index];
    ASTROLABE_ASSERT(turn.ready_at[position] == kNever, "a rank comes to a stage once");
    turn.ready_at[position] = now;
    if (!turn.is_ordered) {
        ++ready_[position];
    }
}

std::optional<StageQueue::Claim> StageQueue::start_next(Position position) {
    const TurnIndex index = is_agreed_ ? next_agreed(position) : next_independent(position);
    if (index == kNone) {
        return std::nullopt;
    }
    Turn& turn = turns_[index];
    turn.ready_at[position] = kNever;
    ++under_way_[position];
    if (++turn.started == ready_.size()) {
        free_turns_.push_back(index);
    }
    return turn.claim;
}

TurnIndex StageQueue::next_agreed(Position position) {
    const bool has_room = under_way_[position] < limit_;
    if (order_.next(position) == nullptr) {
        const auto chosen = has_room ? best(position) : std::nullopt;
        if (!chosen) {
            return kNone;
        }
        place(*chosen);
    }
    const TurnIndex next = *order_.next(position);
    const Turn& turn = turns_[next];
    const bool is_idle = turn.claim.schedule->program(position).action_count == 0;
    if (turn.ready_at[position] == kNever || !(has_room || is_idle)) {
        return kNone;
    }
    order_.pass(position);
    return next;
}

void StageQueue::place(std::size_t waiting) {
    const TurnIndex index = waiting_[waiting];
    Turn& turn = turns_[index];
    turn.is_ordered = true;
    for (Position position = 0; position < ready_.size(); ++position) {
        ready_[position] -= turn.ready_at[position] != kNever ? 1 : 0;
    }
    remember_kind(turn.claim.kind, 0);
    remove_waiting(waiting);
    order_.extend(index);
}

TurnIndex StageQueue::next_independent(Position position) {
    const auto chosen = under_way_[position] < limit_ ? best(position) : std::nullopt;
    if (!chosen) {
        return kNone;
    }
    const TurnIndex index = waiting_[*chosen];
    --ready_[position];
    remember_kind(turns_[index].claim.kind, position);
    if (turns_[index].started + 1 == ready_.size()) {
        remove_waiting(*chosen);
    }
    return index;
}

void StageQueue::remove_waiting(std::size_t waiting) {
    waiting_[waiting] = waiting_.back();
    waiting_.pop_back();
}

std::optional<std::size_t> StageQueue::best(Position position) const {
    std::optional<std::size_t> best;
    if (ready_[position] == 0) {
        return best;
    }
    for (std::size_t index = 0; index < waiting_.size(); ++index) {
        const Turn& turn = turns_[waiting_[index]];
        if (turn.ready_at[position] != kNever &&
            (!best || is_ahead(turn, turns_[waiting_[*best]], position))) {
            best = index;
        }
    }
    return best;
}

bool StageQueue::is_ahead(const Turn& first, const Turn& second, Position position) const {
    const auto key = [&](const Turn& turn) {
        const Claim& claim = turn.claim;
        return std::tuple(weight(claim, position), !claim.is_highest, ~claim.priority,
                          turn.ready_at[position], claim.sequence, claim.number, claim.stage);
    };
    return key(first) < key(second);
}

std::int64_t StageQueue::weight(const Claim& claim, Position position) const {
    if (!alternates_) {
        return claim.weight;
    }
    const CollectiveKind due = gathers_next_[is_agreed_ ? 0 : position] ? CollectiveKind::kAllGather
                                                                        : CollectiveKind::kReduceScatter;
    return claim.kind == due ? 0 : 1;
}

void StageQueue::remember_kind(CollectiveKind kind, Position position) {
    if (kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllGather) {
        gathers_next_[position] = kind == CollectiveKind::kReduceScatter;
    }
}

std::vector<StageQueue::Claim> StageQueue::waiting(Position position) const {
    std::vector<Claim> claims;
    for (const Turn& turn : turns_) {
        if (turn.ready_at[position] != kNever) {
            claims.push_back(turn.claim);
        }
    }
    return claims;
}

}  // namespace astrolabe::system::detail
