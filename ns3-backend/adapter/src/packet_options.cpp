// SPDX-License-Identifier: GPL-2.0-only
#include <astrolabe/ns3/packet_options.hpp>

namespace astrolabe::ns3 {

namespace {

constexpr Bytes kLeastMtu = Bytes(64);
constexpr Bytes kMostMtu = Bytes(1 << 20);
constexpr Bytes kMostHeader = Bytes(65'535);
constexpr Bytes kMostWindow = Bytes(std::int64_t{1} << 40);
constexpr std::uint32_t kMostAckEvery = 1'000'000;
constexpr Time kLeastTimeout = Time(1'000'000);                     // 1 us
constexpr Time kMostTimeout = Time(1'000 * kPicosecondsPerSecond);

template <class Value>
void check_range(std::vector<ParameterProblem>& found, const std::string& key, Value value, Value least,
                 Value most) {
    if (value < least || value > most) {
        found.push_back({key, "is " + to_string(value), "choose " + to_string(least) + " to " + to_string(most)});
    }
}

}  // namespace

std::vector<ParameterProblem> problems(const PacketOptions& options) {
    std::vector<ParameterProblem> found;
    check_range(found, "mtu", options.mtu, kLeastMtu, kMostMtu);
    check_range(found, "header", options.header, Bytes(1), kMostHeader);
    check_range(found, "ack_size", options.ack_size, Bytes(1), kMostHeader);
    check_range(found, "window", options.window, Bytes(1), kMostWindow);
    check_range(found, "timeout", options.timeout, kLeastTimeout, kMostTimeout);
    if (options.ack_every < 1 || options.ack_every > kMostAckEvery) {
        found.push_back({"ack_every", "is " + std::to_string(options.ack_every),
                         "choose 1 to " + std::to_string(kMostAckEvery)});
    }
    if (options.initial_window < 1 || options.initial_window > kMostAckEvery) {
        found.push_back({"initial_window", "is " + std::to_string(options.initial_window),
                         "choose 1 to " + std::to_string(kMostAckEvery)});
    }
    for (ParameterProblem& problem : port_problems(options, options.largest_packet())) {
        found.push_back(std::move(problem));
    }
    return found;
}

std::optional<std::string> refusal(const network::Fabric& fabric, const PacketOptions& options) {
    if (!fabric.is_static()) {
        return "its links come and go with time, and the packet engine runs on static fabrics only";
    }
    return port_refusal(fabric, options, options.largest_packet());
}

}  // namespace astrolabe::ns3
