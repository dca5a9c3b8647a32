// SPDX-License-Identifier: GPL-2.0-only
/// The ns-3 model of the packet engine without the adapter: hosts around one switch, with a transport, and
/// trouble on the links when asked for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ns3/packet-fabric.h>
#include <ns3/packet-transport.h>
#include <ns3/simulator.h>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

/// The congestion controls.
struct Control {
    using Kind = const sim::PacketControlKind*;
    static constexpr Kind kNone = &sim::PacketFixedWindow::KIND;
    static constexpr Kind kDctcp = &sim::PacketDctcp::KIND;
    static constexpr Kind kDcqcn = &sim::PacketDcqcn::KIND;
    static constexpr Kind kHpcc = &sim::PacketHpcc::KIND;
    static constexpr Kind kNdp = &sim::PacketNdp::KIND;
};

inline std::string name_of(Control::Kind control) {
    return sim::PacketParameterName(control->name);
}

/// 100 Gb/s, 500 ns a link. Host i sends on port 2i and receives on port 2i + 1; the switch is the last node.
class PacketNet final : public sim::PacketRouter,
                        public sim::PacketTransportClient,
                        public sim::PacketFaults {
public:
    struct Delivery {
        sim::PacketMessage message;
        std::int64_t when;
    };

    static constexpr std::int64_t kLatency = 500'000;
    static constexpr std::uint64_t kRate = 100'000'000'000;

    explicit PacketNet(std::uint32_t hosts, std::uint64_t switch_memory = 0)
        : hosts_(hosts) {
        if (sim::Time::GetResolution() != sim::Time::PS) {
            sim::Time::SetResolution(sim::Time::PS);
        }
        fabric = sim::CreateObject<sim::PacketFabric>();
        transport = sim::CreateObject<sim::PacketTransport>();
        for (std::uint32_t host = 0; host < hosts; ++host) {
            fabric->AddHost();
        }
        fabric->AddSwitch(switch_memory);
        for (std::uint32_t host = 0; host < hosts; ++host) {
            fabric->AddPort(host, hosts, kRate, kLatency, 0);
            fabric->AddPort(hosts, host, kRate, kLatency, 0);
            fabric->Pair(2 * host, 2 * host + 1);
            fabric->Pair(2 * host + 1, 2 * host);
        }
    }
    ~PacketNet() override { sim::Simulator::Destroy(); }
    PacketNet(const PacketNet&) = delete;
    PacketNet& operator=(const PacketNet&) = delete;

    void start(const sim::PacketTransportParameters& parameters) {
        transport->SetParameters(parameters);
        transport->Bind(*fabric, *this, this);
        fabric->Install(*this, *transport, *transport);
        if (strike) {
            fabric->GetContext().faults = this;
        }
    }
    void send(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes, std::uint64_t token = 0,
              std::uint8_t priority = 0) {
        transport->Send({source, destination, bytes, nullptr, token, priority});
    }

    sim::PacketPort* Route(std::uint32_t node, sim::PacketDescriptor& packet) override {
        return &fabric->GetPort(node == hosts_ ? 2 * packet.destination + 1 : 2 * node);
    }
    void Delivered(const sim::PacketMessage& message) override {
        deliveries.push_back({message, sim::Simulator::Now().GetTimeStep()});
        if (delivered) {
            delivered(message);
        }
    }
    std::int64_t InjectFault(const sim::PacketPort& port, const sim::PacketDescriptor& packet,
                             std::int64_t when) override {
        return strike(port, packet, when);
    }

    sim::Ptr<sim::PacketFabric> fabric;
    sim::Ptr<sim::PacketTransport> transport;
    std::vector<Delivery> deliveries;
    std::function<void(const sim::PacketMessage&)> delivered;
    /// Set before `start`.
    std::function<std::int64_t(const sim::PacketPort&, const sim::PacketDescriptor&, std::int64_t)> strike;

private:
    std::uint32_t hosts_;
};

}  // namespace astrolabe::ns3
