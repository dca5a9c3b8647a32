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
      in_flight_(ranks, 0),
      gathers_next_(is_agreed_ ? 1 : ranks, false),
      order_(ranks) {}

EntryIndex StageQueue::open(const Claim& claim) {
    if (free_entries_.empty()) {
        free_entries_.push_back(static_cast<EntryIndex>(entries_.size()));
        entries_.push_back({.claim = {}, .ready_at = std::vector<Time>(ready_.size(), kNever)});
    }
    const EntryIndex index = free_entries_.back();
    free_entries_.pop_back();
    Entry& entry = entries_[index];
    entry.claim = claim;
    entry.started = 0;
    entry.is_ordered = false;
    waiting_.push_back(index);
    return index;
}

void StageQueue::make_ready(EntryIndex index, Position position, Time now) {
    Entry& entry = entries_[index];
    ASTROLABE_ASSERT(entry.ready_at[position] == kNever, "a rank comes to a stage once");
    entry.ready_at[position] = now;
    if (!entry.is_ordered) {
        ++ready_[position];
    }
}

std::optional<StageQueue::Claim> StageQueue::start_next(Position position) {
    const EntryIndex index = is_agreed_ ? next_agreed(position) : next_independent(position);
    if (index == kNone) {
        return std::nullopt;
    }
    Entry& entry = entries_[index];
    entry.ready_at[position] = kNever;
    ++in_flight_[position];
    if (++entry.started == ready_.size()) {
        free_entries_.push_back(index);
    }
    return entry.claim;
}

EntryIndex StageQueue::next_agreed(Position position) {
    const bool has_room = in_flight_[position] < limit_;
    if (order_.next(position) == nullptr) {
        const auto chosen = has_room ? best(position) : std::nullopt;
        if (!chosen) {
            return kNone;
        }
        place(*chosen);
    }
    const EntryIndex next = *order_.next(position);
    const Entry& entry = entries_[next];
    const bool is_idle = entry.claim.schedule->program(position).action_count == 0;
    if (entry.ready_at[position] == kNever || !(has_room || is_idle)) {
        return kNone;
    }
    order_.pass(position);
    return next;
}

void StageQueue::place(std::size_t waiting) {
    const EntryIndex index = waiting_[waiting];
    Entry& entry = entries_[index];
    entry.is_ordered = true;
    for (Position position = 0; position < ready_.size(); ++position) {
        ready_[position] -= entry.ready_at[position] != kNever ? 1 : 0;
    }
    remember_kind(entry.claim.kind, 0);
    remove_waiting(waiting);
    order_.extend(index);
}

EntryIndex StageQueue::next_independent(Position position) {
    const auto chosen = in_flight_[position] < limit_ ? best(position) : std::nullopt;
    if (!chosen) {
        return kNone;
    }
    const EntryIndex index = waiting_[*chosen];
    --ready_[position];
    remember_kind(entries_[index].claim.kind, position);
    if (entries_[index].started + 1 == ready_.size()) {
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
        const Entry& entry = entries_[waiting_[index]];
        if (entry.ready_at[position] != kNever &&
            (!best || is_ahead(entry, entries_[waiting_[*best]], position))) {
            best = index;
        }
    }
    return best;
}

bool StageQueue::is_ahead(const Entry& first, const Entry& second, Position position) const {
    const auto key = [&](const Entry& entry) {
        const Claim& claim = entry.claim;
        return std::tuple(weight(claim, position), !claim.is_highest, ~claim.priority,
                          entry.ready_at[position], claim.sequence, claim.number, claim.stage);
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
    for (const Entry& entry : entries_) {
        if (entry.ready_at[position] != kNever) {
            claims.push_back(entry.claim);
        }
    }
    return claims;
}

}  // namespace astrolabe::system::detail
