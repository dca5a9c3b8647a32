/// The quickstart's DLRM by TCP over circuits, beside flows and packets: eight racks on rotors, and servers
/// cabled for the job. One iteration; 91.9 MB in 16,830 messages.
#include <cstdio>
#include <string>

#include <example_run.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

experiment::Run quickstart(const std::string& network, const std::string& backend) {
    return run_example("quickstart/experiment.yaml",
                       {"workload.iterations=1", "network=" + network, "backend=" + backend});
}

double ratio(const experiment::Run& run, const experiment::Run& to) {
    const double found = to_seconds(run.execution.total) / to_seconds(to.execution.total);
    std::printf("%.3f ms, %llu events, against %.3f ms: %.4f\n", 1e3 * to_seconds(run.execution.total),
                static_cast<unsigned long long>(run.network.events), 1e3 * to_seconds(to.execution.total),
                found);
    return found;
}

void expect_same_traffic(const experiment::Run& run, const experiment::Run& other) {
    EXPECT_EQ(run.network.messages, other.network.messages);
    EXPECT_EQ(run.network.bytes_delivered, other.network.bytes_delivered);
    EXPECT_GE(run.execution.total, run.bounds.value());
}

std::string rotors(const std::string& more) {
    return "{kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 2, link: {rate: 100Gbps, latency: 500ns}" +
           more + "}";
}

// Over direct circuits alone packets of a pair stay in order, and what TCP adds to packets is a handshake,
// which no circuit keeps waiting, and slow start from ten segments, which no message exceeds by much: 2 % at
// most.
TEST(TcpOverRotors, IsWithinTwoPercentOfPacketsOnDirectCircuits) {
    const std::string direct = rotors(", bulk: {routing: direct}");
    const experiment::Run packets = quickstart(direct, "{kind: packet}");
    const experiment::Run tcp = quickstart(direct, "{kind: tcp}");
    expect_same_traffic(tcp, packets);
    expect_same_traffic(tcp, quickstart(direct, "{kind: fluid}"));
    EXPECT_EQ(tcp.network.drops, 0U);
    EXPECT_EQ(tcp.network.retransmissions, 0U);
    EXPECT_NEAR(ratio(tcp, packets), 1.0, 0.02);
}

// RotorLB sends segments of a connection over third racks, and some overtake others. A TCP that takes that
// for loss after 10,000 duplicate acknowledgements is as fast as packets.
TEST(TcpOverRotors, RelaysCostNothingButReordering) {
    const experiment::Run packets = quickstart(rotors(""), "{kind: packet}");
    const experiment::Run patient = quickstart(
        rotors(""), "{kind: tcp, ns3: {attributes: {'ns3::TcpSocketBase::ReTxThreshold': 10000}}}");
    expect_same_traffic(patient, packets);
    EXPECT_EQ(patient.network.retransmissions, 0U);
    EXPECT_NEAR(ratio(patient, packets), 1.0, 0.02);
}

// One that does after three sends again what was never lost, halves its window each time, and waits for a
// circuit for every part of a message.
TEST(TcpOverRotors, ReorderingCostsAnImpatientTcpMoreThanHalfAsMuchAgain) {
    const experiment::Run packets = quickstart(rotors(""), "{kind: packet}");
    const experiment::Run usual = quickstart(rotors(""), "{kind: tcp}");
    expect_same_traffic(usual, packets);
    EXPECT_EQ(usual.network.drops, 0U);
    EXPECT_EQ(usual.network.timeouts, 0U);
    EXPECT_GT(usual.network.retransmissions, 0U);
    EXPECT_GT(ratio(usual, packets), 1.5);
}

// Queues of 8 packets suit NDP, which trims and is told at once. TCP loses segments there and waits for its
// timer: longer than flows, which lose nothing, by one timer at least, and within the sum of all of them.
TEST(TcpOverRotors, LowLatencyCostsTheTimersOfWhatShortQueuesDrop) {
    const std::string low_latency = rotors(", low_latency: {cutoff: 15MB}");
    const experiment::Run fluid = quickstart(low_latency, "{kind: fluid}");
    const experiment::Run tcp = quickstart(low_latency, "{kind: tcp, min_rto: 1ms, connect_timeout: 1ms}");
    expect_same_traffic(tcp, fluid);
    EXPECT_GT(tcp.network.drops, 0U);
    EXPECT_GT(tcp.network.timeouts, 0U);
    ratio(tcp, fluid);
    EXPECT_GT(tcp.execution.total, fluid.execution.total + 1_ms);
    EXPECT_LT(tcp.execution.total,
              2 * fluid.execution.total + 1_ms * static_cast<std::int64_t>(tcp.network.timeouts));
}

std::string cabled(const std::string& design) {
    return fmt::format("{{kind: topoopt, degree: 4, link: {{rate: 25Gbps, latency: 1us}}{}}}", design);
}

class TcpOverDesigns : public ::testing::TestWithParam<const char*> {};

// Over the same routes as flows. A segment of 1460 B is 1502 B, and another answers it with 42 B on links
// that carry data too: 2 * 2.88 %. On top of that come handshakes and a stored frame of 0.48 us for each hop
// of a chain of messages, of which the double tree of an all-reduce has eight at most: below 5 % here.
TEST_P(TcpOverDesigns, IsWithinTenPercentOfFluidOverTheSameRoutes) {
    const experiment::Run fluid = quickstart(cabled(GetParam()), "{kind: fluid}");
    const experiment::Run tcp = quickstart(cabled(GetParam()), "{kind: tcp}");
    expect_same_traffic(tcp, fluid);
    EXPECT_EQ(tcp.network.drops, 0U);
    EXPECT_EQ(tcp.network.retransmissions, 0U);
    const double of_fluid = ratio(tcp, fluid);
    EXPECT_GT(of_fluid, 1.0);
    EXPECT_LT(of_fluid, 1.10);
}

INSTANTIATE_TEST_SUITE_P(
    TopoOpt, TcpOverDesigns,
    ::testing::Values("", ", mode: released",
                      ", mode: paper, wiring: separate_fibres, forwarding: {latency: 2us}"));

// With frames of TCP's sizes and one queue a host, packets differ from TCP by slow start and by which of
// several paths a packet takes: at random there, in turn here.
TEST(TcpOverTopoOpt, IsWithinFivePercentOfPacketsOfItsSize) {
    const std::string network = cabled("");
    const experiment::Run packets = quickstart(
        network, "{kind: packet, mtu: 1460B, header: 42B, ack_size: 42B, ack_every: 1, host_queue: fifo}");
    const experiment::Run tcp = quickstart(network, "{kind: tcp}");
    expect_same_traffic(tcp, packets);
    EXPECT_NEAR(ratio(tcp, packets), 1.0, 0.05);
}

// An all-to-all of both services, on one host a rack; other seeds draw other rotors and other paths.
TEST(TcpOverCircuits, TheSameRunTwiceHasTheSameFingerprint) {
    for (const char* const network :
         {"{kind: opera, racks: 8, uplinks: 4, hosts_per_rack: 1, low_latency: {cutoff: 20KB}}",
          "{kind: topoopt, degree: 3, routing: k_shortest}"}) {
        const auto fingerprint = [&](int seed) {
            return run_example("quickstart/experiment.yaml",
                               {"workload={kind: collective, collective: all_to_all, size: 500KB}",
                                "cluster.ranks=8", fmt::format("seed={}", seed),
                                fmt::format("network={}", network), "backend={kind: tcp}"})
                .fingerprint;
        };
        EXPECT_EQ(fingerprint(1), fingerprint(1)) << network;
        EXPECT_NE(fingerprint(1), fingerprint(2)) << network;
    }
}

}  // namespace
}  // namespace astrolabe::testing
