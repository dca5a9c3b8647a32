// What ranks have come to at one instant, and the end of a run before the rest of its iterations.

#include "rank_engine.hpp"

#include <algorithm>
#include <tuple>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::detail {

StreamRecord RankEngine::account_so_far(Place place) const {
    const Stream& stream = streams_[place];
    StreamRecord record;
    record.compute = stream.compute;
    record.slowed = contends() ? contentions_[place].slowed : Time(0);
    const RankId rank(place / stream_count_);
    const Role& role = roles_.of(rank);
    for (std::size_t name = 0; name < role.names().size(); ++name) {
        if (exposed_[place][name] > Time(0)) {
            record.exposed.emplace(role.names()[name], exposed_[place][name]);
        }
    }
    const Situation now = situation(rank, place % stream_count_);
    const Time passed = backend_.now() - stream.idle_since;
    if (now.activity == Activity::kComputing) {
        record.compute += passed;
    } else if (now.activity == Activity::kWaiting) {
        record.exposed[program_.operations[now.waits_for].name] += passed;
    }
    return record;
}

int RankEngine::begun_iterations() const {
    int begun = ready_iterations_;
    for (Place place = 0; place < streams_.size(); ++place) {
        const Role& role = roles_.of(RankId(place / stream_count_));
        const std::vector<OwnIndex>& computations = role.computations(place % stream_count_);
        if (!is_first_come() && streams_[place].next_compute < computations.size()) {
            const OperationId next = role.operation(computations[streams_[place].next_compute]);
            begun = std::max(begun, static_cast<int>(iteration_of(next)) + 1);
        }
    }
    return begun;
}

void RankEngine::add_state(StateHash& hash, StateHash& order, OperationId first_operation) const {
    const Time now = backend_.now();
    struct Timer {
        Time due;
        std::uint64_t number;
        Place place;
    };
    std::vector<Timer> timers;
    for (std::size_t index = 0; index < folding_.representatives; ++index) {
        const RankId id(index);
        const Role& role = roles_.of(id);
        const OwnIndex first = role.first_from(first_operation);
        // Numbers of operations before it wrap around, alike in alike states.
        const auto relative = [first](OwnIndex own) { return static_cast<std::uint64_t>(own - first); };
        for (OwnIndex own = first; own < role.size(); ++own) {
            if (is_finished(own, id)) {
                hash.add(relative(own));
            }
        }
        hash.add(~std::uint64_t{0});
        if (is_first_come()) {
            std::vector<ReadyCompute> waiting = waiting_[id];
            std::ranges::sort(waiting, [](const auto& a, const auto& b) { return comes_after(b, a); });
            for (const ReadyCompute& ready : waiting) {
                hash.add(ready.since - now);
                hash.add(relative(ready.operation));
                hash.add(relative(ready.cause));
            }
        }
        for (std::size_t number = 0; number < stream_count_; ++number) {
            const Place place = place_of(id, number);
            const Stream& stream = streams_[place];
            const std::vector<OwnIndex>& computations = role.computations(number);
            const bool has_next = stream.next_compute < computations.size();
            hash.add(has_next && !is_first_come() ? relative(computations[stream.next_compute])
                                                  : ~std::uint64_t{0});
            hash.add(std::uint64_t{stream.next_dependency});
            // Since when a stream waits for nothing decides nothing.
            hash.add(has_next ? stream.idle_since - now : Time(0));
            hash.add(std::uint64_t{stream.is_computing});
            if (!stream.is_computing) {
                continue;
            }
            hash.add(relative(role.own(stream.computing)));
            hash.add(stream.takes);
            timers.push_back({stream.due, stream.timer, place});
            if (contends()) {
                const Contention& contention = contentions_[place];
                hash.add(static_cast<std::uint64_t>(contention.left));
                hash.add(static_cast<std::uint64_t>(contention.left >> 64));
                hash.add(contention.at - now);
                hash.add(contention.started - now);
            }
        }
    }
    std::ranges::stable_sort(timers, {}, &Timer::due);  // by place where they are equal
    for (const Timer& timer : timers) {
        hash.add(timer.due - now);
        hash.add(std::uint64_t{timer.place});
    }
    std::ranges::sort(timers, [](const Timer& a, const Timer& b) {
        return std::tie(a.due, a.number) < std::tie(b.due, b.number);
    });
    for (const Timer& timer : timers) {
        order.add(std::uint64_t{timer.place});
    }
}

void RankEngine::end_before(OperationId operation, int iteration) {
    ASTROLABE_ASSERT(iteration >= begun_iterations(), "what has begun is finished");
    const auto iterations = static_cast<std::size_t>(iteration);
    roles_.end_before(operation, iterations);
    left_of_iteration_.resize(iterations);
    ranks_left_in_iteration_.resize(iterations);
    for (std::size_t rank = 0; rank < folding_.representatives; ++rank) {
        iteration_ends_[RankId(rank)].resize(iterations);
        left_in_iteration_[RankId(rank)].resize(iterations);
    }
}

}  // namespace astrolabe::system::detail
