#include "slot_repetition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <boost/container_hash/hash.hpp>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/fair_share.hpp>

namespace astrolabe::network::rotor {

namespace {

/// Cycles. The round-robin index comes back after the least common multiple of the elements that remainders
/// go to.
constexpr std::uint64_t kLongestPeriod = 64;

}  // namespace

SlotRepetition::SlotRepetition(const RotorSchedule& schedule, std::uint32_t hosts,
                               std::uint32_t hosts_per_rack, std::uint32_t slot)
    : superslices_(schedule.superslices()),
      cycle_(schedule.cycle()),
      hosts_(hosts),
      threshold_(std::max<std::uint64_t>(slot, 2 * std::uint64_t{slot} / hosts_per_rack)) {}

std::uint64_t SlotRepetition::fast_forward(std::uint64_t superslice, std::optional<std::uint64_t> indices,
                                           std::uint64_t limit, const SlotState& state) {
    const bool follows = superslice == next_end_;
    next_end_ = superslice + superslices_;
    if (!indices || !follows) {
        kept_.reset();
        loop_.reset();
        return 0;
    }
    ++ended_;
    if (loop_ && !goes_on(state)) {
        loop_.reset();
    }
    if (!loop_) {
        search(superslice, *indices, state);
    }
    if (!loop_ || !state.messages.all_at_source()) {
        return 0;
    }
    const std::uint64_t period = superslices_ * loop_->period;
    const std::uint64_t times = periods_ahead(limit / period, state);
    if (times > 0) {
        apply(times, state);
    }
    next_end_ += times * period;
    return times * period;
}

bool SlotRepetition::goes_on(const SlotState& state) const {
    return loop_->sent == state.messages.sent() &&
           std::all_of(loop_->losing.begin(), loop_->losing.end(), [&](const Queue& queue) {
               return state.own(queue.host, queue.destination) >= threshold_;
           });
}

void SlotRepetition::search(std::uint64_t superslice, std::uint64_t indices, const SlotState& state) {
    const std::size_t counts = digest(state);
    if (kept_ && kept_->sent == state.messages.sent()) {
        indices_ = std::min(std::lcm(indices_, indices), FairShare::kNoPeriod);
        const std::uint64_t period = ended_ - kept_->ended;
        if (counts == kept_->counts && period % indices_ == 0) {
            loop_ = loop_since_kept(take(superslice, counts, state));
            if (loop_) {
                kept_.reset();
                return;
            }
        }
        if (period < replaced_after_) {
            return;
        }
        replaced_after_ = std::min(2 * replaced_after_, kLongestPeriod);
    } else {
        replaced_after_ = 1;
    }
    kept_ = take(superslice, counts, state);
    indices_ = 1;
}

/// Of what decides what is granted, but the round-robin index: long queues alike.
std::size_t SlotRepetition::digest(const SlotState& state) const {
    std::size_t digest = 0;
    for (std::uint32_t host = 0; host < hosts_; ++host) {
        boost::hash_combine(digest, host);
        for (const std::uint32_t destination : state.own.destinations(host)) {
            boost::hash_combine(digest, destination);
            boost::hash_combine(digest, std::min(state.own(host, destination), threshold_));
        }
        std::size_t relayed = 0;  // in any order
        for (const std::uint32_t destination : state.relayed.destinations(host)) {
            std::size_t one = destination;
            boost::hash_combine(one, state.relayed(host, destination));
            relayed += one;
        }
        boost::hash_combine(digest, relayed);
    }
    return digest;
}

SlotRepetition::Snapshot SlotRepetition::take(std::uint64_t superslice, std::size_t counts,
                                              const SlotState& state) const {
    std::vector<Queue> own;
    for (std::uint32_t host = 0; host < hosts_; ++host) {
        for (const std::uint32_t destination : state.own.destinations(host)) {
            const std::uint32_t pair = state.messages.pair(HostId(host), HostId(destination));
            own.push_back(
                {host, destination, state.own(host, destination), state.messages.latest_arrival(pair)});
        }
    }
    return {
        ended_,         state.messages.sent(), counts,        state.relays.digest(superslice, state.messages),
        std::move(own), state.links,           state.counters};
}

/// Nothing unless the state `now` is that which was kept, all but queues that got shorter by whole periods.
std::optional<SlotRepetition::Loop> SlotRepetition::loop_since_kept(Snapshot now) const {
    const Snapshot& before = *kept_;
    const std::uint64_t period = now.ended - before.ended;
    if (now.relays != before.relays || now.own.size() != before.own.size()) {
        return std::nullopt;
    }
    std::vector<Queue> losing;
    for (std::size_t i = 0; i < now.own.size(); ++i) {
        const Queue& was = before.own[i];
        const Queue& is = now.own[i];
        if (is.host != was.host || is.destination != was.destination || is.packets > was.packets) {
            return std::nullopt;
        }
        if (is.packets < was.packets) {
            if (is.packets < threshold_ ||
                is.latest != was.latest + cycle_ * static_cast<std::int64_t>(period)) {
                return std::nullopt;
            }
            losing.push_back({is.host, is.destination, was.packets - is.packets, is.latest});
        }
    }
    return Loop{period,          now.sent,    std::move(losing), before.links, std::move(now.links),
                before.counters, now.counters};
}

std::uint64_t SlotRepetition::periods_ahead(std::uint64_t most, const SlotState& state) const {
    for (const Queue& queue : loop_->losing) {
        const std::uint32_t pair = state.messages.pair(HostId(queue.host), HostId(queue.destination));
        const std::uint64_t waiting = state.own(queue.host, queue.destination) - threshold_;
        const std::uint64_t of_message = state.messages.packets_left(pair) - 1;
        most = std::min({most, waiting / queue.packets, of_message / queue.packets});
        if (most == 0) {
            break;
        }
    }
    return most;
}

void SlotRepetition::apply(std::uint64_t times, const SlotState& state) const {
    const std::uint64_t cycles = times * loop_->period;
    for (const Queue& queue : loop_->losing) {
        const std::uint64_t packets = times * queue.packets;
        state.own.take(queue.host, queue.destination, packets);
        state.messages.repeat(state.messages.pair(HostId(queue.host), HostId(queue.destination)), packets,
                              cycle_ * static_cast<std::int64_t>(cycles));
    }
    state.relays.postpone(cycles * superslices_);
    state.links.repeat(loop_->links_before, loop_->links_after, times);
    state.counters.repeat(loop_->counters_before, loop_->counters_after, times);
    state.counters.passed_over += cycles * superslices_;
}

}  // namespace astrolabe::network::rotor
