#include "rank_engine.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::detail {

namespace {

/// Orders a heap so that its top comes first in program order, then by rank.
bool comes_later(const OperationOnRank& a, const OperationOnRank& b) {
    return a.operation != b.operation ? a.operation > b.operation : a.rank > b.rank;
}

}  // namespace

bool RankEngine::comes_after(const ReadyCompute& a, const ReadyCompute& b) {
    return a.since != b.since ? a.since > b.since : a.operation > b.operation;
}

RankEngine::RankEngine(const Program& program, const Participants& participants,
                       network::NetworkBackend& backend, const network::Folding& folding,
                       const ComputeSpeeds* speeds, IndexedVector<OperationId, OperationRecord>& records,
                       Continuation& continuation)
    : program_(program),
      backend_(backend),
      folding_(folding),
      speeds_(speeds),
      records_(records),
      continuation_(continuation),
      stream_count_(program.streams.size()),
      roles_(program, participants, folding.representatives),
      ranks_(folding.representatives),
      streams_(folding.representatives * stream_count_),
      iteration_ends_(folding.representatives,
                      std::vector<Time>(static_cast<std::size_t>(program.iterations))),
      waiting_(is_first_come() ? folding.representatives : 0),
      timers_(backend) {
    left_of_iteration_.resize(static_cast<std::size_t>(program.iterations));
    ranks_left_in_iteration_.resize(left_of_iteration_.size());
    std::size_t bits = 0;
    for (std::size_t index = 0; index < folding.representatives; ++index) {
        const RankId rank(index);
        const Role& role = roles_.of(rank);
        ranks_[rank].first_bit = bits;
        bits += role.size();
        left_in_iteration_.push_back(role.deciding());
        for (OwnIndex own = 0; own < role.size(); ++own) {
            ++left_of_iteration_[iteration_of(role.operation(own))];
        }
        for (std::size_t iteration = 0; iteration < role.deciding().size(); ++iteration) {
            ranks_left_in_iteration_[iteration] += role.deciding()[iteration] > 0 ? 1 : 0;
        }
        for (std::size_t stream = 0; stream < stream_count_; ++stream) {
            exposed_.emplace_back(role.names().size());
        }
    }
    finished_.resize((bits + 63) / 64);
    if (std::ranges::any_of(program.operations, [](const Operation& operation) {
            return operation.is_compute() && operation.compute().contended;
        })) {
        ASTROLABE_ASSERT(speeds == nullptr, "ranks are slowed by collectives or for a time, not both");
        contentions_.resize(streams_.size());
        in_flight_.resize(folding.representatives);
        has_started_.resize(bits);
    }
}

void RankEngine::begin() {
    for (std::size_t rank = 0; rank < folding_.representatives; ++rank) {
        begin(RankId(rank));
    }
    for (std::size_t rank = 0; rank < folding_.representatives; ++rank) {
        start_streams(RankId(rank));
    }
}

void RankEngine::begin(RankId rank) {
    const Role& role = roles_.of(rank);
    for (OwnIndex own = 0; own < role.size(); ++own) {
        if (!role.dependencies(own).empty()) {
            continue;
        }
        const OperationId id = role.operation(own);
        if (!program_.operations[id].is_compute()) {
            make_ready(id, rank);
        } else if (is_first_come()) {
            make_ready_to_compute({backend_.now(), own, own}, rank);
        }
    }
}

bool RankEngine::dependencies_finished(OwnIndex own, RankId rank) const {
    return std::ranges::all_of(roles_.of(rank).dependencies(own),
                               [&](OwnIndex dependency) { return is_finished(dependency, rank); });
}

void RankEngine::make_ready(OperationId operation, RankId rank) {
    ready_iterations_ = std::max(ready_iterations_, static_cast<int>(iteration_of(operation)) + 1);
    ready_.push_back({operation, rank});
    std::push_heap(ready_.begin(), ready_.end(), comes_later);
}

OperationOnRank RankEngine::take_ready() {
    std::pop_heap(ready_.begin(), ready_.end(), comes_later);
    const OperationOnRank first = ready_.back();
    ready_.pop_back();
    return first;
}

void RankEngine::make_ready_to_compute(const ReadyCompute& ready, RankId rank) {
    const OperationId operation = roles_.of(rank).operation(ready.operation);
    ready_iterations_ = std::max(ready_iterations_, static_cast<int>(iteration_of(operation)) + 1);
    waiting_[rank].push_back(ready);
    std::push_heap(waiting_[rank].begin(), waiting_[rank].end(), comes_after);
}

void RankEngine::charge_wait(OwnIndex cause, RankId rank, Place place) {
    Stream& stream = streams_[place];
    const Role& role = roles_.of(rank);
    const Time waited = backend_.now() - stream.idle_since;
    exposed_[place][role.name_of(cause)] += waited;
    if (place % stream_count_ == 0) {
        Time& over_ranks = records_[role.operation(cause)].exposed;
        over_ranks = waited < (Time::max() - over_ranks) / folding_.class_size()
                         ? over_ranks + waited * folding_.class_size()
                         : Time::max();
    }
    stream.idle_since = backend_.now();
}

void RankEngine::start_streams(RankId id) {
    for (std::size_t stream = 0; stream < stream_count_; ++stream) {
        start_compute(id, stream);
    }
}

void RankEngine::start_compute(RankId id, std::size_t number) {
    const Place place = place_of(id, number);
    Stream& stream = streams_[place];
    const Role& role = roles_.of(id);
    if (stream.is_computing || stream.next_compute == role.computations(number).size()) {
        return;
    }
    if (is_first_come()) {
        start_first_come(id);
        return;
    }
    const OwnIndex own = role.computations(number)[stream.next_compute];
    const std::vector<OwnIndex>& dependencies = role.dependencies(own);
    while (stream.next_dependency < dependencies.size() &&
           is_finished(dependencies[stream.next_dependency], id)) {
        charge_wait(dependencies[stream.next_dependency], id, place);
        ++stream.next_dependency;
    }
    if (stream.next_dependency == dependencies.size()) {
        compute(own, id, place);
    }
}

void RankEngine::start_first_come(RankId id) {
    std::vector<ReadyCompute>& waiting = waiting_[id];
    if (waiting.empty()) {
        return;
    }
    std::pop_heap(waiting.begin(), waiting.end(), comes_after);
    const ReadyCompute first = waiting.back();
    waiting.pop_back();
    charge_wait(first.cause, id, place_of(id, 0));
    compute(first.operation, id, place_of(id, 0));
}

void RankEngine::compute(OwnIndex own, RankId id, Place place) {
    const OperationId operation = roles_.of(id).operation(own);
    Stream& stream = streams_[place];
    stream.is_computing = true;
    stream.computing = operation;
    started_.push_back({operation, id});
    if (contends()) {
        start_contended(program_.operations[operation].compute(), id, place);
        return;
    }
    const Time alone = program_.operations[operation].compute().duration[id];
    const Time duration = speeds_ != nullptr ? speeds_->duration(id, backend_.now(), alone) : alone;
    stream.takes = duration;
    if (duration == Time(0)) {
        ended_.push_back({operation, id});
        return;
    }
    set_timer(duration, place);
}

void RankEngine::set_timer(Time delay, Place place) {
    const Time now = backend_.now();
    streams_[place].due = delay < Time::max() - now ? now + delay : Time::max();
    streams_[place].timer = timers_set_++;
    timers_.set(delay, *this, place);
}

void RankEngine::start_contended(const ComputeOperation& work, RankId id, Place place) {
    using astrolabe::detail::Int128;
    const Time now = backend_.now();
    Contention& contention = contentions_[place];
    contention.alone = work.duration[id];
    contention.contended = work.contended ? (*work.contended)[id] : contention.alone;
    contention.left = Int128{contention.alone.count()} * contention.contended.count();
    contention.at = now;
    contention.started = now;
    streams_[place].takes = contention.alone;
    if (contention.alone == Time(0)) {
        ended_.push_back({streams_[place].computing, id});
        return;
    }
    set_timer(contention.alone, place);
}

void RankEngine::count_work(Place place) {
    using astrolabe::detail::Int128;
    Contention& contention = contentions_[place];
    const Time now = backend_.now();
    const bool is_slow = in_flight_[RankId(place / stream_count_)] > 0;
    const Time speed = is_slow ? contention.alone : contention.contended;
    contention.left -= Int128{(now - contention.at).count()} * speed.count();
    contention.at = now;
}

void RankEngine::count_work(RankId id) {
    for (std::size_t stream = 0; stream < stream_count_; ++stream) {
        if (streams_[place_of(id, stream)].is_computing) {
            count_work(place_of(id, stream));
        }
    }
}

void RankEngine::collective_started(OperationOnRank started) {
    const std::size_t bit = bit_of(roles_.of(started.rank).own(started.operation), started.rank);
    if (!has_started_[bit]) {
        has_started_[bit] = true;
        count_work(started.rank);
        ++in_flight_[started.rank];
    }
}

void RankEngine::collective_finished(OperationOnRank finished) {
    const std::size_t bit = bit_of(roles_.of(finished.rank).own(finished.operation), finished.rank);
    if (has_started_[bit]) {
        count_work(finished.rank);
        --in_flight_[finished.rank];
    }
}

void RankEngine::end_compute(OperationId operation, RankId id) {
    const ComputeOperation& work = program_.operations[operation].compute();
    Stream& stream = streams_[place_of(id, work.stream)];
    ASTROLABE_ASSERT(stream.is_computing && stream.computing == operation,
                     "compute operations of a stream run one at a time");
    stream.is_computing = false;
    stream.compute += stream.takes;
    if (contends()) {
        Contention& contention = contentions_[place_of(id, work.stream)];
        contention.slowed += backend_.now() - contention.started - contention.alone;
    }
    stream.idle_since = backend_.now();
    stream.next_dependency = 0;
    ++stream.next_compute;
    const auto iteration = static_cast<std::size_t>(program_.operations[operation].iteration);
    if ((work.stream == 0 || roles_.of(id).any_stream_decides(iteration)) &&
        --left_in_iteration_[id][iteration] == 0) {
        iteration_ends_[id][iteration] = backend_.now();
        count_ended_iteration(iteration);
    }
}

void RankEngine::finish(OperationOnRank finished) {
    const auto [operation, id] = finished;
    const Role& role = roles_.of(id);
    const OwnIndex own = role.own(operation);
    ASTROLABE_ASSERT(!is_finished(own, id), "an operation finishes once on each rank");
    const std::size_t bit = bit_of(own, id);
    finished_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    ++finished_count_;
    count_finished(operation);
    const Time now = backend_.now();
    Rank& rank = ranks_[id];
    rank.end = now;
    ++rank.finished;
    records_[operation].last_finish = now;
    if (program_.operations[operation].is_compute()) {
        end_compute(operation, id);
    } else if (contends()) {
        collective_finished(finished);
    }
    for (const OwnIndex dependent : role.dependents(own)) {
        if (!dependencies_finished(dependent, id)) {
            continue;
        }
        const OperationId next = role.operation(dependent);
        if (program_.operations[next].is_compute()) {
            make_ready_to_compute({now, dependent, own}, id);
        } else {
            make_ready(next, id);
        }
    }
    start_streams(id);
}

void RankEngine::count_finished(OperationId operation) {
    --left_of_iteration_[iteration_of(operation)];
    const auto iterations = static_cast<int>(left_of_iteration_.size());
    while (whole_iterations_ < iterations &&
           left_of_iteration_[static_cast<std::size_t>(whole_iterations_)] == 0) {
        ++whole_iterations_;
    }
}

void RankEngine::count_ended_iteration(std::size_t iteration) {
    --ranks_left_in_iteration_[iteration];
    const auto iterations = static_cast<int>(ranks_left_in_iteration_.size());
    while (computed_iterations_ < iterations &&
           ranks_left_in_iteration_[static_cast<std::size_t>(computed_iterations_)] == 0) {
        ++computed_iterations_;
    }
}

void RankEngine::notify(std::uint64_t place) {
    continuation_.before_compute_ends();
    timers_.expired();
    const RankId id(static_cast<std::uint32_t>(place / stream_count_));
    if (contends()) {
        count_work(place);
        const Contention& contention = contentions_[place];
        if (contention.left > 0) {
            const std::int64_t full = contention.contended.count();
            set_timer(Time(static_cast<std::int64_t>((contention.left + full - 1) / full)), place);
            return;
        }
    }
    ended_.push_back({streams_[place].computing, id});
    continuation_.settle();
}

network::TimerPurpose RankEngine::purpose(std::uint64_t place) const {
    return {network::Resources::kCompute, streams_[place].computing.index()};
}

StreamRecord RankEngine::account(Place place, Time total, bool check) const {
    const Stream& stream = streams_[place];
    StreamRecord record;
    record.compute = stream.compute;
    record.slowed = contends() ? contentions_[place].slowed : Time(0);
    Time accounted = stream.compute + record.slowed;
    const RankId rank(place / stream_count_);
    const Role& role = roles_.of(rank);
    for (std::size_t name = 0; name < role.names().size(); ++name) {
        if (exposed_[place][name] > Time(0)) {
            record.exposed.emplace(role.names()[name], exposed_[place][name]);
            accounted += exposed_[place][name];
        }
    }
    if (check) {
        const Time end = ranks_[rank].end;
        ASTROLABE_ASSERT(stream.idle_since == accounted,
                         "until its last compute operation ends, a stream computes or waits for a named "
                         "operation");
        ASTROLABE_ASSERT(stream.idle_since <= end && end <= total,
                         "the final communication tail is not negative");
    }
    const bool is_draining = stream.next_compute == role.computations(place % stream_count_).size();
    record.drain = is_draining ? total - stream.idle_since : Time(0);
    return record;
}

std::vector<RankRecord> RankEngine::records(Time total, bool check) const {
    return records_of([&](Place place) { return account(place, total, check); });
}

std::vector<RankRecord> RankEngine::records_so_far() const {
    return records_of([this](Place place) { return account_so_far(place); });
}

template <class Account>
std::vector<RankRecord> RankEngine::records_of(const Account& account) const {
    std::vector<RankRecord> records(program_.ranks);
    for (std::size_t index = 0; index < folding_.representatives; ++index) {
        const RankId id(index);
        RankRecord& record = records[index];
        static_cast<StreamRecord&>(record) = account(place_of(id, 0));
        for (std::size_t stream = 1; stream < stream_count_; ++stream) {
            record.other_streams.push_back(account(place_of(id, stream)));
        }
        record.iteration_ends = iteration_ends_[id];
        record.end = ranks_[id].end;
    }
    for (std::size_t image = folding_.representatives; image < program_.ranks; ++image) {
        records[image] = records[image % folding_.representatives];
    }
    return records;
}

int RankEngine::finished_iterations() const {
    const bool all_finished = std::ranges::all_of(left_in_iteration_, [](const auto& left) {
        return std::ranges::all_of(left, [](std::uint32_t count) { return count == 0; });
    });
    const bool computes = std::ranges::any_of(iteration_ends_, [](const auto& ends) {
        return std::ranges::any_of(ends, [](Time end) { return end > Time(0); });
    });
    if (all_finished) {
        // The last one ends with the run, as does every one of a program that computes nothing.
        return computes ? static_cast<int>(left_of_iteration_.size()) - 1 : 0;
    }
    auto finished = static_cast<int>(left_of_iteration_.size());
    for (const std::vector<std::uint32_t>& left : left_in_iteration_) {
        const auto open = std::ranges::find_if(left, [](std::uint32_t count) { return count > 0; });
        finished = std::min(finished, static_cast<int>(open - left.begin()));
    }
    return finished;
}

RankActivity RankEngine::activity() const {
    RankActivity activity;
    for (std::size_t index = 0; index < folding_.representatives; ++index) {
        const RankId rank(index);
        const auto first = streams_.begin() + static_cast<std::ptrdiff_t>(place_of(rank, 0));
        const bool computes = std::any_of(first, first + static_cast<std::ptrdiff_t>(stream_count_),
                                          [](const Stream& stream) { return stream.is_computing; });
        if (computes) {
            activity.computing += folding_.class_size();
        } else if (!has_finished_all(rank)) {
            activity.waiting += folding_.class_size();
        }
    }
    activity.finished_iterations = finished_iterations();
    return activity;
}

OwnIndex RankEngine::first_unfinished_compute(RankId id) const {
    return *std::ranges::find_if(roles_.of(id).computations(0),
                                 [&](OwnIndex each) { return !is_finished(each, id); });
}

RankEngine::Situation RankEngine::situation(RankId id, std::size_t number) const {
    const Stream& stream = streams_[place_of(id, number)];
    const Role& role = roles_.of(id);
    if (stream.next_compute == role.computations(number).size()) {
        return {Activity::kDraining, {}, {}};
    }
    if (stream.is_computing) {
        return {Activity::kComputing, stream.computing, {}};
    }
    const OwnIndex own =
        is_first_come() ? first_unfinished_compute(id) : role.computations(number)[stream.next_compute];
    const OwnIndex awaited =
        *std::ranges::find_if(role.dependencies(own), [&](OwnIndex each) { return !is_finished(each, id); });
    return {Activity::kWaiting, role.operation(own), role.operation(awaited)};
}

}  // namespace astrolabe::system::detail
