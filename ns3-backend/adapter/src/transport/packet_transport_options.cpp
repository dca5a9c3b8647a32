// SPDX-License-Identifier: GPL-2.0-only
#include "transport/packet_transport_options.hpp"

namespace astrolabe::ns3 {

namespace {

constexpr Bytes kLeastMtu = Bytes(64);
constexpr Bytes kMostMtu = Bytes(1 << 20);
constexpr Bytes kMostHeader = Bytes(65'535);
constexpr std::int64_t kMostWindowPackets = 1 << 20;  // a set of them takes 128 KiB
constexpr std::uint32_t kMostPackets = 1'000'000;
constexpr std::uint32_t kMostRetries = 1'000;
constexpr Time kLeastTime = Time(1'000);         // 1 ns
constexpr Time kLeastTimeout = Time(1'000'000);  // 1 us
constexpr Time kMostTimeout = Time(1'000 * kPicosecondsPerSecond);
constexpr Time kMostBaseRtt = Time(kPicosecondsPerSecond);
constexpr double kLeastPullRate = 0.001;
// A pair takes some 10^5 steps at most to come back to the rate of its link.
constexpr Time kLeastInterval = Time(1'000'000);  // 1 us
constexpr Bandwidth kLeastRate = Bandwidth(1'000'000);
constexpr Bandwidth kMostRate = Bandwidth(std::int64_t{1} << 60);

class Problems {
public:
    template <class Value>
    void range(const std::string& key, Value value, Value least, Value most) {
        if (value < least || value > most) {
            found.push_back({key, "is " + text(value), "choose " + text(least) + " to " + text(most)});
        }
    }
    /// A share is above 0 and at most 1.
    void share(const std::string& key, double value) {
        if (!(value > 0 && value <= 1)) {
            found.push_back({key, "is " + std::to_string(value), "choose more than 0 and at most 1"});
        }
    }
    void unused(const std::string& key, bool is_unused, const std::string& when) {
        if (is_unused) {
            found.push_back({key, "has no effect", "it is for " + when});
        }
    }

    std::vector<ParameterProblem> found;

private:
    static std::string text(std::uint32_t value) { return std::to_string(value); }
    template <class Value>
    static std::string text(Value value) {
        return to_string(value);
    }
};

void check_congestion_control(Problems& problems, const PacketTransportOptions& options) {
    const auto uses = [&options](PacketCongestion kind) { return options.congestion_control == kind; };
    problems.range("initial_window", options.initial_window, 1U, kMostPackets);
    problems.range("slow_start_threshold", options.slow_start_threshold, 1U, kMostPackets);
    problems.share("gain", options.gain);
    problems.unused("dcqcn", !uses(PacketCongestion::kDcqcn) && options.dcqcn != DcqcnOptions{},
                    "congestion_control: dcqcn");
    problems.unused("hpcc", !uses(PacketCongestion::kHpcc) && options.hpcc != HpccOptions{},
                    "congestion_control: hpcc");
    problems.unused("ndp", !uses(PacketCongestion::kNdp) && options.ndp != NdpOptions{},
                    "congestion_control: ndp");
    const DcqcnOptions& dcqcn = options.dcqcn;
    problems.share("dcqcn.gain", dcqcn.gain);
    problems.range("dcqcn.notify_interval", dcqcn.notify_interval, kLeastTime, kMostTimeout);
    problems.range("dcqcn.alpha_interval", dcqcn.alpha_interval, kLeastTime, kMostTimeout);
    problems.range("dcqcn.increase_interval", dcqcn.increase_interval, kLeastInterval, kMostTimeout);
    problems.range("dcqcn.increase_bytes", dcqcn.increase_bytes, Bytes(1), Bytes(std::int64_t{1} << 60));
    problems.range("dcqcn.fast_recovery", dcqcn.fast_recovery, 1U, kMostPackets);
    problems.range("dcqcn.additive_increase", dcqcn.additive_increase, kLeastRate, kMostRate);
    problems.range("dcqcn.hyper_increase", dcqcn.hyper_increase, kLeastRate, kMostRate);
    problems.range("dcqcn.min_rate", dcqcn.min_rate, kLeastRate, kMostRate);
    problems.range("hpcc.base_rtt", options.hpcc.base_rtt, kLeastTime, kMostBaseRtt);
    problems.share("hpcc.utilization", options.hpcc.utilization);
    problems.range("hpcc.max_stage", options.hpcc.max_stage, 0U, kMostPackets);
    problems.range("hpcc.additive_increase", options.hpcc.additive_increase, Bytes(0), Bytes(1 << 30));
    problems.range("ndp.initial_window", options.ndp.initial_window, 1U, kMostPackets);
    if (!(options.ndp.pull_rate >= kLeastPullRate && options.ndp.pull_rate <= 1)) {
        problems.found.push_back(
            {"ndp.pull_rate", "is " + std::to_string(options.ndp.pull_rate), "choose 0.001 to 1"});
    }
}

/// What does not go together.
void check_combinations(Problems& problems, const PacketTransportOptions& options) {
    const bool is_windowed = options.congestion_control == PacketCongestion::kNone ||
                             options.congestion_control == PacketCongestion::kDctcp;
    if (options.host_queue == PacketHostQueue::kFifo && !is_windowed) {
        problems.found.push_back({"host_queue", "lets packets wait where neither rate nor pull holds them",
                                  "choose on_demand, or congestion_control none or dctcp"});
    }
    if (options.handshake && !is_windowed) {
        problems.found.push_back({"handshake", "goes with windows only",
                                  "leave it out, or choose congestion_control none or dctcp"});
    }
    if (options.rtt_estimation && (options.recovery == PacketRecovery::kSelective ||
                                   options.congestion_control == PacketCongestion::kNdp)) {
        problems.found.push_back({"rtt_estimation",
                                  "needs the place in acknowledgements that tells which packet has come",
                                  "choose recovery: go_back_n without ndp, or a fixed timeout"});
    }
    if (options.congestion_control == PacketCongestion::kNdp &&
        options.recovery == PacketRecovery::kSelective) {
        problems.found.push_back({"recovery", "is part of ndp", "leave it out"});
    }
}

}  // namespace

std::vector<ParameterProblem> transport_problems(const PacketTransportOptions& options) {
    Problems problems;
    problems.range("mtu", options.mtu, kLeastMtu, kMostMtu);
    problems.range("header", options.header, Bytes(1), kMostHeader);
    problems.range("ack_size", options.ack_size, Bytes(1), kMostHeader);
    problems.range("window", options.window, Bytes(1), options.mtu * kMostWindowPackets);
    problems.range("ack_every", options.ack_every, 1U, kMostPackets);
    problems.range("timeout", options.timeout, kLeastTimeout, kMostTimeout);
    problems.range("min_timeout", options.min_timeout, kLeastTimeout, kMostTimeout);
    problems.range("max_backoff", options.max_backoff, 1U, 1U << 30);
    problems.range("retry_limit", options.retry_limit, 1U, kMostRetries);
    problems.range("reorder_tolerance", options.reorder_tolerance, 1U, kMostPackets);
    check_congestion_control(problems, options);
    check_combinations(problems, options);
    return std::move(problems.found);
}

}  // namespace astrolabe::ns3
