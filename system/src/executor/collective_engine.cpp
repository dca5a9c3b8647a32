#include "collective_engine.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system {

std::uint32_t chunk_count(Bytes size, Bytes minimum_chunk, std::uint32_t chunks) {
    ASTROLABE_ASSERT(size >= Bytes(0) && minimum_chunk > Bytes(0) && chunks > 0, "chunks have a least size");
    const std::int64_t full =
        size.count() / minimum_chunk.count() + (size % minimum_chunk > Bytes(0) ? 1 : 0);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(full, 1, chunks));
}

namespace detail {

CollectiveEngine::CollectiveEngine(const Program& program, const SystemOptions& options,
                                   network::NetworkBackend& backend,
                                   const std::vector<network::HostId>& placement, ChunkEngine& chunks,
                                   IndexedVector<OperationId, OperationRecord>& records)
    : program_(program),
      options_(options),
      backend_(backend),
      chunks_(chunks),
      records_(records),
      schedules_(options) {
    for (const Partition& partition : program.partitions) {
        first_channel_.push_back(static_cast<ChannelIndex>(channels_.size()));
        IndexedVector<RankId, Place> places(program.ranks);
        for (std::uint32_t group = 0; group < partition.groups.size(); ++group) {
            Channel channel;
            channel.ranks = partition.groups[group];
            channel.next_entry.assign(channel.ranks.size(), 0);
            channel.under_way.assign(channel.ranks.size(), 0);
            for (Position position = 0; position < channel.ranks.size(); ++position) {
                const RankId rank = channel.ranks[position];
                channel.hosts.push_back(placement[rank.index()]);
                places[rank] = {group, position};
            }
            channels_.push_back(std::move(channel));
        }
        places_.push_back(std::move(places));
    }
    starts_early_ = partitions_are_nested();
    groups_.resize(program.operations.size());
    stages_.resize(program.operations.size());
}

bool CollectiveEngine::partitions_are_nested() const {
    for (std::size_t first = 0; first < places_.size(); ++first) {
        for (std::size_t second = first + 1; second < places_.size(); ++second) {
            const auto& a = program_.partitions[PartitionId(first)].groups;
            const auto& b = program_.partitions[PartitionId(second)].groups;
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>
                common;  // ranks of a group of each
            for (std::size_t rank = 0; rank < program_.ranks; ++rank) {
                ++common[{places_[PartitionId(first)][RankId(rank)].group,
                          places_[PartitionId(second)][RankId(rank)].group}];
            }
            const bool nested = std::all_of(common.begin(), common.end(), [&](const auto& entry) {
                const auto& [groups, ranks] = entry;
                return ranks == a[groups.first].size() || ranks == b[groups.second].size();
            });
            if (!nested) {
                return false;
            }
        }
    }
    return true;
}

std::uint32_t CollectiveEngine::chunks_of(const CollectiveOperation& collective) const {
    return chunk_count(collective.size, options_.minimum_chunk,
                       options_.collectives[static_cast<std::size_t>(collective.kind)].chunks);
}

void CollectiveEngine::issue(OperationId operation, RankId rank) {
    const Place place = places_[collective(operation).partition][rank];
    const InstanceIndex index = instance_of(operation, place.group);
    Instance& instance = *instances_[index];
    ASTROLABE_ASSERT(instance.issued_at[place.position] == kNever, "a rank issues a collective once");
    instance.issued_at[place.position] = backend_.now();
    ++instance.issued;
    const Position ranks = static_cast<Position>(instance.issued_at.size());
    if (instance.variants != nullptr && starts_early_) {
        if (instance.issued == 1) {
            enqueue(index);
        }
        dirty_.push_back({instance.channel, place.position});
        return;
    }
    if (instance.issued < ranks) {
        return;
    }
    if (instance.variants != nullptr) {
        std::fill(instance.issued_at.begin(), instance.issued_at.end(), backend_.now());
        enqueue(index);
        for (Position position = 0; position < ranks; ++position) {
            dirty_.push_back({instance.channel, position});
        }
        return;
    }
    records_[operation].first_start = std::min(records_[operation].first_start, backend_.now());
    for (Position position = 0; position < ranks; ++position) {
        complete(index, position);
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
    const std::size_t ranks = channel.ranks.size();

    instance.operation = operation;
    instance.channel = channel_index;
    instance.size = work.size;
    instance.next_chunk = 0;
    instance.sequence = next_sequence_++;
    instance.issued = 0;
    instance.finished = 0;
    instance.issued_at.assign(ranks, kNever);
    if (moves_nothing(work, ranks)) {
        instance.variants = nullptr;
        instance.chunks = 0;
        return index;
    }
    instance.variants = &schedules_.of(work.kind, static_cast<Position>(ranks));
    instance.chunks = chunks_of(work);
    instance.chunks_left.assign(ranks, instance.chunks);
    records_[operation].chunks = instance.chunks;

    const bool is_lifo = work.priority == Priority::kLifo ||
                         (work.priority == Priority::kDefault && options_.scheduling == Scheduling::kLifo);
    instance.is_highest = work.priority == Priority::kHighest;
    instance.priority = 0;
    if (work.priority == Priority::kExplicit) {
        instance.priority = work.explicit_priority;
    } else if (!instance.is_highest) {
        instance.priority = is_lifo ? ++channel.highest : --channel.lowest;
    }
    return index;
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

bool CollectiveEngine::extend(Channel& channel, Position position) {
    const Time now = backend_.now();
    auto chosen = channel.waiting.end();
    for (auto candidate = channel.waiting.begin(); candidate != channel.waiting.end(); ++candidate) {
        const Time issued_at = instances_[*candidate]->issued_at[position];
        if (issued_at < now) {
            chosen = candidate;
            break;
        }
        if (issued_at == now && chosen == channel.waiting.end()) {
            chosen = candidate;
        }
    }
    if (chosen == channel.waiting.end()) {
        return false;
    }
    const InstanceIndex index = *chosen;
    Instance& instance = *instances_[index];
    const std::uint32_t number = instance.next_chunk++;
    if (number == 0) {
        OperationRecord& record = records_[instance.operation];
        record.first_start = std::min(record.first_start, now);
    }
    if (instance.next_chunk == instance.chunks) {
        channel.waiting.erase(chosen);
    }
    const CompiledSchedule& schedule = *(*instance.variants)[number % instance.variants->size()];
    channel.order.push_back(
        chunks_.open({.schedule = &schedule,
                      .hosts = channel.hosts.data(),
                      .record = &stages_[instance.operation],
                      .ranks = static_cast<Position>(channel.ranks.size()),
                      .sizes = schedule.block_sizes(part_size(instance.size, instance.chunks, number)),
                      .instance = index,
                      .number = number}));
    return true;
}

void CollectiveEngine::start_chunks() {
    for (std::size_t i = 0; i < dirty_.size(); ++i) {
        start_chunks(dirty_[i].channel, dirty_[i].position);
    }
    dirty_.clear();
}

void CollectiveEngine::start_chunks(ChannelIndex index, Position position) {
    Channel& channel = channels_[index];
    while (channel.under_way[position] < options_.active_chunks) {
        const std::uint64_t end = channel.first_entry + channel.order.size();
        if (channel.next_entry[position] == end && !extend(channel, position)) {
            return;
        }
        const ChunkIndex next = channel.order[channel.next_entry[position] - channel.first_entry];
        const Chunk& chunk = chunks_.chunk(next);
        if (instances_[chunk.instance]->issued_at[position] == kNever) {
            return;
        }
        ++channel.next_entry[position];
        ++channel.under_way[position];
        chunks_.start(next, position);
        if (chunk.started == chunk.ranks) {
            ASTROLABE_ASSERT(channel.order.front() == next, "ranks start chunks in the agreed order");
            channel.order.pop_front();
            ++channel.first_entry;
        }
    }
}

void CollectiveEngine::chunk_finished(const FinishedChunk& finished) {
    Chunk& chunk = chunks_.chunk(finished.chunk);
    const InstanceIndex index = chunk.instance;
    Instance& instance = *instances_[index];
    --channels_[instance.channel].under_way[finished.position];
    dirty_.push_back({instance.channel, finished.position});
    if (++chunk.finished == chunk.ranks) {
        chunks_.close(finished.chunk);
    }
    if (--instance.chunks_left[finished.position] == 0) {
        complete(index, finished.position);
    }
}

void CollectiveEngine::complete(InstanceIndex index, Position position) {
    Instance& instance = *instances_[index];
    const Channel& channel = channels_[instance.channel];
    completed_.push_back({instance.operation, channel.ranks[position]});
    if (++instance.finished == channel.ranks.size()) {
        const PartitionId partition = collective(instance.operation).partition;
        Groups& groups = groups_[instance.operation];
        groups.instances[instance.channel - first_channel_[partition]] = kNone;
        free_instances_.push_back(index);
        if (++groups.done == groups.instances.size()) {
            groups.instances = {};
        }
    }
}

Bytes CollectiveEngine::expected_bytes(OperationId operation) {
    const CollectiveOperation& work = collective(operation);
    Bytes sum;
    for (const std::vector<RankId>& group : program_.partitions[work.partition].groups) {
        if (moves_nothing(work, group.size())) {
            continue;
        }
        const ScheduleCache::Variants& variants =
            schedules_.of(work.kind, static_cast<Position>(group.size()));
        const std::uint32_t chunks = chunks_of(work);
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            sum += variants[chunk % variants.size()]->total_bytes(part_size(work.size, chunks, chunk));
        }
    }
    return sum;
}

const Instance* CollectiveEngine::find(OperationId operation, RankId rank) const {
    const Groups& groups = groups_[operation];
    if (groups.instances.empty()) {
        return nullptr;
    }
    const InstanceIndex index = groups.instances[places_[collective(operation).partition][rank].group];
    return index == kNone ? nullptr : instances_[index].get();
}

Position CollectiveEngine::position(const Instance& instance, RankId rank) const {
    return places_[collective(instance.operation).partition][rank].position;
}

}  // namespace detail

}  // namespace astrolabe::system
