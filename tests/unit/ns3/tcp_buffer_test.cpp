// SPDX-License-Identifier: GPL-2.0-only
#include "tcp_fixture.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

constexpr int kSenders = 8;

struct Outcome {
    network::NetworkStatistics statistics;
    std::vector<std::uint64_t> tokens;
    Time end;
    network::LinkStatistics port;  ///< the switch port to host 0
};

/// Hosts 1 … senders send `size` each to host 0.
Outcome incast(int senders, Bytes size, Bytes switch_buffer, const TcpOptions& options) {
    const auto fabric = star(senders + 1, switch_buffer);
    TcpBackend backend(fabric, options);
    Recorder recorder(backend);
    for (int source = 1; source <= senders; ++source) {
        recorder.send(source, 0, size, static_cast<std::uint64_t>(source));
    }
    backend.run();
    std::sort(recorder.tokens.begin(), recorder.tokens.end());
    const auto statistics = backend.statistics();
    return {statistics, recorder.tokens, backend.now(), statistics.links[*fabric->link(LinkId(0)).reverse]};
}

std::vector<std::uint64_t> tokens_of(int senders) {
    std::vector<std::uint64_t> tokens;
    for (int i = 1; i <= senders; ++i) {
        tokens.push_back(static_cast<std::uint64_t>(i));
    }
    return tokens;
}

// Unlimited memory: nothing is lost, and the port into host 0 works without a pause once the first segments
// are there.
TEST(TcpBuffers, IncastIntoAmpleMemoryLosesNothingAndKeepsThePortBusy) {
    const Outcome outcome = incast(kSenders, 2_MiB, Bytes(0), {});
    EXPECT_EQ(outcome.tokens, tokens_of(kSenders));
    EXPECT_EQ(outcome.statistics.drops, 0U);
    EXPECT_EQ(outcome.statistics.retransmissions, 0U);
    EXPECT_EQ(outcome.statistics.timeouts, 0U);
    const Time wire = wire_time(2_MiB, kSenders, {});
    EXPECT_GE(outcome.end, wire);
    EXPECT_LT(to_seconds(outcome.end) / to_seconds(wire + 3_us), 1.02);
    // At most every window waits: 8 x 500 kB, on the wire 1502/1460 of that.
    EXPECT_LE(outcome.port.queue_peak, Bytes(kSenders * 500'000LL * 1502 / 1460));
    EXPECT_GE(outcome.port.queue_peak, Bytes(kSenders * 500'000LL / 2));
    EXPECT_EQ(outcome.statistics.queue_peak, outcome.port.queue_peak);
}

// Zero drops: the result does not depend on the size of the memory.
TEST(TcpBuffers, MemoryThatIsNeverFullDoesNotMatter) {
    TcpOptions options;
    options.buffer_sharing = BufferSharing::kShared;
    const Outcome unlimited = incast(4, 1_MiB, Bytes(0), options);
    const Outcome ample = incast(4, 1_MiB, 64_MB, options);
    EXPECT_EQ(unlimited.end, ample.end);
    EXPECT_EQ(unlimited.statistics.events, ample.statistics.events);
}

class TcpVariants : public testing::TestWithParam<TcpVariant> {};

// 60 kB a port against eight windows of 500 kB: segments are lost, sent again, and every message arrives
// once.
TEST_P(TcpVariants, ScarceMemoryLosesPacketsButNoMessage) {
    TcpOptions options;
    options.variant = GetParam();
    options.min_rto = 1_ms;
    options.ecn_threshold = 50'000_B;  // the first 8 x 10 segments, 120 kB, come before any mark is answered
    const Outcome outcome = incast(kSenders, 2_MiB, 540'000_B, options);
    EXPECT_EQ(outcome.tokens, tokens_of(kSenders));
    EXPECT_EQ(outcome.statistics.messages, static_cast<std::uint64_t>(kSenders));
    EXPECT_EQ(outcome.statistics.bytes_delivered, kSenders * 2_MiB);
    EXPECT_GT(outcome.statistics.drops, 0U);
    EXPECT_EQ(outcome.port.drops, outcome.statistics.drops) << "only the port to host 0 is contended";
    EXPECT_GE(outcome.statistics.retransmissions, outcome.statistics.drops / 2);
    EXPECT_GE(outcome.end, wire_time(2_MiB, kSenders, options));
    // 540 kB / 9 ports, and full when a segment of 1502 B was refused.
    EXPECT_LE(outcome.port.queue_peak, 60'000_B);
    EXPECT_GT(outcome.port.queue_peak, 60'000_B - 1502_B);
}

INSTANTIATE_TEST_SUITE_P(All, TcpVariants,
                         testing::Values(TcpVariant::kNewReno, TcpVariant::kCubic, TcpVariant::kDctcp),
                         [](const auto& variant) {
                             return std::string(variant.param == TcpVariant::kNewReno ? "NewReno"
                                                : variant.param == TcpVariant::kCubic ? "Cubic"
                                                                                      : "Dctcp");
                         });

// Two windows of 200 kB are 411.5 kB of frames at most. 900 kB of memory on 3 ports is 300 kB for each, too
// little; shared, one port may take it all, and the queue holds the two windows but for what is on its way:
// at most 2 x 25 kB, the bandwidth-delay product of each path (100 Gb/s x 2 us), and as much again not yet
// answered.
TEST(TcpBuffers, SharedMemoryGivesABusyPortWhatIdlePortsDoNotUse) {
    TcpOptions options;
    options.window = 200'000_B;
    options.buffer_sharing = BufferSharing::kPerPort;
    const Outcome split = incast(2, 8_MiB, 900'000_B, options);
    options.buffer_sharing = BufferSharing::kShared;
    const Outcome shared = incast(2, 8_MiB, 900'000_B, options);
    EXPECT_GT(split.statistics.drops, 0U);
    EXPECT_LE(split.port.queue_peak, 300'000_B);
    EXPECT_GT(split.port.queue_peak, 300'000_B - 1502_B);
    EXPECT_EQ(shared.statistics.drops, 0U);
    EXPECT_LE(shared.port.queue_peak, Bytes(400'000LL * 1502 / 1460));
    EXPECT_GT(shared.port.queue_peak, 400'000_B - 2 * 2 * 25'000_B);
    EXPECT_GT(split.statistics.retransmissions, 0U);
    EXPECT_EQ(shared.statistics.retransmissions, 0U);
}

// A limit of the link alone wins over the share of the switch's memory.
TEST(TcpBuffers, LinkBufferOverridesTheShareOfTheSwitch) {
    network::FabricBuilder builder("star");
    for (int i = 0; i < 3; ++i) {
        builder.add_host("host");
    }
    const NodeId center = builder.add_switch("switch", 900_MB);
    builder.connect(NodeId(0), center, {100_Gbps, 500_ns, Bytes(0)}, {100_Gbps, 500_ns, 50'000_B});
    builder.connect(NodeId(1), center, kLink);
    builder.connect(NodeId(2), center, kLink);
    const auto fabric = std::move(builder).build();
    for (const BufferSharing sharing : {BufferSharing::kPerPort, BufferSharing::kShared}) {
        TcpOptions options;
        options.buffer_sharing = sharing;
        options.min_rto = 1_ms;
        TcpBackend backend(fabric, options);
        Recorder recorder(backend);
        recorder.send(1, 0, 2_MiB);
        recorder.send(2, 0, 2_MiB);
        backend.run();
        const auto statistics = backend.statistics();
        EXPECT_EQ(recorder.tokens.size(), 2U);
        EXPECT_GT(statistics.drops, 0U);
        EXPECT_LE(statistics.links[*fabric->link(LinkId(0)).reverse].queue_peak, 50'000_B);
    }
}

// DCTCP slows down at 97.5 kB of queue; NewReno fills it with four windows of 500 kB. Neither loses anything.
TEST(TcpBuffers, DctcpMarksAndKeepsTheQueueShort) {
    TcpOptions options;
    const Outcome new_reno = incast(4, 8_MiB, Bytes(0), options);
    options.variant = TcpVariant::kDctcp;
    const Outcome dctcp = incast(4, 8_MiB, Bytes(0), options);
    EXPECT_EQ(new_reno.statistics.ecn_marks, 0U);
    EXPECT_GT(dctcp.statistics.ecn_marks, 0U);
    EXPECT_EQ(dctcp.statistics.drops, 0U);
    EXPECT_LT(dctcp.port.queue_peak, new_reno.port.queue_peak / 2);
    EXPECT_GE(new_reno.port.queue_peak, 1_MB);
    // Short queues must not cost throughput: the port stays busy.
    EXPECT_LT(to_seconds(dctcp.end) / to_seconds(wire_time(8_MiB, 4, options)), 1.05);
}

// With marks by an override and not by the variant, switches mark too: NewReno halves its window for a mark
// (RFC 3168), and the queue stays below the four windows of 500 kB that it fills without.
TEST(TcpBuffers, SwitchesMarkForEveryVariantThatListens) {
    TcpOptions options;
    options.attributes = {{"ns3::TcpSocketBase::UseEcn", "On"}};
    const Outcome marked = incast(4, 8_MiB, Bytes(0), options);
    EXPECT_GT(marked.statistics.ecn_marks, 0U);
    EXPECT_LT(marked.port.queue_peak, 1_MB);
    options.attributes = {{"ns3::TcpL4Protocol::SocketType", "ns3::TcpDctcp"}};
    EXPECT_GT(incast(4, 8_MiB, Bytes(0), options).statistics.ecn_marks, 0U);
    EXPECT_EQ(incast(4, 8_MiB, Bytes(0), {}).statistics.ecn_marks, 0U) << "defaults are back";
}

// Nothing of a lone window fits a buffer of two packets beyond the first; the timer is what gets the tail
// through.
TEST(TcpBuffers, TimeoutsAreCountedAndTakeAtLeastTheirMinimum) {
    TcpOptions options;
    options.min_rto = 2_ms;
    const Outcome outcome = incast(kSenders, 15'000_B, 9 * 3004_B, options);
    EXPECT_EQ(outcome.tokens, tokens_of(kSenders));
    EXPECT_GT(outcome.statistics.timeouts, 0U);
    EXPECT_GE(outcome.statistics.retransmissions, outcome.statistics.timeouts);
    EXPECT_GT(outcome.end, 2_ms);
    const Outcome ample = incast(kSenders, 15'000_B, Bytes(0), options);
    EXPECT_EQ(ample.statistics.timeouts, 0U);
    EXPECT_LT(ample.end, 2_ms);
}

// Eight windows of 500 kB make a queue of 4 MB, 320 us. A message that starts then on a connection that knows
// only the empty path (2 us) waits longer than 100 us for its first acknowledgement: it is sent again though
// nothing was lost. This is why the default of min_rto exceeds what a switch can hold.
TEST(TcpBuffers, TimeoutsShorterThanTheQueueRetransmitWhatWasNotLost) {
    const auto run = [](Time min_rto) {
        TcpOptions options;
        options.min_rto = min_rto;
        TcpBackend backend(star(kSenders + 2), options);
        Recorder recorder(backend);
        recorder.send(kSenders + 1, 0, 1000_B, 1);
        for (int source = 1; source <= kSenders; ++source) {
            recorder.send(source, 0, 2_MiB);
        }
        recorder.then = [&](std::uint64_t token) {
            if (token == 2) {
                recorder.send(kSenders + 1, 0, 1000_B, 3);
            }
        };
        backend.schedule(500_us, recorder, 2);
        backend.run();
        EXPECT_EQ(recorder.tokens.size(), static_cast<std::size_t>(kSenders + 3));
        return backend.statistics();
    };
    const auto hasty = run(100_us);
    EXPECT_EQ(hasty.drops, 0U);
    EXPECT_GT(hasty.timeouts, 0U);
    EXPECT_GT(hasty.retransmissions, 0U);
    const auto patient = run(TcpOptions().min_rto);
    EXPECT_EQ(patient.drops, 0U);
    EXPECT_EQ(patient.timeouts, 0U);
    EXPECT_EQ(patient.retransmissions, 0U);
}

}  // namespace
}  // namespace astrolabe::ns3
