// SPDX-License-Identifier: GPL-2.0-only
#include "tcp_fixture.hpp"

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

std::vector<std::string> wrong_keys(const TcpOptions& options) {
    std::vector<std::string> keys;
    for (const auto& problem : validation_errors(options)) {
        EXPECT_FALSE(problem.message.empty());
        keys.push_back(problem.key);
    }
    return keys;
}

using Keys = std::vector<std::string>;

/// The defaults with one member changed.
template <class Member>
Keys wrong_keys(Member TcpOptions::*member, Member value) {
    TcpOptions options;
    options.*member = value;
    return wrong_keys(options);
}

TEST(TcpOptions, DefaultsAreInRange) {
    EXPECT_EQ(wrong_keys(TcpOptions()), Keys{});
}

TEST(TcpOptions, EveryRangeIsChecked) {
    EXPECT_EQ(wrong_keys(&TcpOptions::window, 2919_B), Keys{"window"});  // two segments of 1460 B are 2920 B
    EXPECT_EQ(wrong_keys(&TcpOptions::window, 2920_B), Keys{});
    EXPECT_EQ(wrong_keys(&TcpOptions::window, 2_GiB), Keys{"window"});
    EXPECT_EQ(wrong_keys(&TcpOptions::mtu, 575_B), Keys{"mtu"});
    EXPECT_EQ(wrong_keys(&TcpOptions::mtu, 576_B), Keys{});
    EXPECT_EQ(wrong_keys(&TcpOptions::mtu, 65'536_B), Keys{"mtu"});
    EXPECT_EQ(wrong_keys(&TcpOptions::min_rto, Time(0)), Keys{"min_rto"});
    EXPECT_EQ(wrong_keys(&TcpOptions::min_rto, 61_s), Keys{"min_rto"});
    EXPECT_EQ(wrong_keys(&TcpOptions::connect_timeout, 1_ns), Keys{"connect_timeout"});
    EXPECT_EQ(wrong_keys(&TcpOptions::initial_window, 0U), Keys{"initial_window"});
    EXPECT_EQ(wrong_keys(&TcpOptions::delayed_ack, 0U), Keys{"delayed_ack"});
    EXPECT_EQ(wrong_keys(&TcpOptions::delayed_ack_timeout, Time(0)), Keys{"delayed_ack_timeout"});
    EXPECT_EQ(wrong_keys(&TcpOptions::ecn_threshold, Bytes(-1)), Keys{"ecn_threshold"});
    EXPECT_EQ(wrong_keys(&TcpOptions::ecn_threshold, Bytes(0)), Keys{});
    TcpOptions unmarked;
    unmarked.variant = TcpVariant::kDctcp;
    unmarked.ecn_threshold = Bytes(0);
    EXPECT_EQ(wrong_keys(unmarked), Keys{"ecn_threshold"});
    EXPECT_EQ(wrong_keys(&TcpOptions::frame_header, Bytes(0)), Keys{"frame_header"});
}

TEST(TcpOptions, AllProblemsAreNamedAtOnce) {
    TcpOptions options;
    options.window = Bytes(1);
    options.min_rto = Time(0);
    options.attributes = {{"ns3::TcpSocketBase::MinRto", "1ms"}, {"ns3::TcpSocketBase::MinRTO", "1ms"}};
    EXPECT_EQ(wrong_keys(options), (Keys{"window", "min_rto", "attributes"}));
}

// 500 B a segment instead of 1460: (100 000 - 16 + 16) B / 500 B = 200 segments instead of 69.
TEST(TcpOptions, AttributesOverrideAndAreForgottenAfterwards) {
    const auto packets = [](const TcpOptions& options) {
        TcpBackend backend(star(2), options);
        Recorder recorder(backend);
        recorder.send(0, 1, 100'000_B - 16_B);
        backend.run();
        return backend.statistics().packets;
    };
    TcpOptions options;
    options.attributes = {{"ns3::TcpSocket::SegmentSize", "800"}, {"ns3::TcpSocketBase::SegmentSize", "500"}};
    EXPECT_EQ(packets(options), 200U) << "the last one wins, by the name of the type or of its heir";
    EXPECT_EQ(packets({}), 69U);
}

// Overrides that are sound one by one and not together are found before ns-3 sends nothing for ever.
TEST(TcpOptions, OverridesMustFitOneAnother) {
    const auto wrong = [](std::vector<std::pair<std::string, std::string>> attributes) {
        TcpOptions options;
        options.attributes = std::move(attributes);
        return wrong_keys(options);
    };
    EXPECT_EQ(wrong({{"ns3::TcpSocket::SegmentSize", "1460"}}), Keys{});
    EXPECT_EQ(wrong({{"ns3::TcpSocket::SegmentSize", "1461"}}), Keys{"attributes"});  // 40 B of headers
    EXPECT_EQ(wrong({{"ns3::TcpSocket::SegmentSize", "1460"}, {"ns3::TcpSocketBase::Timestamp", "true"}}),
              Keys{"attributes"});  // 52 B
    EXPECT_EQ(wrong({{"ns3::TcpSocket::RcvBufSize", "1459"}}), Keys{"attributes"});
    EXPECT_EQ(wrong({{"ns3::TcpSocket::RcvBufSize", "1459"}, {"ns3::TcpSocketBase::SegmentSize", "536"}}),
              Keys{});
    EXPECT_EQ(wrong({{"ns3::TcpSocketBase::MaxWindowSize", "1000"}}), Keys{"attributes"});
}

// Pacing, which ns-3 caps at 4 Gb/s unless told otherwise, reaches the rate of the link here: 8 MiB are 691
// us on the wire at 100 Gb/s and 17 ms at 4 Gb/s.
TEST(TcpOptions, PacingIsNotCappedBelowTheLink) {
    TcpOptions options;
    options.attributes = {{"ns3::TcpSocketState::EnablePacing", "true"}};
    TcpBackend backend(star(2), options);
    Recorder recorder(backend);
    recorder.send(0, 1, 8_MiB);
    backend.run();
    EXPECT_LT(to_seconds(recorder.times.at(0)) / to_seconds(wire_time(8_MiB, 1, options)), 1.05);
}

// A buffer smaller than a segment, which only an override can make, still moves.
TEST(TcpOptions, OverriddenBuffersMayBeSmall) {
    TcpOptions options;
    options.attributes = {{"ns3::TcpSocket::SndBufSize", "1000"}};
    TcpBackend backend(star(2), options);
    Recorder recorder(backend);
    recorder.send(0, 1, 20'000_B);
    backend.run();
    EXPECT_EQ(recorder.tokens.size(), 1U);
}

TEST(TcpOptions, DelayedAcknowledgementsHalveTheirNumber) {
    const auto acknowledged = [](std::uint32_t delayed_ack) {
        const auto fabric = star(2);
        TcpOptions options;
        options.delayed_ack = delayed_ack;
        TcpBackend backend(fabric, options);
        Recorder recorder(backend);
        recorder.send(0, 1, 14'600'000_B - 16_B);  // 10 000 segments
        backend.run();
        return backend.statistics().links[*fabric->link(LinkId(0)).reverse].carried;
    };
    // 42 B each, but for the last few still on their way and the handshake.
    EXPECT_NEAR(static_cast<double>(acknowledged(1).count()), 42.0 * 10'000, 42.0 * 100);
    EXPECT_NEAR(static_cast<double>(acknowledged(2).count()), 42.0 * 5'000, 42.0 * 100);
}

struct BadAttribute {
    const char* name;
    const char* value;
    const char* expected;  ///< part of the message
};

class BadAttributes : public testing::TestWithParam<BadAttribute> {};

TEST_P(BadAttributes, AreNamedWithoutEndingTheProcess) {
    const auto problem = attribute_problem(GetParam().name, GetParam().value);
    ASSERT_TRUE(problem.has_value());
    EXPECT_NE(problem->find(GetParam().expected), std::string::npos) << *problem;
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadAttributes,
    testing::Values(
        BadAttribute{"ns3::TcpSocketBase::MinRTO", "2ms", "did you mean 'MinRto'"},
        BadAttribute{"ns3::TcpSoketBase::MinRto", "2ms", "did you mean 'ns3::TcpSocketBase'"},
        BadAttribute{"MinRto", "2ms", "expected ns3::Type::Attribute"},
        BadAttribute{"ns3::TcpSocketBase::MinRto", "soon", "a time such as"},
        BadAttribute{"ns3::TcpSocketBase::MinRto", "2 parsecs", "a time such as"},
        BadAttribute{"ns3::TcpSocketBase::MinRto", "", "a time such as"},
        BadAttribute{"ns3::TcpSocket::SegmentSize", "many", "a whole number"},
        BadAttribute{"ns3::TcpSocket::SegmentSize", "-5", "a whole number"},
        BadAttribute{"ns3::TcpSocket::SegmentSize", "99999999999999999999999", "out of range"},
        BadAttribute{"ns3::TcpSocketBase::Sack", "yes", "true or false"},
        BadAttribute{"ns3::TcpSocketBase::UseEcn", "Maybe", "one of Off|On|AcceptOnly"},
        BadAttribute{"ns3::TcpCubic::Beta", "0.7x", "a number"},
        BadAttribute{"ns3::TcpSocketState::MaxPacingRate", "fast", "a rate such as"},
        // Names of types that ns-3 would make an object of and then call as something else.
        BadAttribute{"ns3::TcpL4Protocol::SocketType", "ns3::TcpTurbo", "the name of an ns-3 type"},
        BadAttribute{"ns3::TcpL4Protocol::SocketType", "ns3::TcpVega", "did you mean 'ns3::TcpVegas'"},
        BadAttribute{"ns3::TcpL4Protocol::SocketType", "ns3::Node", "a ns3::TcpCongestionOps"},
        BadAttribute{"ns3::TcpL4Protocol::SocketType", "ns3::TcpCongestionOps", "a ns3::Tcp"},
        BadAttribute{"ns3::TcpL4Protocol::RecoveryType", "ns3::TcpNewReno", "a ns3::TcpRecoveryOps"},
        BadAttribute{"ns3::TcpL4Protocol::RttEstimatorType", "ns3::RttEstimator", "a ns3::RttEstimator"},
        // Values that ns-3 takes and then crashes with, loops with or never sends with.
        BadAttribute{"ns3::TcpSocketBase::MinRto", "-2ms", "out of range"},
        BadAttribute{"ns3::TcpSocketBase::MinRto", "0s", "1e-06 to 60 s"},
        BadAttribute{"ns3::TcpSocketBase::MinRto", "1y", "a time such as"},
        BadAttribute{"ns3::TcpSocketBase::MinRto", "99999999999999999999s", "out of range"},
        BadAttribute{"ns3::TcpCubic::HyStartAckDelta", "-1ms", "0 to 1000 s"},
        BadAttribute{"ns3::TcpSocket::SndBufSize", "0", "64 to"},
        BadAttribute{"ns3::TcpSocket::RcvBufSize", "4294967295", "to 1073741824"},
        BadAttribute{"ns3::TcpSocket::SegmentSize", "0", "64 to 65495"},
        BadAttribute{"ns3::TcpSocket::InitialCwnd", "0", "1 to"},
        BadAttribute{"ns3::TcpSocket::ConnCount", "0", "1 to 16"},
        BadAttribute{"ns3::TcpSocket::ConnTimeout", "1ps", "1e-06 to 60 s"},
        BadAttribute{"ns3::TcpLedbat::NoiseFilterLen", "0", "1 to"},
        BadAttribute{"ns3::TcpBbr::HighGain", "1e300", "1 to 100"},
        BadAttribute{"ns3::TcpBbr::HighGain", "nan", "a number"},
        BadAttribute{"ns3::TcpSocketState::MaxPacingRate", "0bps", "1e+06 to"},
        BadAttribute{"ns3::PointToPointNetDevice::InterframeGap", "100d", "0 to 0.001 s"},
        // What would have no effect.
        BadAttribute{"ns3::PointToPointNetDevice::DataRate", "10Gbps", "the network's links"},
        BadAttribute{"ns3::PointToPointChannel::Delay", "1ms", "the network's links"},
        BadAttribute{"ns3::PointToPointNetDevice::Mtu", "9000", "key 'mtu'"},
        BadAttribute{"ns3::FabricQueue::ByteLimit", "1000", "'switch_buffer'"},
        BadAttribute{"ns3::FabricHostQueue::ByteLimit", "1000", "'switch_buffer'"},
        BadAttribute{"ns3::DropTailQueue<Packet>::MaxSize", "1000p", "'switch_buffer'"},
        BadAttribute{"ns3::ArpCache::AliveTimeout", "1s", "no ns3::ArpCache takes part"},
        BadAttribute{"ns3::TcpSocketBase::TxBuffer", "1", "cannot"}));

TEST(TcpOptions, GoodAttributesHaveNoProblem) {
    EXPECT_EQ(attribute_problem("ns3::TcpSocketBase::MinRto", "2ms"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpSocketBase::UseEcn", "On"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpSocketBase::SegmentSize", "1000"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpCubic::Beta", "0.7"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpSocketBase::Sack", "false"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpL4Protocol::SocketType", "ns3::TcpVegas"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpL4Protocol::SocketType", "ns3::TcpCubic"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpL4Protocol::RecoveryType", "ns3::TcpClassicRecovery"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpSocketState::EnablePacing", "true"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpSocketState::MaxPacingRate", "10Gbps"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::PointToPointNetDevice::InterframeGap", "2ns"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::FabricHostQueue::HeadersFirst", "false"), std::nullopt);
    EXPECT_EQ(attribute_problem("ns3::TcpPeerDemux::PerPeer", "false"), std::nullopt);
}

}  // namespace
}  // namespace astrolabe::ns3
