// SPDX-License-Identifier: GPL-2.0-only
/// The ns-3 model of Opera without the adapter: low-latency messages against the figures of the reference
/// simulator (docs/theory/opera.md, "Golden numbers"), which end when the sender has the last
/// acknowledgement.
///
/// Eight racks of four hosts, 100 Gb/s: a full packet takes σ = 120 ns on a link, a header 5.12 ns, and 500
/// ns go by between racks. A packet that takes f hops out, and its acknowledgement b hops back, take
///     2 · 120 + f (120 + 500) + 2 · 5.12 + b (5.12 + 500) ns.
#include "opera/opera_decisions.hpp"

#include <vector>

#include <gtest/gtest.h>
#include <ns3/opera-network.h>
#include <ns3/simulator.h>
#include <ns3/uinteger.h>
#include <rotor_fabric.hpp>

namespace astrolabe::ns3 {
namespace {

namespace sim = ::ns3;
using network::rotor::RotorNetwork;

class OperaNet {
public:
    OperaNet()
        : network(with_low_latency(network::rotor::eight_rack_network(), Bytes(15'000'000))),
          schedule(to_ns3(network)),
          policy(rotor_lb_policy(network, schedule, 1)),
          paths(network, 1) {
        if (sim::Time::GetResolution() != sim::Time::PS) {
            sim::Time::SetResolution(sim::Time::PS);
        }
        opera = sim::CreateObject<sim::OperaNetwork>();
        opera->SetAttribute("Cutoff", sim::UintegerValue(15'000'000));
        opera->Build(schedule, network.hosts_per_rack, &policy, &paths);
        opera->GetTransport()->TraceConnectWithoutContext("Acknowledged",
                                                          sim::MakeCallback(&OperaNet::acknowledged, this));
        opera->GetTransport()->TraceConnectWithoutContext("Delivered",
                                                          sim::MakeCallback(&OperaNet::delivered, this));
    }
    ~OperaNet() { sim::Simulator::Destroy(); }
    OperaNet(const OperaNet&) = delete;
    OperaNet& operator=(const OperaNet&) = delete;

    void send(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes) {
        opera->Send({source, destination, bytes, nullptr, 0, 0});
    }

    RotorNetwork network;
    sim::OperaSchedule schedule;
    sim::OperaRotorLbPolicy policy;
    SlicePathSource paths;
    sim::Ptr<sim::OperaNetwork> opera;
    std::vector<Time> acknowledgements;  ///< since sending
    std::vector<Time> deliveries;

private:
    void acknowledged(const sim::PacketMessage&, sim::Time took) {
        acknowledgements.emplace_back(took.GetTimeStep());
    }
    void delivered(const sim::PacketMessage&, sim::Time took) { deliveries.emplace_back(took.GetTimeStep()); }
};

Time round_trip(std::uint32_t destination, std::uint64_t bytes) {
    OperaNet net;
    net.send(0, destination, bytes);
    sim::Simulator::Run();
    EXPECT_EQ(net.acknowledgements.size(), 1U);
    return net.acknowledgements.empty() ? Time(0) : net.acknowledgements.front();
}

TEST(OperaNetwork, SinglePacketsOfLowLatencyAreExact) {
    // 0, 1, 2, 3 and 4 hops: hop counts from rack 0 in superslice 0 are 4 3 1 2 2 3 1 to racks 1 … 7, and as
    // many back.
    EXPECT_EQ(round_trip(1, 1436), Time(250'240));
    EXPECT_EQ(round_trip(28, 1436), Time(1'375'360));
    EXPECT_EQ(round_trip(16, 1436), Time(2'500'480));
    EXPECT_EQ(round_trip(8, 1436), Time(3'625'600));
    EXPECT_EQ(round_trip(4, 1436), Time(4'750'720));
}

TEST(OperaNetwork, LongMessagesOfLowLatencyKeepTheLinkBusy) {
    // 100 packets: the last leaves its host after 12 us, crosses two more links and a circuit, and its
    // acknowledgement three links and a circuit.
    EXPECT_EQ(round_trip(28, 143'600), Time(12'000'000 + 120'000 + 500'000 + 120'000 + 3 * 5'120 + 500'000));
    // 1000 packets within the rack.
    EXPECT_EQ(round_trip(1, 1'436'000), Time(120'000'000 + 120'000 + 2 * 5'120));
    // To rack 7: the last leaves at 120 us in superslice 7 (from 110.88 us), in which the way there and back
    // has two hops.
    EXPECT_EQ(round_trip(28, 1'436'000), Time(120'000'000 + 120'000 + 2 * 620'000 + 2 * 5'120 + 2 * 505'120));
}

}  // namespace
}  // namespace astrolabe::ns3
