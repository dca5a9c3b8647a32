// SPDX-License-Identifier: GPL-2.0-only
/// The contract of backend.hpp, kept by every backend on ns-3.
#include "opera/opera_packet_backend.hpp"
#include "packet/packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>

namespace astrolabe::ns3 {
namespace {

/// A network for the backend, of at least so many hosts.
template <class Backend>
std::shared_ptr<const network::Fabric> network_of(int hosts) {
    return star(hosts);
}
template <>
std::shared_ptr<const network::Fabric> network_of<OperaPacketBackend>(int /*hosts*/) {
    return build_rotor_fabric(network::rotor::eight_rack_network());
}

template <class Backend>
class BackendContract : public testing::Test {};
using Backends = testing::Types<TcpBackend, PacketBackend, OperaPacketBackend>;
TYPED_TEST_SUITE(BackendContract, Backends);

/// Of networks that may lose packets, or have no way.
template <class Backend>
class StaticBackendContract : public testing::Test {};
using StaticBackends = testing::Types<TcpBackend, PacketBackend>;
TYPED_TEST_SUITE(StaticBackendContract, StaticBackends);

TYPED_TEST(BackendContract, MessagesOfAPairArriveOnceAndInOrder) {
    TypeParam backend(network_of<TypeParam>(3), {});
    Recorder recorder(backend);
    Bytes sum;
    for (std::uint64_t i = 0; i < 200; ++i) {
        // Sizes from nothing over less than a segment to several: 0, 7919, 15838, … modulo 20 000.
        const Bytes size(static_cast<std::int64_t>(i * 7919 % 20'000));
        sum += size;
        recorder.send(0, 1, size, i);
    }
    backend.run();
    std::vector<std::uint64_t> expected(200);
    std::iota(expected.begin(), expected.end(), 0U);
    EXPECT_EQ(recorder.tokens, expected);
    EXPECT_EQ(backend.outstanding_messages(), 0U);
    EXPECT_EQ(backend.statistics().messages, 200U);
    EXPECT_EQ(backend.statistics().bytes_delivered, sum);
}

TYPED_TEST(BackendContract, HandlersMaySendFromInsideANotification) {
    TypeParam backend(network_of<TypeParam>(2), {});
    Recorder recorder(backend);
    recorder.then = [&](std::uint64_t token) {
        if (token < 9) {
            // To and fro, and one more on the connection that is being read.
            recorder.send(token % 2 == 0 ? 1 : 0, token % 2 == 0 ? 0 : 1, 5000_B, token + 1);
            recorder.send(token % 2 == 0 ? 0 : 1, token % 2 == 0 ? 1 : 0, 100_B, 100 + token);
        }
    };
    recorder.send(0, 1, 5000_B, 0);
    backend.run();
    EXPECT_EQ(recorder.tokens.size(), 10U + 9U);
    EXPECT_EQ(backend.outstanding_messages(), 0U);
}

TYPED_TEST(BackendContract, TimersRingOnTimeAndInTheOrderAskedFor) {
    TypeParam backend(network_of<TypeParam>(2), {});
    Recorder recorder(backend);
    backend.schedule(5_us, recorder, 1);
    backend.schedule(1_ps, recorder, 2);
    backend.schedule(5_us, recorder, 3);
    backend.schedule(Time(0), recorder, 4);
    recorder.then = [&](std::uint64_t token) {
        if (token == 4) {
            backend.schedule(Time(0), recorder, 5);
        }
    };
    backend.run();
    EXPECT_EQ(recorder.tokens, (std::vector<std::uint64_t>{4, 5, 2, 1, 3}));
    EXPECT_EQ(recorder.times, (std::vector<Time>{Time(0), Time(0), 1_ps, 5_us, 5_us}));
}

TYPED_TEST(BackendContract, StopReturnsBeforeTimeMovesOnAndRunContinues) {
    TypeParam backend(network_of<TypeParam>(2), {});
    Recorder recorder(backend);
    recorder.then = [&](std::uint64_t token) {
        if (token == 1) {
            backend.stop();
        }
    };
    backend.schedule(3_us, recorder, 1);
    recorder.send(0, 1, 1_MiB, 2);
    backend.run();
    EXPECT_EQ(backend.now(), 3_us);
    EXPECT_EQ(backend.outstanding_messages(), 1U);
    backend.run();
    EXPECT_EQ(recorder.tokens, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(backend.now(), recorder.times.back());
}

TYPED_TEST(BackendContract, RunReturnsAtOnceWhenNothingIsOutstanding) {
    TypeParam backend(network_of<TypeParam>(2), {});
    backend.run();
    EXPECT_EQ(backend.now(), Time(0));
    EXPECT_EQ(backend.events_processed(), 0U);
}

TYPED_TEST(StaticBackendContract, TheSameRunTwiceGivesTheSameTimes) {
    const auto run = [] {
        TypeParam backend(star(6, 200'000_B), {});
        Recorder recorder(backend);
        for (int source = 1; source < 6; ++source) {
            recorder.send(source, 0, 300_KB, static_cast<std::uint64_t>(source));
            recorder.send(source, source % 5 + 1, 300_KB, static_cast<std::uint64_t>(source + 5));
        }
        backend.run();
        return std::tuple(recorder.tokens, recorder.times, backend.events_processed(),
                          backend.statistics().drops);
    };
    const auto first = run();
    EXPECT_EQ(std::get<0>(first).size(), 10U);
    EXPECT_GT(std::get<3>(first), 0U) << "33 kB for 5 senders: losses are part of what must repeat";
    EXPECT_EQ(first, run());
}

TYPED_TEST(BackendContract, OneBackendLivesAtATime) {
    const auto fabric = network_of<TypeParam>(2);
    TypeParam first(fabric, {});
    EXPECT_THROW(TcpBackend(fabric, {}), std::logic_error);
    EXPECT_THROW(PacketBackend(fabric, {}), std::logic_error);
    // The first is unharmed.
    Recorder recorder(first);
    recorder.send(0, 1, 1_KiB);
    first.run();
    EXPECT_EQ(recorder.tokens.size(), 1U);
}

TYPED_TEST(StaticBackendContract, AnUnreachableDestinationIsAStallThatSaysWho) {
    network::FabricBuilder builder("islands");
    builder.add_host("a");
    builder.add_host("b");
    builder.add_host("c");
    builder.connect(NodeId(0), NodeId(1), kLink);
    TypeParam backend(std::move(builder).build(), {});
    Recorder recorder(backend);
    recorder.send(0, 2, 1000_B, 1);
    recorder.send(0, 1, 1000_B, 2);
    backend.run();
    EXPECT_EQ(recorder.tokens, (std::vector<std::uint64_t>{2}));
    EXPECT_EQ(backend.outstanding_messages(), 1U);
    const auto outstanding = backend.describe_outstanding(10);
    ASSERT_EQ(outstanding.size(), 1U);
    EXPECT_EQ(outstanding[0].source, HostId(0));
    EXPECT_EQ(outstanding[0].destination, HostId(2));
    EXPECT_EQ(outstanding[0].remaining, 1000_B);
}

}  // namespace
}  // namespace astrolabe::ns3
