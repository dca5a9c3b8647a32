/// What the collectives of a program move, whatever the transport: counted once for all operations that move
/// the same.
///
/// Levels. A message has the level of the longest chain of messages of its schedule that ends with it;
/// messages of one level, of all chunks in flight, are taken to leave together. Peaks are what then comes to
/// a switch for one of its links faster than that takes it; bursts are the packets that hosts, each serving
/// its first messages in turn, have for one host at a time.
///
/// Limits. Where a schedule has more than 2^17 actions its chains are its steps with mean messages; where a
/// collective sends more than 2^16 messages at its start, or a chunk has more, bursts and peaks are left out.
#pragma once

#include "message_costs.hpp"
#include "schedule_loads.hpp"

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment::wire {

using network::HostId;
using network::LinkId;
using network::NodeId;
using system::Action;
using system::OperationId;
using system::Position;

struct LinkLoad {
    LinkId link;
    double bytes = 0;
    double reverse = 0;  ///< on the other direction of its cable
};

/// What one rank sends another.
struct PairLoad {
    std::size_t pair = 0;  ///< source times ranks, and destination
    Position peer = 0;     ///< of the schedule
    std::uint32_t path = 0;
    double size = 0;  ///< of a message
    double messages = 0;
};

/// Packets that hosts send at one time to one host.
struct Burst {
    LinkId link;
    double senders = 0;
};

/// What waits at a switch for a link at most, where links into it bring more than it takes.
struct Peak {
    LinkId link;
    double bytes = 0;
    double senders = 0;
};

/// What operations that move the same share.
struct CollectiveWork {
    std::vector<LinkLoad> links;
    std::vector<LinkLoad> single;  ///< as `links`, on one path for each pair
    std::vector<MessageGroup> messages;
    double mean_size = 0;
    std::vector<PairLoad> pairs;  ///< of those that speak for all
    std::vector<Burst> bursts;    ///< of first messages, into hosts
    std::vector<Peak> peaks;
    double chunks = 1;
    double steps = 1;
    double concurrent = 1;  ///< connections that a rank starts to use at once
    Path path;              ///< mean
    Path single_path;
    // Of the first chunk; empty where it has too many actions, or sizes differ.
    std::unique_ptr<system::CollectiveSchedule> schedule;
    double block_bytes = 0;
    std::vector<std::vector<std::uint32_t>> path_of;  ///< by program and action, into `paths`
    std::vector<Path> paths;
    std::vector<Path> single_paths;
    std::vector<Path>
        longest_paths;  ///< of ranks that send alike, as `paths` where chains are short, else means
    /// What the pair of a send has sent in the run before, by program and action.
    std::vector<std::vector<double>> sent_before;
    bool connects = false;  ///< some pair for the first time in the run
    OperationId first{};    ///< operation that it is the work of first
};

class CollectiveWorks {
public:
    explicit CollectiveWorks(const Experiment& experiment);

    /// Where this is not empty, nothing is known, and this is why.
    [[nodiscard]] const std::string& omission() const { return omission_; }
    /// Whether hosts split what they send another over several cables.
    [[nodiscard]] bool has_single() const { return has_single_; }
    [[nodiscard]] const std::vector<CollectiveWork>& all() const { return works_; }

    static constexpr std::uint32_t kNone = 0xffffffffU;
    /// Place in `all`; kNone where nothing moves.
    [[nodiscard]] std::uint32_t of(OperationId operation) const { return work_of_[operation]; }

private:
    using Key = std::tuple<system::CollectiveKind, system::PartitionId, Bytes, const void*, const void*>;

    void add(OperationId id);
    [[nodiscard]] std::vector<LinkLoad> link_loads(const ScheduleLoads& loads, OperationId id) const;
    /// Paths of the messages of the first chunk, and which of them are the first of their pair in the run.
    void follow(CollectiveWork& work, const ChunkSchedule& chunk,
                const system::CollectiveOperation& collective);
    void find_bursts(CollectiveWork& work, const system::CollectiveSchedule& steps,
                     const system::CollectiveOperation& collective) const;
    void find_peaks(CollectiveWork& work, const ChunkSchedule& chunk,
                    const system::CollectiveOperation& collective) const;
    /// Mean over those that send alike.
    void add_path(CollectiveWork& work, const system::CollectiveSchedule& steps,
                  const std::vector<system::RankId>& ranks, Position rank, Position peer) const;
    /// What a rank sent a peer in the run before.
    [[nodiscard]] double sent_before(std::size_t pair) const;
    /// Adds to it for the pair, and those alike.
    void add_sent(const system::CollectiveSchedule& steps, const std::vector<system::RankId>& ranks,
                  Position rank, Position peer, double bytes);

    const Experiment& experiment_;
    const network::Fabric& fabric_;
    system::ProgramTraffic traffic_;
    std::unique_ptr<ScheduleLoads> loads_;   ///< only while this is made
    std::unique_ptr<ScheduleLoads> single_;  ///< as if every pair had one path
    bool has_single_ = false;
    std::string omission_;
    std::vector<float> sent_;  ///< by source and destination, in program order; empty: too many ranks
    std::map<Key, std::uint32_t> known_;
    std::vector<CollectiveWork> works_;
    IndexedVector<OperationId, std::uint32_t> work_of_;
};

}  // namespace astrolabe::experiment::wire
