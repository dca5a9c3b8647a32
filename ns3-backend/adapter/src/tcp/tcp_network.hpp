// SPDX-License-Identifier: GPL-2.0-only
/// What the TCP backend runs on: hosts of ns-3 with TCP over IPv4, and whatever joins them.
///
/// Between a source and a destination there are one or more connections, numbered from 0. A network has
/// several where packets of a pair travel by different paths or services: a connection keeps to one of them,
/// so that its packets stay in order as far as the network keeps order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ns3/ipv4-address.h>
#include <ns3/node.h>
#include <ns3/socket.h>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/link_observer.hpp>

namespace astrolabe::ns3 {

/// Connections of a pair that follow one another by number.
struct Lanes {
    std::uint32_t first = 0;
    std::uint32_t count = 1;
};

/// Source and destination.
using HostPair = std::pair<network::HostId, network::HostId>;

class TcpNetwork {
public:
    virtual ~TcpNetwork() = default;
    TcpNetwork(const TcpNetwork&) = delete;
    TcpNetwork& operator=(const TcpNetwork&) = delete;

    [[nodiscard]] const network::Fabric& fabric() const { return *fabric_; }
    [[nodiscard]] static ::ns3::Ipv4Address address(network::HostId id) {
        return ::ns3::Ipv4Address(kFirstAddress + id.index());
    }
    [[nodiscard]] static network::HostId host_of(::ns3::Ipv4Address address) {
        return network::HostId(address.Get() - kFirstAddress);
    }
    [[nodiscard]] virtual ::ns3::Ptr<::ns3::Node> host(network::HostId id) const = 0;

    /// Those that a message takes; where they are several its bytes are split evenly over them.
    [[nodiscard]] virtual Lanes lanes_of(const network::Message& message) const = 0;
    /// Whether messages of a pair are split over several lanes at all.
    [[nodiscard]] virtual bool splits() const { return false; }
    /// Where the destination listens for lane `lane` of this source.
    [[nodiscard]] virtual std::uint16_t port(network::HostId source, std::uint32_t lane) const = 0;
    /// Of a socket that will send on this lane and has asked for its connection, which sets all that an
    /// address says anew.
    virtual void prepare(::ns3::Socket& sender, std::uint32_t lane) const {
        static_cast<void>(sender);
        static_cast<void>(lane);
    }
    /// Whether what is sent on this lane waits for circuits.
    [[nodiscard]] virtual bool waits_for_circuits(std::uint32_t lane) const {
        static_cast<void>(lane);
        return false;
    }

    /// Reports every frame that a device transmits to `observer`, which outlives this.
    virtual void observe(network::LinkObserver& observer) = 0;
    [[nodiscard]] virtual Bytes carried(network::LinkId link) const = 0;
    /// In the queue in front of the link.
    [[nodiscard]] virtual Bytes waiting(network::LinkId link) const = 0;
    /// Adds what the network counted: hops, drops, marks, peaks, links.
    virtual void add_counters(network::NetworkStatistics& statistics) const = 0;

    /// Why messages cannot arrive, as far as the network knows; empty: it knows nothing.
    [[nodiscard]] virtual std::string explain_stall(
        const std::vector<network::OutstandingMessage>& messages) const = 0;
    /// A line for each of the first few pairs whose connections had no answer.
    [[nodiscard]] virtual std::string describe_given_up(const std::vector<HostPair>& pairs) const;

protected:
    /// A host listens for each of its peers on ports of its own, below the ports that requests come from.
    static constexpr std::uint32_t kFirstPort = 1024;
    static constexpr std::uint32_t kPorts = 49'152 - kFirstPort;

    explicit TcpNetwork(std::shared_ptr<const network::Fabric> fabric)
        : fabric_(std::move(fabric)) {}

private:
    static constexpr std::uint32_t kFirstAddress = 0x0A000001;  // 10.0.0.1

    std::shared_ptr<const network::Fabric> fabric_;
};

}  // namespace astrolabe::ns3
