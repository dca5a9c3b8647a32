#include <algorithm>
#include <utility>

#include <boost/container_hash/hash.hpp>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/opera/slot_repetition.hpp>

namespace astrolabe::network::opera {

namespace {

/// Cycles. The turn comes back after the least common multiple of the elements that remainders go to.
constexpr std::size_t kLongestPeriod = 64;

}  // namespace

SlotRepetition::SlotRepetition(const RotorSchedule& schedule, std::uint32_t hosts,
                               std::uint32_t hosts_per_rack, std::uint32_t slot)
    : superslices_(schedule.superslices()),
      cycle_(schedule.cycle()),
      hosts_(hosts),
      threshold_(std::max<std::uint64_t>(slot, 2 * std::uint64_t{slot} / hosts_per_rack)) {}

void SlotRepetition::note(std::span<const Grant> grants) {
    for (const Grant& grant : grants) {
        boost::hash_combine(open_, std::uint64_t{grant.from} << 32 | grant.to);
        boost::hash_combine(open_, std::uint64_t{grant.destination} << 32 | grant.packets);
        boost::hash_combine(open_, static_cast<std::uint8_t>(grant.kind));
    }
}

std::uint64_t SlotRepetition::pass(std::uint64_t superslice, std::optional<std::size_t> turns,
                                   std::uint64_t limit, const SlotState& state) {
    std::size_t cycle = std::exchange(open_, 0);
    const bool follows = superslice == next_end_;
    next_end_ = superslice + superslices_;
    if (!turns || !follows) {
        cycles_.clear();
        before_.reset();
        return 0;
    }
    boost::hash_combine(cycle, *turns);
    if (cycles_.size() == 4 * kLongestPeriod) {
        cycles_.erase(cycles_.begin(), cycles_.begin() + 2 * kLongestPeriod);
    }
    cycles_.push_back(cycle);
    ++ended_;
    if (before_ && before_->changes != state.messages.changes()) {
        before_.reset();
    }
    if (!before_) {
        if (ended_ >= next_try_ && state.messages.all_at_source()) {
            if (const std::optional<std::size_t> found = shortest_period()) {
                before_ = take(superslice, *found, state);
            }
        }
        return 0;
    }
    const std::size_t period = before_->period;
    if (ended_ < before_->ended + period) {
        return 0;
    }
    const std::uint64_t superslices = std::uint64_t{superslices_} * period;
    std::uint64_t times = 0;
    if (repeats(period)) {
        const Snapshot now = take(superslice, period, state);
        times = periods_ahead(now, limit / superslices);
        if (times > 0) {
            apply(now, times, state);
        }
    }
    before_.reset();
    wait_ = times > 0 ? 0 : std::max<std::uint64_t>(period, 2 * wait_);
    next_try_ = ended_ + wait_;
    next_end_ += times * superslices;
    return times * superslices;
}

bool SlotRepetition::repeats(std::size_t period) const {
    return cycles_.size() >= 2 * period &&
           std::equal(cycles_.end() - static_cast<std::ptrdiff_t>(period), cycles_.end(),
                      cycles_.end() - static_cast<std::ptrdiff_t>(2 * period));
}

std::optional<std::size_t> SlotRepetition::shortest_period() const {
    for (std::size_t period = 1; period <= std::min(kLongestPeriod, cycles_.size() / 2); ++period) {
        if (repeats(period)) {
            return period;
        }
    }
    return std::nullopt;
}

std::vector<SlotRepetition::Level> SlotRepetition::levels(const PacketCounts& counts) const {
    std::vector<Level> levels;
    for (std::uint32_t host = 0; host < hosts_; ++host) {
        const std::span<const std::uint32_t> destinations = counts.destinations(host);
        levels.push_back({host, destinations.size()});
        for (const std::uint32_t destination : destinations) {
            levels.push_back({destination, counts(host, destination)});
        }
    }
    return levels;
}

SlotRepetition::Snapshot SlotRepetition::take(std::uint64_t superslice, std::size_t period,
                                              const SlotState& state) const {
    return {ended_,
            period,
            state.messages.changes(),
            levels(state.own),
            levels(state.relayed),
            state.relays.digest(superslice),
            state.messages.leaving(),
            state.links,
            state.counters};
}

std::uint64_t SlotRepetition::periods_ahead(const Snapshot& now, std::uint64_t most) const {
    const Snapshot& before = *before_;
    if (now.relayed != before.relayed || now.relays != before.relays || now.own.size() != before.own.size() ||
        now.leaving.size() != before.leaving.size()) {
        return 0;
    }
    for (std::size_t i = 0; i < now.own.size(); ++i) {
        const std::uint64_t left = now.own[i].packets;
        if (now.own[i].destination != before.own[i].destination || left > before.own[i].packets) {
            return 0;
        }
        if (const std::uint64_t lost = before.own[i].packets - left; lost > 0) {
            most = left < threshold_ ? 0 : std::min(most, (left - threshold_) / lost);
        }
    }
    const auto moved_alike = [&](Time from, Time to) {
        return from == to || from + length(now.period) == to;
    };
    for (std::size_t i = 0; i < now.leaving.size(); ++i) {
        const SlotMessages::Leaving& was = before.leaving[i];
        const SlotMessages::Leaving& is = now.leaving[i];
        if (is.pair != was.pair || is.on_detour != was.on_detour || is.packets_left > was.packets_left ||
            !moved_alike(was.direct, is.direct) || !moved_alike(was.detours, is.detours)) {
            return 0;
        }
        if (const std::uint64_t lost = was.packets_left - is.packets_left; lost > 0) {
            most = std::min(most, (is.packets_left - 1) / lost);
        }
    }
    return most;
}

void SlotRepetition::apply(const Snapshot& now, std::uint64_t times, const SlotState& state) const {
    const Snapshot& before = *before_;
    for (std::size_t i = 0; i < now.own.size();) {
        const std::uint32_t host = now.own[i].destination;
        const std::size_t end = i + 1 + now.own[i].packets;
        for (++i; i < end; ++i) {
            state.own.take(host, now.own[i].destination,
                           times * (before.own[i].packets - now.own[i].packets));
        }
    }
    const auto later = [&](Time was, Time is) { return is + (is - was) * static_cast<std::int64_t>(times); };
    for (std::size_t i = 0; i < now.leaving.size(); ++i) {
        const SlotMessages::Leaving& was = before.leaving[i];
        SlotMessages::Leaving then = now.leaving[i];
        then.packets_left -= times * (was.packets_left - then.packets_left);
        then.direct = later(was.direct, then.direct);
        then.detours = later(was.detours, then.detours);
        state.messages.set_leaving(then);
    }
    state.relays.postpone(times * superslices_ * now.period);
    state.links.repeat(before.links, times);
    state.counters.repeat(before.counters, times);
    state.counters.passed_over += times * superslices_ * now.period;
}

}  // namespace astrolabe::network::opera
