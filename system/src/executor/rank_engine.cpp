#include "rank_engine.hpp"

#include <algorithm>
#include <map>

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

RankEngine::RankEngine(const Program& program, network::NetworkBackend& backend,
                       const network::Folding& folding, IndexedVector<OperationId, OperationRecord>& records,
                       Continuation& continuation)
    : program_(program),
      backend_(backend),
      folding_(folding),
      records_(records),
      continuation_(continuation),
      ranks_(folding.representatives),
      iteration_ends_(folding.representatives,
                      std::vector<Time>(static_cast<std::size_t>(program.iterations))),
      waiting_(is_first_come() ? folding.representatives : 0),
      finished_((folding.representatives * program.operations.size() + 63) / 64),
      timers_(backend) {
    dependents_.resize(program.operations.size());
    name_of_.resize(program.operations.size());
    std::map<std::string, std::uint32_t> known;
    std::vector<std::uint32_t> computes_of_iteration(static_cast<std::size_t>(program.iterations), 0);
    for (std::size_t index = 0; index < program.operations.size(); ++index) {
        const OperationId id(index);
        const Operation& operation = program.operations[id];
        if (operation.is_compute()) {
            compute_.push_back(id);
            ++computes_of_iteration[static_cast<std::size_t>(operation.iteration)];
        }
        if (!operation.is_compute() || is_first_come()) {
            for (const OperationId dependency : operation.dependencies) {
                std::vector<OperationId>& dependents = dependents_[dependency];
                if (dependents.empty() || dependents.back() != id) {
                    dependents.push_back(id);
                }
            }
        }
        // A wait is only ever charged to a collective, but a name costs little and every operation has one.
        const auto [entry, is_new] =
            known.try_emplace(operation.name, static_cast<std::uint32_t>(names_.size()));
        if (is_new) {
            names_.push_back(operation.name);
        }
        name_of_[id] = entry->second;
    }
    left_in_iteration_.assign(folding.representatives, computes_of_iteration);
    exposed_.assign(folding.representatives, std::vector<Time>(names_.size()));
}

void RankEngine::begin() {
    for (std::size_t index = 0; index < program_.operations.size(); ++index) {
        const OperationId id(index);
        const Operation& operation = program_.operations[id];
        if (!operation.dependencies.empty() || (operation.is_compute() && !is_first_come())) {
            continue;
        }
        for (std::size_t rank = 0; rank < folding_.representatives; ++rank) {
            if (operation.is_compute()) {
                make_ready_to_compute({backend_.now(), id, id}, RankId(rank));
            } else {
                make_ready(id, RankId(rank));
            }
        }
    }
    for (std::size_t rank = 0; rank < folding_.representatives; ++rank) {
        start_compute(RankId(rank));
    }
}

bool RankEngine::dependencies_finished(OperationId operation, RankId rank) const {
    const std::vector<OperationId>& dependencies = program_.operations[operation].dependencies;
    return std::all_of(dependencies.begin(), dependencies.end(),
                       [&](OperationId dependency) { return has_finished(dependency, rank); });
}

void RankEngine::make_ready(OperationId operation, RankId rank) {
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
    waiting_[rank].push_back(ready);
    std::push_heap(waiting_[rank].begin(), waiting_[rank].end(), comes_after);
}

void RankEngine::charge_wait(OperationId cause, RankId id) {
    Rank& rank = ranks_[id];
    const Time waited = backend_.now() - rank.idle_since;
    exposed_[id][name_of_[cause]] += waited;
    Time& over_ranks = records_[cause].exposed;
    over_ranks = waited < (Time::max() - over_ranks) / folding_.class_size()
                     ? over_ranks + waited * folding_.class_size()
                     : Time::max();
    rank.idle_since = backend_.now();
}

void RankEngine::start_compute(RankId id) {
    Rank& rank = ranks_[id];
    if (rank.is_computing || rank.next_compute == compute_.size()) {
        return;
    }
    if (is_first_come()) {
        start_first_come(id);
        return;
    }
    const OperationId operation = compute_[rank.next_compute];
    const std::vector<OperationId>& dependencies = program_.operations[operation].dependencies;
    while (rank.next_dependency < dependencies.size() &&
           has_finished(dependencies[rank.next_dependency], id)) {
        charge_wait(dependencies[rank.next_dependency], id);
        ++rank.next_dependency;
    }
    if (rank.next_dependency == dependencies.size()) {
        compute(operation, id);
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
    charge_wait(first.cause, id);
    compute(first.operation, id);
}

void RankEngine::compute(OperationId operation, RankId id) {
    Rank& rank = ranks_[id];
    rank.is_computing = true;
    rank.computing = operation;
    started_.push_back({operation, id});
    const Time duration = program_.operations[operation].compute().duration[id];
    if (duration == Time(0)) {
        ended_.push_back({operation, id});
        return;
    }
    timers_.set(duration, *this, id.index());
}

void RankEngine::finish(OperationOnRank finished) {
    const auto [operation, id] = finished;
    ASTROLABE_ASSERT(!has_finished(operation, id), "an operation finishes once on each rank");
    const std::size_t bit = bit_of(operation, id);
    finished_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    ++finished_count_;
    const Time now = backend_.now();
    Rank& rank = ranks_[id];
    rank.end = now;
    ++rank.finished;
    records_[operation].last_finish = now;
    if (program_.operations[operation].is_compute()) {
        ASTROLABE_ASSERT(rank.is_computing && rank.computing == operation,
                         "compute operations run one at a time");
        rank.is_computing = false;
        rank.compute += program_.operations[operation].compute().duration[id];
        const auto iteration = static_cast<std::size_t>(program_.operations[operation].iteration);
        if (--left_in_iteration_[id][iteration] == 0) {
            iteration_ends_[id][iteration] = now;
        }
        rank.idle_since = now;
        rank.next_dependency = 0;
        ++rank.next_compute;
    }
    for (const OperationId dependent : dependents_[operation]) {
        if (!dependencies_finished(dependent, id)) {
            continue;
        }
        if (program_.operations[dependent].is_compute()) {
            make_ready_to_compute({now, dependent, operation}, id);
        } else {
            make_ready(dependent, id);
        }
    }
    start_compute(id);
}

void RankEngine::notify(std::uint64_t rank) {
    timers_.expired();
    const RankId id(static_cast<std::uint32_t>(rank));
    ended_.push_back({ranks_[id].computing, id});
    continuation_.settle();
}

network::TimerPurpose RankEngine::purpose(std::uint64_t rank) const {
    const RankId id(static_cast<std::uint32_t>(rank));
    return {network::Resources::kCompute, ranks_[id].computing.index()};
}

std::vector<RankRecord> RankEngine::records(Time total, bool check) const {
    std::vector<RankRecord> records(program_.ranks);
    for (std::size_t index = 0; index < folding_.representatives; ++index) {
        const RankId id(index);
        const Rank& rank = ranks_[id];
        RankRecord& record = records[index];
        record.compute = rank.compute;
        record.iteration_ends = iteration_ends_[id];
        record.end = rank.end;
        Time accounted = rank.compute;
        for (std::size_t name = 0; name < names_.size(); ++name) {
            if (exposed_[id][name] > Time(0)) {
                record.exposed.emplace(names_[name], exposed_[id][name]);
                accounted += exposed_[id][name];
            }
        }
        if (check) {
            ASTROLABE_ASSERT(rank.idle_since == accounted,
                             "until its last compute operation ends, a rank computes "
                             "or waits for a named collective");
            ASTROLABE_ASSERT(rank.idle_since <= rank.end && rank.end <= total,
                             "the final communication tail is not negative");
        }
        record.drain = rank.next_compute == compute_.size() ? total - rank.idle_since : Time(0);
    }
    for (std::size_t image = folding_.representatives; image < program_.ranks; ++image) {
        records[image] = records[image % folding_.representatives];
    }
    return records;
}

OperationId RankEngine::first_unfinished_compute(RankId id) const {
    return *std::ranges::find_if(compute_, [&](OperationId each) { return !has_finished(each, id); });
}

RankEngine::Situation RankEngine::situation(RankId id) const {
    const Rank& rank = ranks_[id];
    if (rank.next_compute == compute_.size()) {
        return {Activity::kDraining, {}, {}};
    }
    if (rank.is_computing) {
        return {Activity::kComputing, rank.computing, {}};
    }
    const OperationId operation =
        is_first_come() ? first_unfinished_compute(id) : compute_[rank.next_compute];
    const std::vector<OperationId>& dependencies = program_.operations[operation].dependencies;
    return {Activity::kWaiting, operation,
            *std::ranges::find_if(dependencies, [&](OperationId each) { return !has_finished(each, id); })};
}

}  // namespace astrolabe::system::detail
