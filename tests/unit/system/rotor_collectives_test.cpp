// Collectives that use circuits on the slot engine: the eight racks of four hosts whose times are known.
//
// Superslice T = 15.84 us, cycle 8 T, slot 52.74 us or 109 packets of a host; racks x and y meet once a
// cycle, at the begin of one of the superslices 0 … 7. A last packet arrives 0.86 us after it left.

#include "network/src/engines/slots/slot_engine.hpp"
#include "program_builder.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>
#include <rotor_fabric.hpp>

#include <astrolabe/network/family.hpp>
#include <astrolabe/system/executor/circuit_order.hpp>

namespace astrolabe::testing {
namespace {

using namespace astrolabe::literals;
using network::rotor::RotorNetwork;
using network::rotor::SlotEngine;
using system::CollectiveKind;

constexpr Time T = 15'840_ns;
constexpr Time kSlot = 52'740_ns;
constexpr Time kPath = 860_ns;

struct Outcome {
    Time total;
    network::rotor::SlotCounters counters;
};

Outcome run(const RotorNetwork& network, const std::shared_ptr<const system::CollectiveAlgorithm>& algorithm,
            const system::CollectiveOperation& collective, system::Partition partition) {
    const auto fabric = network::rotor::build_rotor_fabric(network);
    const std::size_t ranks = fabric->host_count();
    ProgramBuilder builder(ranks);
    builder.program().partitions[system::PartitionId(0)] = std::move(partition);
    builder.collective("alone", collective);
    system::SystemOptions options = options_with(algorithm, 1, 64);
    options.circuit_windows = fabric->family().circuit_windows();
    system::order_by_circuits(builder.program(), options, host_of_each_rank(ranks));
    SlotEngine engine(fabric);
    system::Executor executor(builder.program(), options, engine, host_of_each_rank(ranks));
    const system::ExecutionReport report = executor.run();
    EXPECT_TRUE(report.finished) << report.stall;
    return {report.total, engine.counters()};
}

Outcome run(const RotorNetwork& network, const std::shared_ptr<const system::CollectiveAlgorithm>& algorithm,
            const system::CollectiveOperation& collective) {
    return run(network, algorithm, collective,
               system::Partition::world(network.schedule.racks() * network.hosts_per_rack));
}

RotorNetwork intra_rack_direct() {
    RotorNetwork network = network::rotor::eight_rack_network();
    network.bulk.intra_rack = network::rotor::IntraRack::kDirect;
    return network;
}

/// Host 0 of every rack, host 1 of every rack, and so on.
system::Partition one_of_each_rack() {
    system::Partition partition{.name = "rails", .groups = {}};
    for (std::size_t host = 0; host < 4; ++host) {
        partition.groups.emplace_back();
        for (std::size_t rack = 0; rack < 8; ++rack) {
            partition.groups.back().emplace_back(rack * 4 + host);
        }
    }
    return partition;
}

// 27 packets for each of 4 hosts are 108 of the 109 of a slot: all goes directly, and the last racks to meet
// do so at 7 T.
TEST(RotorCollectives, AnAllToAllThatFitsTakesACycle) {
    const Bytes pair = 27 * 1436_B;
    const Outcome outcome = run(intra_rack_direct(), algorithm_of("rotor_direct"),
                                {.kind = CollectiveKind::kAllToAll, .size = 32 * pair});
    EXPECT_GT(outcome.total, 7 * T);
    EXPECT_LE(outcome.total, 7 * T + kSlot + kPath);
    EXPECT_EQ(outcome.counters.direct, 32u * 28 * 27);
    EXPECT_EQ(outcome.counters.intra_rack, 32u * 3 * 27);
    EXPECT_EQ(outcome.counters.first_hops, 0u);
}

// 28 packets need 112: one of each pair waits for the next cycle.
TEST(RotorCollectives, OnePacketMoreTakesAnother) {
    const Bytes pair = 28 * 1436_B;
    const Outcome outcome = run(intra_rack_direct(), algorithm_of("rotor_direct"),
                                {.kind = CollectiveKind::kAllToAll, .size = 32 * pair});
    EXPECT_GT(outcome.total, 15 * T);
    EXPECT_LE(outcome.total, 15 * T + kSlot + kPath);
    EXPECT_EQ(outcome.counters.first_hops, 0u);
}

// The same below a cutoff of 30 kB but above it in one piece, 28 · 1436 B: halves of 14 packets would be
// low-latency, so nothing is cut, unless the class is bulk whatever the size.
TEST(RotorCollectives, NoPieceOfABulkMessageIsLowLatency) {
    RotorNetwork network = network::rotor::with_low_latency(intra_rack_direct(), 30_KB);
    const system::CollectiveOperation all_to_all{.kind = CollectiveKind::kAllToAll, .size = 32 * 28 * 1436_B};
    const Outcome whole = run(network, algorithm_of("rotor_direct"), all_to_all);
    EXPECT_EQ(whole.counters.low_latency, 0u);
    EXPECT_EQ(whole.total, run(network, algorithm_of("direct"), all_to_all).total);
    network.bulk.classes.add(0);
    const Outcome cut = run(network, algorithm_of("rotor_direct"), all_to_all);
    EXPECT_EQ(cut.counters.low_latency, 0u);
    EXPECT_EQ(cut.counters.first_hops, 0u);
    EXPECT_LE(cut.total, 15 * T + kSlot + kPath);
}

// Of groups with one host in each rack every pair has a whole slot, 109 packets.
TEST(RotorCollectives, AGroupOfOneHostARackHasWholeSlots) {
    const Bytes pair = 109 * 1436_B;
    const Outcome outcome = run(network::rotor::eight_rack_network(), algorithm_of("rotor_direct"),
                                {.kind = CollectiveKind::kAllToAll, .size = 8 * pair}, one_of_each_rack());
    EXPECT_GT(outcome.total, 7 * T);
    EXPECT_LE(outcome.total, 7 * T + kSlot + kPath);
    EXPECT_EQ(outcome.counters.direct, 32u * 7 * 109);
}

// Every rank's shard is whole when the first cycle's circuits have come, and goes to everyone with those that
// begin within a cycle from then.
TEST(RotorCollectives, AnAllReduceTakesTwoCycles) {
    const Outcome outcome = run(intra_rack_direct(), algorithm_of("rotor_direct"),
                                {.kind = CollectiveKind::kAllReduce, .size = 32 * 27 * 1436_B});
    EXPECT_LE(outcome.total, 7 * T + 8 * T + 2 * (kSlot + kPath));
    EXPECT_EQ(outcome.counters.first_hops, 0u);
}

// 62 steps of one packet and of 50. Those of 50 last until the slot is nearly over, and the next installation
// after that is 4 T after the one before.
TEST(RotorCollectives, ARingInTheOrderOfCircuitsIsFaster) {
    for (const Bytes size : {32 * 1436_B, 32 * 50 * 1436_B}) {
        const system::CollectiveOperation sum{.kind = CollectiveKind::kAllReduce, .size = size};
        const RotorNetwork network = network::rotor::eight_rack_network();
        const Time unaware = run(network, algorithm_of("ring"), sum).total;
        const Time aware = run(network, algorithm_of("rotor_ring"), sum).total;
        EXPECT_LT(aware, unaware);
        if (size > 32 * 1436_B) {
            EXPECT_GE(aware, 61 * 4 * T);
        }
    }
}

// Groups of 1, 2 and 3 ranks, of which 2 share a rack.
TEST(RotorCollectives, SmallGroupsFinish) {
    for (const auto& algorithm : {algorithm_of("rotor_direct"), algorithm_of("rotor_ring")}) {
        for (const CollectiveKind kind :
             {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
            system::Partition partition{.name = "small", .groups = {}};
            std::size_t rank = 0;
            for (std::size_t size = 1; rank < 32; size = size % 3 + 1) {
                std::vector<system::RankId>& group = partition.groups.emplace_back();
                for (; group.size() < size && rank < 32; ++rank) {
                    group.emplace_back(rank);
                }
            }
            run(network::rotor::eight_rack_network(), algorithm, {.kind = kind, .size = 30_KB}, partition);
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
