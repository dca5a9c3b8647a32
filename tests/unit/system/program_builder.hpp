/// Short ways to write the programs and options that executor tests need.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {

/// Appends operations; partition 0 is the world.
class ProgramBuilder {
public:
    explicit ProgramBuilder(std::size_t ranks, int iterations = 1) {
        program_.ranks = ranks;
        program_.iterations = iterations;
        program_.partitions.push_back(system::Partition::world(ranks));
    }

    system::OperationId compute(std::string name, system::PerRank<Time> duration,
                                std::vector<system::OperationId> after = {}) {
        return compute_on(0, std::move(name), std::move(duration), std::move(after));
    }
    system::OperationId compute_on(std::uint32_t stream, std::string name, system::PerRank<Time> duration,
                                   std::vector<system::OperationId> after = {}) {
        return add(std::move(name), system::ComputeOperation{std::move(duration), stream}, std::move(after));
    }
    system::OperationId collective(std::string name, system::CollectiveOperation collective,
                                   std::vector<system::OperationId> after = {}) {
        return add(std::move(name), collective, std::move(after));
    }
    /// Groups that need not hold all ranks.
    system::PartitionId groups(std::string name, std::vector<std::vector<system::RankId>> groups) {
        return program_.partitions.push_back({std::move(name), std::move(groups)});
    }
    /// On some ranks alone.
    system::OperationId compute_by(std::vector<system::RankId> ranks, std::string name, Time duration,
                                   std::vector<system::OperationId> after = {}) {
        const system::RankSetId set = program_.rank_sets.push_back(std::move(ranks));
        return add(std::move(name), system::ComputeOperation{.duration = duration, .ranks = set},
                   std::move(after));
    }
    system::OperationId send(std::string name, system::RankId from, system::RankId to, Bytes size,
                             std::vector<system::OperationId> after = {}) {
        const system::PartitionId pair = groups(name, {{from, to}});
        return add(std::move(name),
                   system::CollectiveOperation{.kind = system::CollectiveKind::kPointToPoint,
                                               .partition = pair,
                                               .size = size,
                                               .is_one_sided = true},
                   std::move(after));
    }
    system::OperationId receive(std::string name, system::OperationId send,
                                std::vector<system::OperationId> after = {}) {
        return add(std::move(name), system::ReceiveOperation{send}, std::move(after));
    }
    void next_iteration() { ++iteration_; }
    [[nodiscard]] system::Program& program() { return program_; }

private:
    using Work =
        std::variant<system::ComputeOperation, system::CollectiveOperation, system::ReceiveOperation>;

    system::OperationId add(std::string name, Work work, std::vector<system::OperationId> after) {
        return program_.operations.push_back({.name = name,
                                              .layer = name,
                                              .iteration = iteration_,
                                              .work = std::move(work),
                                              .dependencies = std::move(after)});
    }

    system::Program program_;
    int iteration_ = 0;
};

/// The same algorithm and number of chunks for every kind that the algorithm does; chunks of any size.
inline system::SystemOptions options_with(const std::shared_ptr<const system::CollectiveAlgorithm>& algorithm,
                                          std::uint32_t chunks, std::uint32_t active_chunks) {
    system::SystemOptions options;
    options.active_chunks = active_chunks;
    options.minimum_chunk = Bytes(1);
    options.collectives.fill({algorithm, chunks});
    return options;
}

inline std::vector<network::HostId> host_of_each_rank(std::size_t ranks) {
    std::vector<network::HostId> hosts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        hosts.emplace_back(rank);
    }
    return hosts;
}

}  // namespace astrolabe::testing
