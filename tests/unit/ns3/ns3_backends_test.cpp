// SPDX-License-Identifier: GPL-2.0-only
/// What backends on ns-3 have in common beyond the contract (tests/contract).
#include "opera/opera_packet_backend.hpp"
#include "packet/packet_backend.hpp"
#include "tcp_fixture.hpp"

#include <stdexcept>
#include <tuple>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>

namespace astrolabe::ns3 {
namespace {

template <class Backend>
std::shared_ptr<const network::Fabric> small_network() {
    return star(2);
}
template <>
std::shared_ptr<const network::Fabric> small_network<OperaPacketBackend>() {
    return build_rotor_fabric(network::rotor::eight_rack_network());
}

template <class Backend>
class Ns3Backends : public testing::Test {};
using Backends = testing::Types<TcpBackend, PacketBackend, OperaPacketBackend>;
TYPED_TEST_SUITE(Ns3Backends, Backends);

TYPED_TEST(Ns3Backends, OneBackendLivesAtATime) {
    const auto fabric = small_network<TypeParam>();
    TypeParam first(fabric, {});
    EXPECT_THROW(TcpBackend(fabric, {}), std::logic_error);
    EXPECT_THROW(PacketBackend(fabric, {}), std::logic_error);
    // The first is unharmed.
    Recorder recorder(first);
    recorder.send(0, 1, 1_KiB);
    first.run();
    EXPECT_EQ(recorder.tokens.size(), 1U);
}

/// Of networks that may lose packets.
template <class Backend>
class LossyNs3Backends : public testing::Test {};
using LossyBackends = testing::Types<TcpBackend, PacketBackend>;
TYPED_TEST_SUITE(LossyNs3Backends, LossyBackends);

TYPED_TEST(LossyNs3Backends, TheSameRunTwiceLosesTheSamePackets) {
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

}  // namespace
}  // namespace astrolabe::ns3
