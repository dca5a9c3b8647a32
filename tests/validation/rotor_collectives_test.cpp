/// Collectives that know when circuits come against those that do not, on the Opera network of the DLRM study
/// with 128 nodes: the table of docs/models/rotor-collectives.md.
///
/// 32 racks of 4 hosts; superslice T = 21.68 us, cycle C = 32 T, slot 76.10 us or 158 packets of a host, so
/// 39 for each host of another rack.
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <collective_time.hpp>
#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

using namespace astrolabe::literals;

constexpr Time T = 21'680_ns;
constexpr Time kCycle = 32 * T;
constexpr Time kSlot = 76'100_ns;
constexpr Time kPath = 860_ns;  ///< of a packet

experiment::CollectiveRequest request(const std::string& kind, const std::string& algorithm,
                                      const std::string& size) {
    experiment::CollectiveRequest request;
    request.kind = kind;
    request.algorithm = algorithm;
    request.sizes = {size};
    request.network = ASTROLABE_SOURCE_DIR "/inputs/networks/opera-study-128.yaml";
    return request;
}

experiment::CollectivePoint run(const std::string& kind, const std::string& algorithm,
                                const std::string& size, std::vector<std::string> overrides = {}) {
    experiment::CollectiveRequest question = request(kind, algorithm, size);
    question.overrides = std::move(overrides);
    return run_collective(question);
}

/// How many times as long the first takes.
double ratio(const std::string& kind, const std::string& unaware, const std::string& aware,
             const std::string& size) {
    const experiment::CollectivePoint before = run(kind, unaware, size);
    const experiment::CollectivePoint after = run(kind, aware, size);
    const double result = to_seconds(before.run.execution.total) / to_seconds(after.run.execution.total);
    std::printf("%-12s %8s  %-12s %11.2f us %9lu packets  %-12s %11.2f us %9lu packets  ratio %.3f\n",
                kind.c_str(), size.c_str(), unaware.c_str(), to_seconds(before.run.execution.total) * 1e6,
                before.run.network.packets, aware.c_str(), to_seconds(after.run.execution.total) * 1e6,
                after.run.network.packets, result);
    return result;
}

// 10, 40 and 100 kB a pair: the circuits of one cycle are enough for 56 kB, and unaware all-to-alls have
// packets relayed all the same. The margins leave room for remainders drawn at random.
TEST(RotorCollectives, AnAllToAllInTheOrderOfCircuitsIsFaster) {
    EXPECT_GT(ratio("all_to_all", "direct", "rotor_direct", "128kB"), 1.03);
    EXPECT_GT(ratio("all_to_all", "direct", "rotor_direct", "1.28MB"), 1.1);
    EXPECT_GT(ratio("all_to_all", "direct", "rotor_direct", "5.12MB"), 1.5);
    EXPECT_GT(ratio("all_to_all", "direct", "rotor_direct", "12.8MB"), 1.2);
}

// At 1 MB a pair every circuit is busy either way, which leaves nothing to win but in the last cycle.
TEST(RotorCollectives, WhereAllCircuitsAreBusyThereIsLittleToWin) {
    const double large = ratio("all_to_all", "direct", "rotor_direct", "128MB");
    EXPECT_GT(large, 1.0);
    EXPECT_LT(large, 1.05);
}

TEST(RotorCollectives, AnUnevenAllToAllLosesNothing) {
    for (const char* imbalance : {"2", "32"}) {
        const auto time = [&](const std::string& algorithm) {
            experiment::CollectiveRequest question = request("all_to_all_v", algorithm, "1.28MB");
            question.imbalance = imbalance;
            return run_collective(question).run.execution.total;
        };
        EXPECT_LT(time("rotor_direct"), time("direct"));
    }
}

TEST(RotorCollectives, AnAllReduceInTheOrderOfCircuitsIsFaster) {
    EXPECT_GT(ratio("all_reduce", "direct", "rotor_direct", "100kB"), 1.03);
    EXPECT_GT(ratio("all_reduce", "direct", "rotor_direct", "1MB"), 1.1);
    EXPECT_GT(ratio("all_reduce", "direct", "rotor_direct", "10MB"), 1.2);
}

TEST(RotorCollectives, ARingInTheOrderOfCircuitsIsFasterAndStillARing) {
    EXPECT_GT(ratio("all_reduce", "ring", "rotor_ring", "100kB"), 5);
    EXPECT_GT(ratio("all_reduce", "rotor_ring", "rotor_direct", "100kB"), 10);
}

// k cycles for ⌈n / 39⌉ = k and n packets a pair, less a superslice, and the slot in which the last packet
// leaves; 28 and 70 packets. Messages within a rack go through its switch here.
TEST(RotorCollectives, AnAllToAllTakesTheCyclesItNeeds) {
    for (const auto& [size, cycles] : {std::pair("5.12MB", 1), std::pair("12.8MB", 2)}) {
        const Time time =
            run("all_to_all", "rotor_direct", size, {"network.bulk.intra_rack=direct"}).run.execution.total;
        EXPECT_GT(time, kCycle * cycles - T);
        EXPECT_LE(time, kCycle * cycles - T + kSlot + kPath);
    }
}

// Every packet of 40 kB a pair, 28 each, crosses between racks once, but for those within a rack, which go
// through another: 128 · (124 + 2 · 3) · 28.
TEST(RotorCollectives, OnlyMessagesWithinARackAreRelayed) {
    EXPECT_EQ(run("all_to_all", "rotor_direct", "5.12MB").run.network.packets, 128u * 130 * 28);
}

}  // namespace
}  // namespace astrolabe::testing
