// SPDX-License-Identifier: GPL-2.0-only
/// What can be chosen about the transport of the packet backend: windows, recovery, congestion control. What
/// each means is said where it is modelled, in
/// ns3-backend/model/packet-{sender,receiver,dctcp,dcqcn,hpcc,ndp,rtt}.h.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/parameter_problem.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe::ns3 {

enum class PacketCongestion : std::uint8_t { kNone, kDctcp, kDcqcn, kHpcc, kNdp };
enum class PacketRecovery : std::uint8_t { kGoBackN, kSelective };
enum class PacketConnections : std::uint8_t { kPerPair, kPerMessage };
enum class PacketHostQueue : std::uint8_t { kOnDemand, kFifo };
enum class PacketPullPacing : std::uint8_t { kPerHost, kPerPair };

/// Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 5.2 and
/// figure 14.
struct DcqcnOptions {
    double gain = 1.0 / 256;                              ///< g
    Time notify_interval = Time(50'000'000);              ///< N, between notifications of a pair
    Time alpha_interval = Time(55'000'000);               ///< K, after which alpha decays
    Time increase_interval = Time(55'000'000);            ///< T, between steps of increase
    Bytes increase_bytes = Bytes(10'000'000);             ///< B, between steps of increase
    std::uint32_t fast_recovery = 5;                      ///< F, steps
    Bandwidth additive_increase = Bandwidth(40'000'000);  ///< R_AI
    Bandwidth hyper_increase = Bandwidth(400'000'000);    ///< R_HAI
    Bandwidth min_rate = Bandwidth(10'000'000);
    bool clamp_target = true;  ///< every cut lowers the target, not only the first in a row

    bool operator==(const DcqcnOptions&) const = default;
};

/// Li et al., "HPCC: high precision congestion control", SIGCOMM 2019, section 5.1.
struct HpccOptions {
    Time base_rtt = Time(13'000'000);     ///< T
    double utilization = 0.95;            ///< eta
    std::uint32_t max_stage = 5;          ///< additive steps in a row
    Bytes additive_increase = Bytes(80);  ///< W_AI

    bool operator==(const HpccOptions&) const = default;
};

/// Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance",
/// SIGCOMM 2017, section 3.
struct NdpOptions {
    std::uint32_t initial_window = 30;  ///< packets
    double pull_rate = 1;               ///< of the rate of the link into the receiver
    PacketPullPacing pull_pacing = PacketPullPacing::kPerHost;

    bool operator==(const NdpOptions&) const = default;
};

struct PacketTransportOptions {
    Bytes mtu = Bytes(4096);  ///< payload of a full packet
    /// Of a data packet on the wire: Ethernet with preamble, gap and check sum 38, IPv4 20, UDP 8, BTH 12,
    /// ICRC 4.
    Bytes header = Bytes(82);
    Bytes ack_size = Bytes(84);     ///< of an acknowledgement: the smallest Ethernet frame, preamble and gap
    Bytes window = Bytes(500'000);  ///< most payload of a pair that is not acknowledged
    std::uint32_t ack_every = 16;   ///< packets per acknowledgement
    PacketConnections connections = PacketConnections::kPerPair;
    bool handshake = false;
    PacketHostQueue host_queue = PacketHostQueue::kOnDemand;
    PacketRecovery recovery = PacketRecovery::kGoBackN;
    std::uint32_t reorder_tolerance = 32;  ///< packets; kSelective where packets may overtake one another
    Time timeout =
        Time(1'000'000'000);         ///< without an acknowledgement before packets are sent again, the first
    std::uint32_t max_backoff = 64;  ///< times the first
    /// Timeouts of a pair in a row. With the defaults they last 1.7 s, a thousand round trips of any fabric;
    /// a path that loses every other packet still fails only once in 2^32.
    std::uint32_t retry_limit = 32;
    bool rtt_estimation = false;
    Time min_timeout = Time(10'000'000'000);  ///< rtt_estimation only
    PacketCongestion congestion_control = PacketCongestion::kNone;
    std::uint32_t initial_window = 16;               ///< packets; kDctcp only
    std::uint32_t slow_start_threshold = 1'000'000;  ///< packets; kDctcp only
    double gain = 1.0 / 16;                          ///< kDctcp only
    DcqcnOptions dcqcn;
    HpccOptions hpcc;
    NdpOptions ndp;

    /// A switch is to mark packets.
    [[nodiscard]] bool uses_marks() const {
        return congestion_control == PacketCongestion::kDctcp ||
               congestion_control == PacketCongestion::kDcqcn;
    }
};

[[nodiscard]] std::vector<ParameterProblem> transport_problems(const PacketTransportOptions& options);

}  // namespace astrolabe::ns3
