// SPDX-License-Identifier: GPL-2.0-only
#include "transport/packet_transport_parameters.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

namespace {

sim::PacketCongestionControl control(PacketCongestion kind) {
    switch (kind) {
        case PacketCongestion::kNone:
            return sim::PacketCongestionControl::NONE;
        case PacketCongestion::kDctcp:
            return sim::PacketCongestionControl::DCTCP;
        case PacketCongestion::kDcqcn:
            return sim::PacketCongestionControl::DCQCN;
        case PacketCongestion::kHpcc:
            return sim::PacketCongestionControl::HPCC;
        case PacketCongestion::kNdp:
            return sim::PacketCongestionControl::NDP;
    }
    ASTROLABE_ASSERT(false, "every congestion control is named");
}

sim::Time time(Time value) {
    return sim::TimeStep(static_cast<std::uint64_t>(value.count()));
}

sim::DataRate rate(Bandwidth value) {
    return sim::DataRate(static_cast<std::uint64_t>(value.count()));
}

std::uint64_t bytes(Bytes value) {
    return static_cast<std::uint64_t>(value.count());
}

std::uint32_t short_bytes(Bytes value) {
    return static_cast<std::uint32_t>(value.count());
}

}  // namespace

sim::PacketTransportParameters transport_parameters(const PacketTransportOptions& options, bool is_lossy,
                                                    bool is_reordered) {
    sim::PacketTransportParameters made;
    made.mtu = short_bytes(options.mtu);
    made.header = short_bytes(options.header);
    made.ackSize = short_bytes(options.ack_size);
    made.window = bytes(options.window);
    made.ackEvery = options.ack_every;
    made.connections = options.connections == PacketConnections::kPerPair
                           ? sim::PacketConnections::PER_PAIR
                           : sim::PacketConnections::PER_MESSAGE;
    made.handshake = options.handshake;
    made.hostQueue = options.host_queue == PacketHostQueue::kOnDemand ? sim::PacketHostQueue::ON_DEMAND
                                                                      : sim::PacketHostQueue::FIFO;
    made.congestionControl = control(options.congestion_control);
    made.recovery = options.recovery == PacketRecovery::kGoBackN ? sim::PacketRecovery::GO_BACK_N
                                                                 : sim::PacketRecovery::SELECTIVE;
    made.isReordered = is_reordered;
    made.reorderTolerance = options.reorder_tolerance;
    // A timeout that follows round trips goes off too early at times, which is part of what it models.
    made.hasTimers = is_lossy || options.rtt_estimation;
    made.timeout = time(options.timeout);
    made.maxBackoff = options.max_backoff;
    made.retryLimit = options.retry_limit;
    made.estimatesRtt = options.rtt_estimation;
    made.minTimeout = time(options.min_timeout);
    made.initialWindow = options.initial_window;
    made.slowStartThreshold = options.slow_start_threshold;
    made.dctcpGain = options.gain;
    made.dcqcnGain = options.dcqcn.gain;
    made.dcqcnNotifyInterval = time(options.dcqcn.notify_interval);
    made.dcqcnAlphaInterval = time(options.dcqcn.alpha_interval);
    made.dcqcnIncreaseInterval = time(options.dcqcn.increase_interval);
    made.dcqcnIncreaseBytes = bytes(options.dcqcn.increase_bytes);
    made.dcqcnFastRecovery = options.dcqcn.fast_recovery;
    made.dcqcnAdditiveIncrease = rate(options.dcqcn.additive_increase);
    made.dcqcnHyperIncrease = rate(options.dcqcn.hyper_increase);
    made.dcqcnMinRate = rate(options.dcqcn.min_rate);
    made.dcqcnClampTarget = options.dcqcn.clamp_target;
    made.hpccBaseRtt = time(options.hpcc.base_rtt);
    made.hpccUtilization = options.hpcc.utilization;
    made.hpccMaxStage = options.hpcc.max_stage;
    made.hpccAdditiveIncrease = bytes(options.hpcc.additive_increase);
    made.ndpInitialWindow = options.ndp.initial_window;
    made.ndpPullRate = options.ndp.pull_rate;
    made.ndpPullPacing = options.ndp.pull_pacing == PacketPullPacing::kPerHost
                             ? sim::PacketPullPacing::PER_HOST
                             : sim::PacketPullPacing::PER_PAIR;
    return made;
}

}  // namespace astrolabe::ns3
