// SPDX-License-Identifier: GPL-2.0-only
/// Small fabrics and a handler that writes down what it is told, for the tests of the TCP backend.
#pragma once

#include "tcp/tcp_backend.hpp"

#include <functional>
#include <memory>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::ns3 {

using network::HostId;
using network::LinkId;
using network::Message;
using network::NodeId;

/// 100 Gb/s, 500 ns: two links make 1 us one way.
inline const network::LinkParameters kLink{100_Gbps, 500_ns, Bytes(0)};

/// `hosts` hosts around one switch; the switch is the last node, link i leads from host i into it.
inline std::shared_ptr<const network::Fabric> star(int hosts, Bytes switch_buffer = Bytes(0),
                                                   const network::LinkParameters& link = kLink) {
    network::FabricBuilder builder("star");
    for (int i = 0; i < hosts; ++i) {
        builder.add_host("host " + std::to_string(i));
    }
    const NodeId center = builder.add_switch("switch", switch_buffer);
    for (int i = 0; i < hosts; ++i) {
        builder.connect(NodeId(i), center, link);
    }
    return std::move(builder).build();
}

/// Time on the wire of `messages` messages of `size` in full segments: every segment is mtu + 2 B of PPP long
/// and carries segment_size() of the stream, of which each message has frame_header + size.
inline Time wire_time(Bytes size, int messages, const TcpOptions& options, Bytes extra_per_segment = Bytes(0),
                      Bandwidth rate = 100_Gbps) {
    const std::int64_t stream = (size + options.frame_header).count();
    const std::int64_t segment = options.segment_size().count();
    const std::int64_t segments = (stream + segment - 1) / segment;
    return ((options.mtu + 2_B + extra_per_segment) * segments * messages) / rate;
}

class Recorder final : public network::NotificationHandler {
public:
    explicit Recorder(network::NetworkBackend& backend)
        : backend_(backend) {}

    void notify(std::uint64_t token) override {
        tokens.push_back(token);
        times.push_back(backend_.now());
        if (then) {
            then(token);
        }
    }
    void send(int source, int destination, Bytes size, std::uint64_t token = 0) {
        backend_.send({HostId(source), HostId(destination), size, this, token});
    }

    std::vector<std::uint64_t> tokens;
    std::vector<Time> times;
    std::function<void(std::uint64_t)> then;

private:
    network::NetworkBackend& backend_;
};

}  // namespace astrolabe::ns3
