#include "traffic.hpp"

#include <algorithm>
#include <map>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system {

Bytes Traffic::bytes() const {
    Bytes sum;
    for (const RankTraffic& rank : ranks) {
        sum += rank.bytes_sent;
    }
    return sum;
}

std::uint64_t Traffic::messages() const {
    std::uint64_t sum = 0;
    for (const RankTraffic& rank : ranks) {
        sum += rank.messages_sent;
    }
    return sum;
}

Bytes Traffic::bytes_sent_max() const {
    Bytes largest;
    for (const RankTraffic& rank : ranks) {
        largest = std::max(largest, rank.bytes_sent);
    }
    return largest;
}

void Traffic::add(const Traffic& other, std::int64_t times) {
    ASTROLABE_ASSERT(ranks.size() == other.ranks.size(), "traffic of the same ranks");
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        ranks[i].bytes_sent += other.ranks[i].bytes_sent * times;
        ranks[i].bytes_received += other.ranks[i].bytes_received * times;
        ranks[i].messages_sent += other.ranks[i].messages_sent * static_cast<std::uint64_t>(times);
        ranks[i].messages_received += other.ranks[i].messages_received * static_cast<std::uint64_t>(times);
    }
}

namespace {

/// `count(rank, action, bytes)` for every action and the bytes of its message.
template <class MessageSize, class Count>
void for_each_action(const CollectiveSchedule& schedule, MessageSize message_size, Count count) {
    for (Position rank = 0; rank < schedule.ranks(); ++rank) {
        for (const Action& action : schedule.program(rank).actions) {
            count(rank, action, message_size(rank, action));
        }
    }
}

void count_action(RankTraffic& own, const Action& action, Bytes message) {
    if (action.is_send()) {
        own.bytes_sent += message;
        ++own.messages_sent;
    } else {
        own.bytes_received += message;
        ++own.messages_received;
    }
}

Traffic no_traffic(Position ranks) {
    return {.ranks = std::vector<RankTraffic>(ranks)};
}

}  // namespace

Traffic traffic_of(const CollectiveSchedule& schedule, Bytes size) {
    Traffic traffic = no_traffic(schedule.ranks());
    for (const Traffic& stage : traffic_by_stage(schedule, size)) {
        traffic.add(stage);
    }
    return traffic;
}

std::vector<Traffic> traffic_by_stage(const CollectiveSchedule& schedule, Bytes size) {
    std::vector<Traffic> stages(schedule.stages().size(), no_traffic(schedule.ranks()));
    for_each_action(
        schedule,
        [&](Position rank, const Action& action) { return schedule.message_size(rank, action, size); },
        [&](Position rank, const Action& action, Bytes message) {
            count_action(stages[action.stage].ranks[rank], action, message);
        });
    return stages;
}

Traffic traffic_of(const CollectiveSchedule& schedule, const PairSizes& sizes, std::uint32_t chunk,
                   std::uint32_t chunks) {
    ASTROLABE_ASSERT(schedule.kind() == CollectiveKind::kAllToAll && sizes.positions() == schedule.ranks(),
                     "sizes by pair are those of an all_to_all");
    Traffic traffic = no_traffic(schedule.ranks());
    for_each_action(
        schedule,
        [&](Position rank, const Action& action) {
            Bytes message;
            for (const BlockReference reference : schedule.program(rank).blocks_of(action)) {
                const std::uint64_t block = schedule.resolve(rank, reference);
                const Bytes pair = sizes(block / schedule.ranks(), block % schedule.ranks());
                message += part_size(pair, chunks, chunk);
            }
            return message;
        },
        [&](Position rank, const Action& action, Bytes message) {
            if (message > Bytes(0)) {
                count_action(traffic.ranks[rank], action, message);
            }
        });
    return traffic;
}

Traffic traffic_of(const CollectiveAlgorithm& algorithm, CollectiveKind kind, const Shape& shape, Bytes size,
                   std::uint32_t chunks) {
    Traffic traffic = no_traffic(shape.ranks());
    if (size == Bytes(0) || shape.ranks() < 2) {
        return traffic;
    }
    const std::vector<unsigned> variants = algorithm.variant_sequence(kind, shape, chunks);
    std::map<unsigned, std::map<Bytes, std::int64_t>> equal_chunks;  // by variant and size
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        ++equal_chunks[variants[chunk]][part_size(size, chunks, chunk)];
    }
    for (const auto& [variant, by_size] : equal_chunks) {
        const CollectiveSchedule schedule = algorithm.schedule(kind, shape, variant);
        for (const auto& [chunk_size, count] : by_size) {
            traffic.add(traffic_of(schedule, chunk_size), count);
        }
    }
    return traffic;
}

Traffic traffic_of(const CollectiveAlgorithm& algorithm, const Shape& shape, const PairSizes& sizes,
                   std::uint32_t chunks) {
    Traffic traffic = no_traffic(shape.ranks());
    if (sizes.largest_held() == Bytes(0) || shape.ranks() < 2) {
        return traffic;
    }
    std::map<unsigned, CollectiveSchedule> schedules;
    const std::vector<unsigned> variants =
        algorithm.variant_sequence(CollectiveKind::kAllToAll, shape, chunks);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        auto schedule = schedules.find(variants[chunk]);
        if (schedule == schedules.end()) {
            schedule = schedules
                           .emplace(variants[chunk],
                                    algorithm.schedule(CollectiveKind::kAllToAll, shape, variants[chunk]))
                           .first;
        }
        traffic.add(traffic_of(schedule->second, sizes, chunk, chunks));
    }
    return traffic;
}

}  // namespace astrolabe::system
