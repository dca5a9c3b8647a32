// Messages held back for circuits: when they leave, in how many pieces, and that none is lost.

#include "circuit_windows_fake.hpp"
#include "program_builder.hpp"

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::PairSizes;

constexpr Time T = TurnsOfPlaces::kTurn;
constexpr Time kLatency{1000};
constexpr Time kNotice = T / 2;

struct Outcome {
    Time total;
    std::uint64_t messages = 0;  // in the network
};

struct Setting {
    std::uint32_t places = 4;
    std::uint32_t hosts = 1;
    std::uint32_t passing_class = 7;
    Time injection_latency{};
    system::CopyEngine copy_engine = system::CopyEngine::kParallel;
    std::uint32_t chunks = 1;
};

Outcome run(const Setting& setting, const system::CollectiveOperation& collective) {
    auto turns = std::make_shared<TurnsOfPlaces>(setting.places, setting.hosts);
    turns->let_pass(setting.passing_class);
    const std::size_t ranks = setting.places * setting.hosts;
    system::SystemOptions options = options_with(algorithm_of("rotor_direct"), setting.chunks, 64);
    options.circuit_windows = turns;
    options.end_point.injection_latency = setting.injection_latency;
    options.end_point.copy_engine = setting.copy_engine;
    ProgramBuilder builder(ranks);
    builder.collective("alone", collective);
    FakeBackend backend(ranks, FakeBackendOptions{.latency = kLatency});
    system::Executor executor(builder.program(), options, backend, host_of_each_rank(ranks));
    const system::ExecutionReport report = executor.run();
    EXPECT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(backend.statistics().bytes_delivered, report.operations[system::OperationId(0)].bytes_sent);
    return {report.total, backend.statistics().messages};
}

Outcome all_to_all(const Setting& setting, Bytes pair) {
    const std::int64_t ranks = setting.places * setting.hosts;
    return run(setting, {.kind = CollectiveKind::kAllToAll, .size = pair * ranks});
}

Outcome uneven(const Setting& setting, std::vector<Bytes> pairs) {
    const PairSizes sizes = PairSizes::of_pairs(setting.places * setting.hosts, std::move(pairs));
    return run(setting, {.kind = CollectiveKind::kAllToAll,
                         .size = sizes.largest_held(),
                         .pair_sizes = std::make_shared<const std::vector<PairSizes>>(1, sizes)});
}

// Four places of one host: 0 and 1 meet at T, 0 and 2 at 2T, 0 and 3 at 3T, 1 and 2 at 3T, 1 and 3 at 0, 2
// and 3 at T. A message leaves by the notice ahead of its circuit.
TEST(CircuitGatedSend, AMessageThatFitsLeavesWithTheFirstCircuit) {
    const Outcome outcome = all_to_all({}, 1000_B);
    EXPECT_EQ(outcome.total, 3 * T - kNotice + kLatency);
    EXPECT_EQ(outcome.messages, 12u);
}

// 2500 bytes are 25 packets for each of 3 places. 2 periods have 2·10·3 = 60 packets, and would need
// 3·20 + 2·3·5 = 90; so 3: pieces of 1000, 1000 and 500 bytes, the last a cycle of 4T after the second.
TEST(CircuitGatedSend, ALongMessageGoesInPieces) {
    const Outcome outcome = all_to_all({}, 2500_B);
    EXPECT_EQ(outcome.total, 3 * T + 2 * 4 * T - kNotice + kLatency);
    EXPECT_EQ(outcome.messages, 36u);
}

// 25 packets for one place. One period has 10·3 = 30 packets and would need 10 + 2·15 = 40; two have 60 and
// need 20 + 2·5: 500 bytes are relayed at once, 1000 leave for T, 1000 a period later.
TEST(CircuitGatedSend, WhatOnePlaceGetsBeyondItsShareIsLeftToTheNetwork) {
    std::vector<Bytes> pairs(16, 0_B);
    pairs[0 * 4 + 1] = 2500_B;
    const Outcome outcome = uneven({}, pairs);
    EXPECT_EQ(outcome.total, T + 4 * T - kNotice + kLatency);
    EXPECT_EQ(outcome.messages, 3u);
}

// Two hosts a place, 6 packets for each: 3·12 and 2·6 for the other host of the place, which is not met and
// gets its message at once, are more than the 30 packets of a period. So they take two, 3 packets each time.
TEST(CircuitGatedSend, HostsOfAPlaceShareAnOpportunity) {
    const Outcome outcome = all_to_all({.hosts = 2}, 600_B);
    EXPECT_EQ(outcome.total, 3 * T + 4 * T - kNotice + kLatency);
    EXPECT_EQ(outcome.messages, 8u * (1 + 6 * 2));
    // With 3 packets each, 3·6 + 2·3, one period is enough.
    EXPECT_EQ(all_to_all({.hosts = 2}, 300_B).total, 3 * T - kNotice + kLatency);
}

// Chunks that become ready together share as well: two of 500 bytes fit where one of 1000 does.
TEST(CircuitGatedSend, ChunksShareAnOpportunity) {
    const Outcome outcome = all_to_all({.chunks = 2}, 1000_B);
    EXPECT_EQ(outcome.total, 3 * T - kNotice + kLatency);
    EXPECT_EQ(outcome.messages, 24u);
}

// They have class 0.
TEST(CircuitGatedSend, MessagesOfAnotherServicePass) {
    EXPECT_EQ(all_to_all({.passing_class = 0}, 300_B).total, kLatency);
    EXPECT_EQ(all_to_all({.passing_class = 1}, 300_B).total, 3 * T - kNotice + kLatency);
}

// A copy of c begins that much earlier; what is to leave at 0 comes too late, and leaves at 4T.
TEST(CircuitGatedSend, CopiesEndByTheNotice) {
    const Time c = 5_ns;
    EXPECT_EQ(all_to_all({.injection_latency = c}, 1000_B).total, 4 * T - kNotice + kLatency);
    // One by one: three messages of host 1 are there long before their circuits.
    const Setting serial{.injection_latency = c, .copy_engine = system::CopyEngine::kSerial};
    EXPECT_EQ(all_to_all(serial, 1000_B).total, 4 * T - kNotice + kLatency);
    EXPECT_EQ(all_to_all(serial, 2500_B).messages, 36u);
}

// The last block that a rank waits for comes from the one it meets at 3T, by 3T - notice + latency. Of the
// circuits after that the last are those at 7T, of the same pairs: that at 3T has been shared out.
TEST(CircuitGatedSend, AnAllReduceTakesTwoRounds) {
    const Outcome outcome = run({}, {.kind = CollectiveKind::kAllReduce, .size = 4 * 1000_B});
    EXPECT_EQ(outcome.total, 7 * T - kNotice + kLatency);
    EXPECT_EQ(outcome.messages, 24u);
}

TEST(CircuitGatedSend, NothingIsHeldWithoutOpportunities) {
    ProgramBuilder builder(4);
    builder.collective("alone", {.kind = CollectiveKind::kAllToAll, .size = 4 * 1000_B});
    FakeBackend backend(4, FakeBackendOptions{.latency = kLatency});
    system::Executor executor(builder.program(), options_with(algorithm_of("rotor_direct"), 1, 64), backend,
                              host_of_each_rank(4));
    EXPECT_EQ(executor.run().total, kLatency);
}

// Random sizes, also of whole pairs without bytes: every byte arrives once (the executor asserts it). With at
// most q packets for each of h hosts of n places, (n - 1)hq + 2(h - 1)q <= 10(n - 1) for q <= 10/(3h - 2):
// then all leave within a period.
TEST(CircuitGatedSend, DeliversWhateverTheSizes) {
    std::mt19937_64 random(7);
    for (int run = 0; run < 200; ++run) {
        const Setting setting{.places = 2 + static_cast<std::uint32_t>(random() % 5),
                              .hosts = 1 + static_cast<std::uint32_t>(random() % 3),
                              .injection_latency = Time(static_cast<std::int64_t>(random() % 3) * 1000),
                              .chunks = 1 + static_cast<std::uint32_t>(random() % 4)};
        const std::size_t ranks = setting.places * setting.hosts;
        const std::uint64_t most = run % 2 == 0 ? 10000 : 10 / (3 * setting.hosts - 2) * 100 + 1;
        std::vector<Bytes> pairs;
        for (std::size_t i = 0; i < ranks * ranks; ++i) {
            const auto size = static_cast<std::int64_t>(random() % most);
            pairs.emplace_back(random() % 3 == 0 ? 0 : size);
        }
        const Outcome outcome = uneven(setting, pairs);
        if (run % 2 == 1 && setting.chunks == 1) {
            EXPECT_LE(outcome.total, T * setting.places + kLatency);
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
