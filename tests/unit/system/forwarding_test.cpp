// Rings whose messages the executor leaves to the network to forward (forwarder.hpp).
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/fully_connected.hpp"
#include "program_builder.hpp"
#include "system/src/executor/compiled_schedule.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using network::FluidBackend;
using network::RatesKept;
using system::CollectiveKind;
using system::Position;
using system::detail::CompiledSchedule;

std::optional<Position> stride_of(const std::string& algorithm, CollectiveKind kind, unsigned variant = 0) {
    return CompiledSchedule(algorithm_of(algorithm)->schedule(kind, 8, variant)).forward_stride();
}

TEST(Forwarding, RingsForward) {
    EXPECT_EQ(stride_of("ring", CollectiveKind::kAllReduce), 1U);
    EXPECT_EQ(stride_of("ring", CollectiveKind::kReduceScatter), 1U);
    EXPECT_EQ(stride_of("ring", CollectiveKind::kAllGather), 1U);
    EXPECT_EQ(stride_of("ring", CollectiveKind::kAllToAll), 1U);
    // Chunks go in one direction and in the other.
    EXPECT_EQ(stride_of("bidirectional_ring", CollectiveKind::kAllReduce, 0), 1U);
    EXPECT_EQ(stride_of("bidirectional_ring", CollectiveKind::kAllReduce, 1), 7U);
    // From a root along a line, and to several peers.
    EXPECT_FALSE(stride_of("ring", CollectiveKind::kBroadcast));
    EXPECT_FALSE(stride_of("direct", CollectiveKind::kAllReduce));
    EXPECT_FALSE(stride_of("halving_doubling", CollectiveKind::kAllReduce));
}

TEST(Forwarding, EachReceiveSetsOffTheNextSend) {
    // Actions in the order of the program: send 0, receive 1, send 2, … receive 27 of 14 steps.
    const CompiledSchedule schedule(algorithm_of("ring")->schedule(CollectiveKind::kAllReduce, 8, 0));
    for (std::uint32_t step = 0; step < 13; ++step) {
        EXPECT_EQ(schedule.sent_after(2 * step + 1), 2 * step + 2);
    }
    EXPECT_EQ(schedule.sent_after(27), system::detail::kNone);
}

struct Ran {
    system::ExecutionReport report;
    std::uint64_t events;
    std::uint64_t messages;
    std::uint64_t forwarded;
};

/// One switch, or `is_meshed`: a link for each pair of hosts.
std::shared_ptr<const network::Fabric> fabric_of(std::size_t ranks, bool is_meshed) {
    const network::HostLinkParameters link{100_Gbps, 500_ns};
    const auto hosts = static_cast<std::int64_t>(ranks);
    if (is_meshed) {
        return network::build_fully_connected({.hosts = hosts, .link = link});
    }
    network::FlatParameters parameters;
    parameters.hosts = hosts;
    parameters.link = link;
    return build_flat(parameters);
}

Ran run(const system::Program& program, const system::SystemOptions& options,
        const std::shared_ptr<const network::Fabric>& fabric, RatesKept rates_kept) {
    FluidBackend backend(fabric, {.rates_kept = rates_kept});
    system::Executor executor(program, options, backend, host_of_each_rank(program.ranks));
    system::ExecutionReport report = executor.run();
    return {std::move(report), backend.events_processed(), backend.statistics().messages,
            backend.forwarded_messages()};
}

template <class T>
T in_range(T low, T end) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, end));
}

/// Ranks that compute for different times, and then reduce gradients, of all or of halves, and exchange.
system::Program random_program(std::size_t ranks) {
    ProgramBuilder builder(ranks, 2);
    std::vector<system::RankId> lower;
    std::vector<system::RankId> upper;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        (rank < ranks / 2 ? lower : upper).emplace_back(rank);
    }
    const system::PartitionId halves = builder.groups("halves", {lower, upper});
    for (int iteration = 0; iteration < 2; ++iteration) {
        std::vector<system::OperationId> last;
        for (int layer = 0; layer < 4; ++layer) {
            std::vector<Time> times;
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                times.emplace_back(in_range<std::int64_t>(0, 50) * 1'000'000);
            }
            const std::string name = std::to_string(iteration) + "-" + std::to_string(layer);
            const system::OperationId computed =
                builder.compute("c" + name, system::PerRank<Time>(times), last);
            const auto kind = in_range(0, 4) == 0 ? CollectiveKind::kAllToAll : CollectiveKind::kAllReduce;
            const system::OperationId reduced =
                builder.collective("r" + name,
                                   {.kind = kind,
                                    .partition = in_range(0, 3) == 0 ? halves : system::PartitionId(0),
                                    .size = Bytes(in_range<std::int64_t>(0, 1 << 22))},
                                   {computed});
            last = {in_range(0, 3) == 0 ? reduced : computed};
        }
        builder.next_iteration();
    }
    return builder.program();
}

RC_GTEST_PROP(ForwardingProperty, ReportsAreThoseOfEvents, ()) {
    const auto ranks = in_range<std::size_t>(4, 17);
    const system::Program program = random_program(ranks);
    // Several rings at a time need links of their own.
    const bool is_meshed = in_range(0, 2) == 0;
    const std::vector<std::string> rings{"ring", "bidirectional_ring", "multi_ring, rings: 3"};
    const std::string& ring = rings[is_meshed ? in_range<std::size_t>(0, rings.size()) : 0];
    system::SystemOptions options =
        options_with(algorithm_of(ring), in_range<std::uint32_t>(1, 5), in_range<std::uint32_t>(1, 9));
    options.collectives[static_cast<std::size_t>(CollectiveKind::kAllToAll)].algorithm =
        algorithm_of("direct");
    const std::shared_ptr<const network::Fabric> fabric = fabric_of(ranks, is_meshed);
    const Ran ahead = run(program, options, fabric, RatesKept::kByLink);
    const Ran events = run(program, options, fabric, RatesKept::kByConnection);
    RC_ASSERT(events.forwarded == 0U);
    const bool is_quarter = ahead.forwarded > ahead.messages / 4;
    RC_CLASSIFY(is_quarter, "a quarter is forwarded");
    RC_CLASSIFY(is_quarter && ring != "ring", "a quarter is forwarded on several rings");
    RC_ASSERT(ahead.report.total == events.report.total);
    RC_ASSERT(ahead.events == events.events);
    RC_ASSERT(ahead.messages == events.messages);
    for (std::size_t index = 0; index < program.operations.size(); ++index) {
        const system::OperationRecord& one = ahead.report.operations[system::OperationId(index)];
        const system::OperationRecord& other = events.report.operations[system::OperationId(index)];
        RC_ASSERT(one.first_issue == other.first_issue);
        RC_ASSERT(one.first_start == other.first_start);
        RC_ASSERT(one.last_finish == other.last_finish);
        RC_ASSERT(one.stages.size() == other.stages.size());
        for (std::size_t stage = 0; stage < one.stages.size(); ++stage) {
            RC_ASSERT(one.stages[stage].bytes_sent == other.stages[stage].bytes_sent);
            RC_ASSERT(one.stages[stage].messages == other.stages[stage].messages);
        }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        RC_ASSERT(ahead.report.ranks[rank].iteration_ends == events.report.ranks[rank].iteration_ends);
    }
}

}  // namespace
}  // namespace astrolabe::testing
