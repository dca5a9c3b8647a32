// SPDX-License-Identifier: GPL-2.0-only
#include <astrolabe/network/routing.hpp>
#include <astrolabe/ns3/tcp_options.hpp>

namespace astrolabe::ns3 {

namespace {

constexpr Bytes kLeastMtu{576};
constexpr Bytes kLargestMtu{65'535};                    // the length field of IPv4
constexpr Bytes kLargestWindow{std::int64_t{1} << 30};  // 65535 scaled by 14 bits (RFC 7323, section 2.3)
constexpr Bytes kPppHeader{2};
constexpr Time kLongestTimeout{60 * kPicosecondsPerSecond};  // ns-3 never waits longer for a retransmission
constexpr Time kShortestTimeout{1'000'000};
constexpr std::size_t kMostHosts = (std::size_t{1} << 24) - 2;  // 10.0.0.0/8

}  // namespace

std::vector<OptionProblem> problems(const TcpOptions& options) {
    std::vector<OptionProblem> found;
    const auto require = [&found](bool holds, std::string key, std::string message) {
        if (!holds) {
            found.push_back({std::move(key), std::move(message), ""});
        }
    };
    const auto require_timeout = [&require](Time value, const std::string& key) {
        require(value >= kShortestTimeout && value <= kLongestTimeout, key,
                to_string(value) + " is not between " + to_string(kShortestTimeout) + " and " +
                    to_string(kLongestTimeout));
    };

    const bool mtu_fits = options.mtu >= kLeastMtu && options.mtu <= kLargestMtu;
    require(!mtu_fits || (options.window >= options.segment_size() * 2 && options.window <= kLargestWindow),
            "window",
            to_string(options.window) + " is not between two segments (" +
                to_string(options.segment_size() * 2) + ") and " + to_string(kLargestWindow));
    require(mtu_fits, "mtu",
            to_string(options.mtu) + " is not between " + to_string(kLeastMtu) + " and " +
                to_string(kLargestMtu));
    require_timeout(options.min_rto, "min_rto");
    require_timeout(options.connect_timeout, "connect_timeout");
    require(options.initial_window >= 1 && options.initial_window <= 1'000'000, "initial_window",
            std::to_string(options.initial_window) + " is not between 1 and 1000000 segments");
    require(options.delayed_ack >= 1 && options.delayed_ack <= 64, "delayed_ack",
            std::to_string(options.delayed_ack) + " is not between 1 and 64 segments");
    require_timeout(options.delayed_ack_timeout, "delayed_ack_timeout");
    require(options.ecn_threshold > Bytes(0) || options.variant != TcpVariant::kDctcp, "ecn_threshold",
            to_string(options.ecn_threshold) + " marks nothing, and DCTCP slows down by marks alone");
    require(options.ecn_threshold >= Bytes(0), "ecn_threshold",
            to_string(options.ecn_threshold) + " is negative");
    require(options.frame_header >= Bytes(1) && options.frame_header <= Bytes(65'535), "frame_header",
            to_string(options.frame_header) + " is not between 1B and 65535B");
    for (const auto& [name, value] : options.attributes) {
        if (auto problem = attribute_problem(name, value)) {
            found.push_back({"attributes", std::move(*problem), ""});
        }
    }
    return found;
}

std::optional<std::string> refusal(const network::Fabric& fabric, const TcpOptions& options) {
    if (!fabric.is_static()) {
        return "its links come and go with time, and TCP over ns-3 devices runs on static fabrics only";
    }
    if (fabric.routing().load_balancing() == network::LoadBalancing::kSpray) {
        return "packet spraying reorders the packets of a connection, which TCP takes for loss; "
               "use flow-hash load balancing";
    }
    if (fabric.host_count() > kMostHosts) {
        return "it has " + std::to_string(fabric.host_count()) + " hosts, and there are addresses for " +
               std::to_string(kMostHosts);
    }
    const Bytes packet = options.mtu + kPppHeader;
    for (std::size_t i = fabric.host_count(); i < fabric.node_count(); ++i) {
        const network::NodeId id(i);
        const network::Node& node = fabric.node(id);
        const std::size_t ports = fabric.out_degree(id);
        const Bytes share = options.buffer_sharing == BufferSharing::kShared || ports == 0
                                ? node.buffer
                                : node.buffer / ports;
        for (std::size_t port = 0; port < ports; ++port) {
            const Bytes own = fabric.link(network::LinkId(fabric.first_link(id).index() + port)).buffer;
            const bool limited = own > Bytes(0) || node.buffer > Bytes(0);
            const Bytes room = own > Bytes(0) ? own : share;
            if (limited && room < packet) {
                return "a port of " + node.name + " has room for " + to_string(room) +
                       ", less than one packet of " + to_string(packet);
            }
        }
    }
    return std::nullopt;
}

}  // namespace astrolabe::ns3
