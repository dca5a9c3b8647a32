#include <algorithm>
#include <map>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/executor.hpp>
#include <astrolabe/system/traffic.hpp>

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
    Bytes most;
    for (const RankTraffic& rank : ranks) {
        most = std::max(most, rank.bytes_sent);
    }
    return most;
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

Traffic traffic_of(const CollectiveSchedule& schedule, Bytes size) {
    Traffic traffic{.ranks = std::vector<RankTraffic>(schedule.ranks())};
    for (Position rank = 0; rank < schedule.ranks(); ++rank) {
        RankTraffic& own = traffic.ranks[rank];
        for (const Action& action : schedule.program(rank).actions) {
            const Bytes message = schedule.message_size(rank, action, size);
            if (action.is_send()) {
                own.bytes_sent += message;
                ++own.messages_sent;
            } else {
                own.bytes_received += message;
                ++own.messages_received;
            }
        }
    }
    return traffic;
}

Traffic traffic_of(const CollectiveAlgorithm& algorithm, CollectiveKind kind, Position ranks, Bytes size,
                   std::uint32_t chunks) {
    Traffic traffic{.ranks = std::vector<RankTraffic>(ranks)};
    if (size == Bytes(0) || ranks < 2) {
        return traffic;
    }
    const unsigned variants = algorithm.variants(kind, ranks);
    std::map<std::pair<unsigned, Bytes>, std::int64_t> equal_chunks;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        ++equal_chunks[{chunk % variants, part_size(size, chunks, chunk)}];
    }
    for (const auto& [chunk, count] : equal_chunks) {
        traffic.add(traffic_of(algorithm.schedule(kind, ranks, chunk.first), chunk.second), count);
    }
    return traffic;
}

}  // namespace astrolabe::system
