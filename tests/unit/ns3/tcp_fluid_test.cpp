// SPDX-License-Identifier: GPL-2.0-only
/// `tcp` against `fluid` where nothing is lost: what lies between them is framing, one stored frame a hop
/// beyond the first, and the handshake, and nothing else. Each test prints both times and the prediction.
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "tcp_fixture.hpp"

#include <algorithm>
#include <iostream>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

/// `senders` hosts send `size` each to host 0; when the last byte is there.
Time finish(network::NetworkBackend& backend, int senders, Bytes size) {
    Recorder recorder(backend);
    for (int source = 1; source <= senders; ++source) {
        recorder.send(source, 0, size);
    }
    backend.run();
    EXPECT_EQ(recorder.times.size(), static_cast<std::size_t>(senders));
    return recorder.times.empty() ? Time(0) : recorder.times.back();
}

struct Case {
    int senders;
    std::int64_t mtu;
};

class TcpAgainstFluid : public testing::TestWithParam<Case> {};

// 16 MiB from each sender through one port: on the fluid engine k S / r and 1 us of latency; over TCP the
// frames' wire time, the latency of the handshake, 2 us, and of the last frame, 1 us, and the first frame
// once more, which the switch stores whole.
TEST_P(TcpAgainstFluid, DiffersByFramingAndHandshake) {
    const auto [senders, mtu] = GetParam();
    const auto fabric = star(senders + 1);
    network::FluidBackend fluid(fabric);
    const Time ideal = finish(fluid, senders, 16_MiB);
    EXPECT_NEAR(to_seconds(ideal), to_seconds(16_MiB * senders / 100_Gbps + 1_us), 1e-9);

    TcpOptions options;
    options.mtu = Bytes(mtu);
    TcpBackend tcp(fabric, options);
    const Time real = finish(tcp, senders, 16_MiB);
    EXPECT_EQ(tcp.statistics().drops, 0U);
    const Time predicted = wire_time(16_MiB, senders, options) + 3_us + (options.mtu + 2_B) / 100_Gbps;
    std::cout << senders << " to 1, mtu " << mtu << " B: fluid " << to_seconds(ideal) * 1e6 << " us, tcp "
              << to_seconds(real) * 1e6 << " us, predicted " << to_seconds(predicted) * 1e6 << " us, ratio "
              << to_seconds(real) / to_seconds(ideal) << '\n';
    // Slow start may leave the port idle for one round trip of a lone sender, 2 us of 1.4 ms; a last segment
    // that is not full saves less than a segment a sender.
    EXPECT_NEAR(to_seconds(real) / to_seconds(predicted), 1.0, 0.005);
}

INSTANTIATE_TEST_SUITE_P(Incast, TcpAgainstFluid,
                         testing::Values(Case{1, 1500}, Case{2, 1500}, Case{8, 1500}, Case{1, 9000},
                                         Case{2, 9000}, Case{8, 9000}),
                         [](const auto& instance) {
                             return std::to_string(instance.param.senders) + "To1Mtu" +
                                    std::to_string(instance.param.mtu);
                         });

}  // namespace
}  // namespace astrolabe::ns3
