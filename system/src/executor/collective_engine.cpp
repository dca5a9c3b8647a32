#include "collective_engine.hpp"

#include "early_start.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::detail {

CollectiveEngine::CollectiveEngine(const Program& program, const Participants& participants,
                                   const SystemOptions& options, network::NetworkBackend& backend,
                                   const std::vector<network::HostId>& placement,
                                   const network::Folding& folding, ChunkEngine& chunks, TieWatch& ties,
                                   IndexedVector<OperationId, OperationRecord>& records)
    : program_(program),
      options_(options),
      backend_(backend),
      folding_(folding),
      chunks_(chunks),
      ties_(ties, backend, folding.representatives),
      records_(records),
      schedules_(options),
      starts_early_(is_independent() || may_start_early(program, participants)) {
    for (const Partition& partition : program.partitions) {
        first_channel_.push_back(static_cast<ChannelIndex>(channels_.size()));
        std::uint32_t represented_groups = 0;
        for (std::uint32_t group = 0; group < partition.groups.size(); ++group) {
            const std::vector<RankId>& ranks = partition.groups[group];
            const auto representatives = static_cast<Position>(std::ranges::count_if(
                ranks, [&](RankId rank) { return rank.index() < folding_.representatives; }));
            channels_.emplace_back(ranks, representatives, placement, options);
            ties_.add_channel(representatives);
            represented_groups += representatives > 0 ? 1 : 0;
        }
        places_.push_back(GroupPlaces(partition, program.ranks));
        represented_groups_.push_back(represented_groups);
    }
    groups_.resize(program.operations.size());
    accounts_.resize(program.operations.size());
    for (std::size_t index = 0; index < program.operations.size(); ++index) {
        const OperationId id(index);
        if (program.operations[id].is_receive()) {
            receive_of_.emplace(program.operations[id].receive().send, id);
        }
    }
}

void CollectiveEngine::issue(OperationId operation, RankId rank) {
    if (program_.operations[operation].is_receive()) {
        issue_one_sided(program_.operations[operation].receive().send, rank);
        return;
    }
    if (collective(operation).is_one_sided) {
        issue_one_sided(operation, rank);
        return;
    }
    const GroupPlace place = *places_[collective(operation).partition].find(rank);
    const InstanceIndex index = instance_of(operation, place.group);
    Instance& instance = *instances_[index];
    ASTROLABE_ASSERT(instance.issued_at[place.position] == kNever, "a rank issues a collective once");
    instance.issued_at[place.position] = backend_.now();
    ++instance.issued;
    const auto ranks = static_cast<Position>(instance.issued_at.size());
    const CollectiveOperation& work = collective(operation);
    if (instance.plan != nullptr && starts_early_ && work.least_duration == Time(0) &&
        !work.begins_together) {
        if (instance.issued == 1) {
            enqueue(index);
        }
        dirty_.push_back({instance.channel, place.position});
        return;
    }
    if (instance.issued < ranks) {
        return;
    }
    if (ties_.last_may_be_another(channels_[instance.channel], instance)) {
        held_back_.push_back({.instance = index, .run = kNone, .stage = 0});
    } else {
        group_issued(index);
    }
}

void CollectiveEngine::issue_one_sided(OperationId send, RankId rank) {
    const auto [group, position] = *places_[collective(send).partition].find(rank);
    const InstanceIndex index = instance_of(send, group);
    Instance& instance = *instances_[index];
    ASTROLABE_ASSERT(instance.issued_at[position] == kNever, "a rank issues a collective once");
    instance.issued_at[position] = backend_.now();
    ++instance.issued;
    if (instance.plan == nullptr) {
        Time& first_start = records_[send].first_start;
        first_start = std::min(first_start, backend_.now());
        const bool is_sender = position == 0;
        if (is_sender) {
            complete(index, 0);
        }
        // Nothing is sent, and a receive waits for the other rank all the same.
        if (instance.issued == 2) {
            complete(index, 1);
        }
        return;
    }
    for (std::uint32_t number = 0; number < instance.chunks; ++number) {
        if (instance.runs[number] == kNone) {
            instance.runs[number] = open_run(index, number);
        }
        start_stage(instance.runs[number], 0, position);
    }
}

void CollectiveEngine::group_issued(InstanceIndex index) {
    Instance& instance = *instances_[index];
    const auto ranks = static_cast<Position>(instance.issued_at.size());
    ties_.group_issued(channels_[instance.channel]);
    if (instance.plan != nullptr) {
        std::fill(instance.issued_at.begin(), instance.issued_at.end(), backend_.now());
        enqueue(index);
        for (Position position = 0; position < ranks; ++position) {
            dirty_.push_back({instance.channel, position});
        }
        return;
    }
    Time& first_start = records_[instance.operation].first_start;
    first_start = std::min(first_start, backend_.now());
    for (Position position = 0; position < ranks; ++position) {
        complete(index, position);
    }
}

bool CollectiveEngine::let_a_group_go_on() {
    if (held_back_.empty()) {
        return false;
    }
    const HeldBack next = held_back_.front();
    held_back_.erase(held_back_.begin());
    ties_.next_notification();
    if (next.run == kNone) {
        group_issued(next.instance);
    } else {
        pass_barrier(next.instance, next.run, next.stage);
    }
    return true;
}

void CollectiveEngine::pass_barrier(InstanceIndex instance, RunIndex run, std::uint32_t stage) {
    const Channel& channel = channels_[instances_[instance]->channel];
    for (Position each = 0; each < channel.representatives; ++each) {
        arrivals_.push_back({run, stage, each});
    }
}

InstanceIndex CollectiveEngine::instance_of(OperationId operation, std::uint32_t group) {
    Groups& groups = groups_[operation];
    const PartitionId partition = collective(operation).partition;
    if (groups.instances.empty()) {
        groups.instances.assign(program_.partitions[partition].groups.size(), kNone);
    }
    if (groups.instances[group] == kNone) {
        groups.instances[group] = open_instance(operation, first_channel_[partition] + group);
    }
    return groups.instances[group];
}

InstanceIndex CollectiveEngine::open_instance(OperationId operation, ChannelIndex channel_index) {
    if (free_instances_.empty()) {
        free_instances_.push_back(static_cast<InstanceIndex>(instances_.size()));
        instances_.push_back(std::make_unique<Instance>());
    }
    const InstanceIndex index = free_instances_.back();
    free_instances_.pop_back();
    Instance& instance = *instances_[index];
    Channel& channel = channels_[channel_index];
    const CollectiveOperation& work = collective(operation);

    instance.operation = operation;
    instance.channel = channel_index;
    instance.size = work.size;
    instance.next_chunk = 0;
    instance.sequence = next_sequence_++;
    instance.issued = 0;
    instance.finished = 0;
    instance.issued_at.assign(channel.representatives, kNever);
    if (work.moves_nothing(channel.ranks.size())) {
        instance.plan = nullptr;
        instance.chunks = 0;
        return index;
    }
    const ChannelIndex group = channel_index - first_channel_[work.partition];
    instance.pairs = work.is_uneven() ? &(*work.pair_sizes)[group] : nullptr;
    instance.chunks = chunk_count(work, options_);
    instance.plan = &schedules_.of(work, channel.shape, instance.chunks);
    instance.chunks_left.assign(channel.representatives, instance.chunks);
    if (is_independent() || work.is_one_sided) {
        instance.taken.assign(channel.representatives, 0);
        instance.runs.assign(instance.chunks, kNone);
        instance.takings = 0;
    }
    records_[operation].chunks = instance.chunks;
    ties_.first_issue(channel_index);
    give_priority(instance, channel);
    return index;
}

void CollectiveEngine::give_priority(Instance& instance, Channel& channel) {
    const CollectiveOperation& work = collective(instance.operation);
    const bool is_lifo = work.priority == Priority::kLifo ||
                         (work.priority == Priority::kDefault && options_.scheduling == Scheduling::kLifo);
    instance.is_highest = work.priority == Priority::kHighest;
    instance.priority = 0;
    if (work.priority == Priority::kExplicit) {
        instance.priority = work.explicit_priority;
    } else if (!instance.is_highest) {
        instance.priority = is_lifo ? ++channel.highest : --channel.lowest;
    }
}

void CollectiveEngine::enqueue(InstanceIndex index) {
    const auto is_ahead = [this](InstanceIndex a, InstanceIndex b) {
        const Instance& first = *instances_[a];
        const Instance& second = *instances_[b];
        if (first.is_highest != second.is_highest) {
            return first.is_highest;
        }
        return first.priority != second.priority ? first.priority > second.priority
                                                 : first.sequence < second.sequence;
    };
    std::vector<InstanceIndex>& waiting = channels_[instances_[index]->channel].waiting;
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), index, is_ahead), index);
}

RunIndex CollectiveEngine::open_run(InstanceIndex index, std::uint32_t number) {
    if (free_runs_.empty()) {
        free_runs_.push_back(static_cast<RunIndex>(runs_.size()));
        runs_.emplace_back();
    }
    const RunIndex run_index = free_runs_.back();
    free_runs_.pop_back();
    ChunkRun& run = runs_[run_index];
    run.instance = index;
    run.number = number;
    run.schedule = (*instances_[index]->plan)[number];
    run.stages.clear();
    for (const Stage& stage : run.schedule->stages) {
        run.stages.push_back({.account = &account_of(instances_[index]->operation, stage)});
    }
    return run_index;
}

StageAccount& CollectiveEngine::account_of(OperationId operation, const Stage& stage) {
    auto& accounts = accounts_[operation];
    const auto found = std::find_if(accounts.begin(), accounts.end(),
                                    [&](const auto& account) { return account->record.stage == stage; });
    if (found != accounts.end()) {
        return **found;
    }
    accounts.push_back(std::make_unique<StageAccount>(stage));
    return *accounts.back();
}

std::vector<InstanceIndex>::iterator CollectiveEngine::best_waiting(Channel& channel, Position position) {
    const Time now = backend_.now();
    auto chosen = channel.waiting.end();
    for (auto candidate = channel.waiting.begin(); candidate != channel.waiting.end(); ++candidate) {
        const Instance& instance = *instances_[*candidate];
        if (is_independent() && instance.taken[position] == instance.chunks) {
            continue;
        }
        const Time issued_at = instance.issued_at[position];
        if (issued_at < now) {
            return candidate;
        }
        if (issued_at == now && chosen == channel.waiting.end()) {
            chosen = candidate;
        }
    }
    return chosen;
}

bool CollectiveEngine::extend(Channel& channel, Position position) {
    const auto chosen = best_waiting(channel, position);
    if (chosen == channel.waiting.end()) {
        return false;
    }
    Instance& instance = *instances_[*chosen];
    const RunIndex run = open_run(*chosen, instance.next_chunk);
    runs_[run].ordered_at = backend_.now();
    runs_[run].ordered_by = position;
    channel.order.extend(run);
    if (++instance.next_chunk == instance.chunks) {
        channel.waiting.erase(chosen);
    }
    return true;
}

RunIndex CollectiveEngine::take_next(Channel& channel, Position position) {
    const auto chosen = best_waiting(channel, position);
    if (chosen == channel.waiting.end()) {
        return kNone;
    }
    Instance& instance = *instances_[*chosen];
    const std::uint32_t number = instance.taken[position]++;
    if (instance.runs[number] == kNone) {
        instance.runs[number] = open_run(*chosen, number);
    }
    if (++instance.takings == std::uint64_t{instance.chunks} * channel.representatives) {
        channel.waiting.erase(chosen);
    }
    return instance.runs[number];
}

RunIndex CollectiveEngine::next_to_enter(Channel& channel, Position position) {
    if (is_independent()) {
        return take_next(channel, position);
    }
    const RunIndex* entry = channel.order.next(position);
    if (entry == nullptr) {
        if (!extend(channel, position)) {
            return kNone;
        }
        entry = channel.order.next(position);
    }
    const RunIndex next = *entry;
    ties_.follows_order(channel, runs_[next], position, instances_);
    if (instances_[runs_[next].instance]->issued_at[position] == kNever) {
        return kNone;
    }
    channel.order.pass(position);
    return next;
}

void CollectiveEngine::start_chunks() {
    for (const Arrival& arrival : arrivals_) {
        reach_stage(arrival);
    }
    arrivals_.clear();
    for (const Dirty& dirty : dirty_) {
        start_chunks(dirty.channel, dirty.position);
    }
    dirty_.clear();
}

void CollectiveEngine::start_chunks(ChannelIndex index, Position position) {
    Channel& channel = channels_[index];
    bool has_entered = false;
    while (channel.in_window[position] < options_.active_chunks) {
        const RunIndex next = next_to_enter(channel, position);
        if (next == kNone) {
            break;
        }
        has_entered = true;
        ++channel.in_window[position];
        if (reports_entries_ && runs_[next].number == 0) {
            entered_.push_back({instances_[runs_[next].instance]->operation, channel.ranks[position]});
        }
        reach_stage({.run = next, .stage = 0, .position = position});
    }
    ties_.window_changed(index, position, has_entered);
    for (StageQueue& queue : channel.queues) {
        while (const auto next = queue.start_next(position)) {
            runs_[next->run].stages[next->stage].account->waiting.end(backend_.now());
            start_stage(next->run, next->stage, position);
        }
    }
}

void CollectiveEngine::reach_stage(const Arrival& arrival) {
    const auto [index, stage, position] = arrival;
    ChunkRun& run = runs_[index];
    Channel& channel = channels_[instances_[run.instance]->channel];
    if (channel.queues.empty()) {
        start_stage(index, stage, position);
        return;
    }
    run.stages[stage].account->waiting.begin(backend_.now());
    StageQueue& queue = channel.queues[run.schedule->stages[stage].dimension];
    EntryIndex& entry = run.stages[stage].entry;
    if (entry == kNone) {
        entry = queue.open(claim_of(*instances_[run.instance], run, index, stage, options_.stage_order));
    }
    queue.make_ready(entry, position, backend_.now());
}

void CollectiveEngine::start_stage(RunIndex index, std::uint32_t stage, Position position) {
    ChunkRun& run = runs_[index];
    const Instance& instance = *instances_[run.instance];
    ChunkRun::StageRun& stage_run = run.stages[stage];
    const Time now = backend_.now();
    if (stage_run.chunk == kNone) {
        const Channel& channel = channels_[instance.channel];
        const CollectiveOperation& work = collective(instance.operation);
        const CollectiveChoice& choice = options_.collectives[static_cast<std::size_t>(work.kind)];
        const bool uses_circuits = options_.circuit_windows != nullptr &&
                                   chosen_algorithm(work, options_)->circuit_use() != CircuitUse::kNone;
        stage_run.chunk = chunks_.open({.schedule = run.schedule->compiled[stage].get(),
                                        .hosts = channel.hosts.data(),
                                        .record = &stage_run.account->record,
                                        .representatives = channel.representatives,
                                        .sizes = block_sizes(instance, run, stage),
                                        .run = index,
                                        .stage = stage,
                                        .label = instance.operation.index(),
                                        .traffic_class = work.traffic_class.value_or(choice.traffic_class),
                                        .uses_circuits = uses_circuits});
        Time& first_start = stage_run.account->record.first_start;
        first_start = std::min(first_start, now);
        records_[instance.operation].first_start = std::min(records_[instance.operation].first_start, now);
    }
    stage_run.account->in_flight.begin(now);
    chunks_.start(stage_run.chunk, position);
}

void CollectiveEngine::chunk_finished(const FinishedChunk& finished) {
    Chunk& chunk = chunks_.chunk(finished.chunk);
    const Position position = finished.position;
    const RunIndex run_index = chunk.run;
    const std::uint32_t stage = chunk.stage;
    ChunkRun& run = runs_[run_index];
    Instance& instance = *instances_[run.instance];
    Channel& channel = channels_[instance.channel];
    const Time now = backend_.now();
    StageAccount& account = *run.stages[stage].account;
    account.in_flight.end(now);
    account.record.last_finish = now;
    if (!collective(instance.operation).is_one_sided) {
        if (stage == 0) {
            --channel.in_window[position];
        }
        if (!channel.queues.empty()) {
            channel.queues[run.schedule->stages[stage].dimension].leave(position);
        }
        if (stage == 0 || !channel.queues.empty()) {
            dirty_.push_back({instance.channel, position});
        }
    }
    const bool is_last = stage + 1 == run.stages.size();
    const bool is_closed = ++chunk.finished == chunk.representatives;
    if (is_closed) {
        chunks_.close(finished.chunk);
    }
    if (!is_last) {
        if (!chosen_algorithm(collective(instance.operation), options_)->has_barriers()) {
            arrivals_.push_back({run_index, stage + 1, position});
        } else if (is_closed && ties_.is_on()) {
            held_back_.push_back({.instance = run.instance, .run = run_index, .stage = stage + 1});
        } else if (is_closed) {
            pass_barrier(run.instance, run_index, stage + 1);
        }
        return;
    }
    const InstanceIndex index = run.instance;
    if (is_closed) {
        free_runs_.push_back(run_index);
    }
    if (--instance.chunks_left[position] == 0) {
        complete(index, position);
    }
}

void CollectiveEngine::complete(InstanceIndex index, Position position) {
    Instance& instance = *instances_[index];
    const Channel& channel = channels_[instance.channel];
    const CollectiveOperation& work = collective(instance.operation);
    const bool is_receive = work.is_one_sided && position == 1;
    completed_.push_back(
        {is_receive ? receive_of_.at(instance.operation) : instance.operation, channel.ranks[position],
         instance.plan != nullptr ? instance.issued_at[position] + work.least_duration : Time(0)});
    if (++instance.finished == channel.representatives) {
        const PartitionId partition = work.partition;
        Groups& groups = groups_[instance.operation];
        groups.instances[instance.channel - first_channel_[partition]] = kNone;
        free_instances_.push_back(index);
        if (++groups.done == represented_groups_[partition]) {
            groups.instances = {};
        }
    }
}

std::vector<StageRecord> CollectiveEngine::stages(OperationId operation) const {
    std::vector<StageRecord> records;
    for (const auto& account : accounts_[operation]) {
        records.push_back(account->at(backend_.now(), folding_.class_size()));
    }
    return records;
}

const Instance* CollectiveEngine::find(OperationId operation, RankId rank) const {
    const Groups& groups = groups_[operation];
    if (groups.instances.empty()) {
        return nullptr;
    }
    const std::optional<GroupPlace> place = places_[collective(operation).partition].find(rank);
    const InstanceIndex index = place ? groups.instances[place->group] : kNone;
    return index == kNone ? nullptr : instances_[index].get();
}

std::optional<Position> CollectiveEngine::position(const Instance& instance, RankId rank) const {
    const PartitionId partition = collective(instance.operation).partition;
    const std::optional<GroupPlace> place = places_[partition].find(rank);
    return place && first_channel_[partition] + place->group == instance.channel
               ? std::optional(place->position)
               : std::nullopt;
}

}  // namespace astrolabe::system::detail
