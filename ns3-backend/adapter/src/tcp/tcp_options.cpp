// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/tcp_options.hpp"

#include "failing_links.hpp"
#include "packet/port_room.hpp"
#include "tcp/attributes.hpp"

#include <algorithm>

#include <astrolabe/network/failures/failure_timeline.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::ns3 {

namespace {

constexpr Bytes kLeastMtu{576};
constexpr Bytes kLargestMtu{65'535};                    // the length field of IPv4
constexpr Bytes kLargestWindow{std::int64_t{1} << 30};  // 65535 scaled by 14 bits (RFC 7323, section 2.3)
constexpr Bytes kPppHeader{2};
constexpr Time kLongestTimeout{60 * kPicosecondsPerSecond};  // ns-3 never waits longer for a retransmission
constexpr Time kShortestTimeout{1'000'000};
/// Of a packet over one link: a tenth of a retransmission timeout at its longest, which leaves room for hops
/// and queues before a connection takes silence for the end.
constexpr Time kSlowestLink{6 * kPicosecondsPerSecond};
constexpr std::size_t kMostPaths = 64;                          // of direct_connect and graphs
constexpr std::size_t kMostHosts = (std::size_t{1} << 24) - 2;  // 10.0.0.0/8

/// What overrides can make of the window and the segments, and TCP cannot run with.
std::optional<std::string> override_problem(const TcpOptions& options) {
    const auto count = [&options](const std::string& name) {
        return Bytes(std::stoll(attribute_value(options, name)));
    };
    const Bytes segment = count("ns3::TcpSocket::SegmentSize");
    const bool timestamps = attribute_value(options, "ns3::TcpSocketBase::Timestamp") == "true";
    if (segment + Bytes(timestamps ? 52 : 40) > options.mtu) {
        return "ns3::TcpSocket::SegmentSize of " + to_string(segment) + " does not fit an mtu of " +
               to_string(options.mtu);
    }
    for (const char* name : {"ns3::TcpSocket::RcvBufSize", "ns3::TcpSocketBase::MaxWindowSize"}) {
        if (count(name) < segment) {
            return std::string(name) + " of " + to_string(count(name)) + " is less than one segment of " +
                   to_string(segment) + ", so nothing would be sent";
        }
    }
    return std::nullopt;
}

/// Why a link is too slow, or nothing.
std::optional<std::string> slowness(Bytes packet, Bandwidth rate, Time latency) {
    const Time taken = packet / rate + latency;
    if (taken <= kSlowestLink) {
        return std::nullopt;
    }
    return "a packet of " + to_string(packet) + " takes " + to_string(taken) + " over a link of " +
           to_string(rate) + " and " + to_string(latency) + ", more than the " + to_string(kSlowestLink) +
           " that the timers of TCP can wait for";
}

/// Of named paths, of which a pair has a connection each: those of the first host stand for all, as routings
/// with more than a few have as many for every pair.
std::optional<std::string> paths_unsupported(const network::Fabric& fabric, const TcpOptions& options) {
    if (fabric.routing().load_balancing() != network::LoadBalancing::kPaths) {
        return std::nullopt;
    }
    if (attribute_value(options, "ns3::TcpPeerDemux::PerPeer") == "false") {
        return "its routing names several paths of a pair, whose connections are told apart by a TCP for "
               "each "
               "peer; leave ns3::TcpPeerDemux::PerPeer out";
    }
    for (network::HostId host(1); host.index() < fabric.host_count(); ++host) {
        const std::size_t paths = fabric.routing().path_count(network::HostId(0), host);
        if (paths > kMostPaths) {
            return "its routing splits a pair of hosts over " + std::to_string(paths) +
                   " paths, and TCP takes a connection for each, " + std::to_string(kMostPaths) +
                   " at most; use a routing with one path a pair";
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> hosts_unsupported(const network::Fabric& fabric, Bytes frame) {
    if (fabric.host_count() > kMostHosts) {
        return "it has " + std::to_string(fabric.host_count()) + " hosts, and there are addresses for " +
               std::to_string(kMostHosts);
    }
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        const network::Link& link = fabric.link(id);
        if (const auto reason = slowness(frame, link.rate, link.latency)) {
            return reason;
        }
    }
    return std::nullopt;
}

std::vector<OptionProblem> validation_errors(const TcpOptions& options) {
    const TcpOptions usual;
    std::vector<OptionProblem> found;
    const auto require = [&found](bool holds, std::string key, std::string message, std::string hint = "") {
        if (!holds) {
            found.push_back({std::move(key), std::move(message), std::move(hint)});
        }
    };
    const auto require_timeout = [&require](Time value, const std::string& key, Time normal) {
        require(value >= kShortestTimeout && value <= kLongestTimeout, key,
                to_string(value) + " is not between " + to_string(kShortestTimeout) + " and " +
                    to_string(kLongestTimeout),
                "the default is " + to_string(normal));
    };

    const bool mtu_fits = options.mtu >= kLeastMtu && options.mtu <= kLargestMtu;
    if (mtu_fits) {
        const Bytes two_segments = options.segment_size() * 2;
        require(options.window >= two_segments && options.window <= kLargestWindow, "window",
                to_string(options.window) + " is not between two segments (" + to_string(two_segments) +
                    ") and " + to_string(kLargestWindow),
                "the default is " + to_string(usual.window) + "; a smaller mtu allows smaller windows");
    }
    require(
        mtu_fits, "mtu",
        to_string(options.mtu) + " is not between " + to_string(kLeastMtu) + " and " + to_string(kLargestMtu),
        "1500B is Ethernet's, 9000B the usual jumbo frame");
    require_timeout(options.min_rto, "min_rto", usual.min_rto);
    require_timeout(options.connect_timeout, "connect_timeout", usual.connect_timeout);
    require(options.initial_window >= 1 && options.initial_window <= 1'000'000, "initial_window",
            std::to_string(options.initial_window) + " is not between 1 and 1000000 segments");
    require(options.delayed_ack >= 1 && options.delayed_ack <= 64, "delayed_ack",
            std::to_string(options.delayed_ack) + " is not between 1 and 64 segments");
    require_timeout(options.delayed_ack_timeout, "delayed_ack_timeout", usual.delayed_ack_timeout);
    require(options.ecn_threshold > Bytes(0) || options.variant != TcpVariant::kDctcp, "ecn_threshold",
            to_string(options.ecn_threshold) + " marks nothing, and DCTCP slows down by marks alone",
            "the default is " + to_string(usual.ecn_threshold));
    require(options.ecn_threshold >= Bytes(0), "ecn_threshold",
            to_string(options.ecn_threshold) + " is negative");
    require(options.frame_header >= Bytes(1) && options.frame_header <= Bytes(65'535), "frame_header",
            to_string(options.frame_header) + " is not between 1B and 65535B");
    for (const auto& [name, value] : options.attributes) {
        if (auto problem = attribute_problem(name, value)) {
            found.push_back({"attributes", std::move(*problem), ""});
        }
    }
    if (found.empty() && !options.attributes.empty()) {
        if (auto problem = override_problem(options)) {
            found.push_back({"attributes", std::move(*problem), ""});
        }
    }
    return found;
}

std::vector<OptionProblem> effect_errors(const TcpOptions& options) {
    const TcpOptions usual;
    std::vector<OptionProblem> found;
    if (options.delayed_ack_timeout != usual.delayed_ack_timeout &&
        attribute_value(options, "ns3::TcpSocket::DelAckCount") == "1") {
        found.push_back({"delayed_ack_timeout", "has no effect", "it is for delayed_ack of 2 or more"});
    }
    if (options.ecn_threshold != usual.ecn_threshold && options.ecn_threshold > Bytes(0) &&
        !uses_ecn(options)) {
        found.push_back({"ecn_threshold", "has no effect",
                         "it is for variant: dctcp, or for connections that ns3.attributes have use ECN"});
    }
    return found;
}

std::optional<std::string> unsupported(const network::Fabric& fabric, const TcpOptions& options) {
    if (fabric.demand_aware_circuits() != nullptr) {
        return "its circuits move with the demand, and TCP over ns-3 devices has no controller that moves "
               "them: use the fluid engine, or a network without reconfiguration";
    }
    if (!fabric.is_static()) {
        return "its links come and go with time, and TCP over ns-3 devices runs on static fabrics only";
    }
    for (const auto& [name, value] : options.attributes) {
        if (name.starts_with("ns3::Opera")) {
            return "without rotor switches '" + name + "' has no meaning; leave it out";
        }
    }
    if (fabric.routing().load_balancing() == network::LoadBalancing::kSpray) {
        return "packet spraying reorders the packets of a connection, which TCP takes for loss; "
               "use flow-hash load balancing";
    }
    if (const auto reason = paths_unsupported(fabric, options)) {
        return reason;
    }
    const Bytes packet = options.mtu + kPppHeader;
    if (const auto reason = hosts_unsupported(fabric, packet)) {
        return reason;
    }
    if (fabric.failures() != nullptr) {
        for (const network::FailureTimeline::RateChange& change : fabric.failures()->rate_changes()) {
            const network::Link& link = fabric.link(change.link);
            const Bandwidth rate(static_cast<std::int64_t>(degraded_rate(link.rate, change.factor)));
            const auto reason =
                change.factor > 0 ? slowness(packet, rate, link.latency) : std::optional<std::string>();
            if (reason) {
                return reason;
            }
        }
    }
    const Bytes marked = uses_ecn(options) ? options.ecn_threshold : Bytes(0);
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        const std::optional<Bytes> room = port_room(fabric, id, options.buffer_sharing);
        if (!room) {
            continue;
        }
        const std::string port =
            "a port of " + fabric.node(fabric.source(id)).name + " has room for " + to_string(*room);
        if (*room < packet) {
            return port + ", less than one packet of " + to_string(packet);
        }
        if (marked > Bytes(0) && *room < marked + packet) {
            return port + ", and packets are marked when more than " + to_string(marked) +
                   " wait: they would be dropped before; lower ecn_threshold, or let the ports share the "
                   "switch's memory (buffer_sharing: shared)";
        }
    }
    return std::nullopt;
}

}  // namespace astrolabe::ns3
