// SPDX-License-Identifier: GPL-2.0-only
#include "transport/transport_keys.hpp"

#include <string>

namespace astrolabe::ns3 {

ValidationErrors transport_errors(const sim::PacketTransportParameters& transport) {
    using Transport = sim::PacketTransportParameters;
    ValidationErrors found;
    const Bytes largest_window(std::int64_t{transport.mtu} * Transport::MAX_WINDOW_PACKETS);
    if (const Bytes window(static_cast<std::int64_t>(transport.window)); window > largest_window) {
        found.push_back({"window", "is " + to_string(window), "choose 1B to " + to_string(largest_window)});
    }
    const bool is_windowed = transport.congestionControl->Has(sim::PacketControlKind::IS_WINDOWED);
    if (transport.hostQueue == sim::PacketHostQueue::FIFO && !is_windowed) {
        found.push_back({"host_queue", "lets packets wait where neither rate nor pull holds them",
                         "choose on_demand, or congestion_control none or dctcp"});
    }
    if (transport.handshake && !is_windowed) {
        found.push_back({"handshake", "goes with windows only",
                         "leave it out, or choose congestion_control none or dctcp"});
    }
    if (transport.rttEstimation && transport.IsSelective()) {
        found.push_back({"rtt_estimation",
                         "needs the place in acknowledgements that identifies the packet that has come",
                         "choose recovery: go_back_n without ndp, or a fixed timeout"});
    }
    if (transport.IsPulled() && transport.recovery == sim::PacketRecovery::SELECTIVE) {
        found.push_back(
            {"recovery", "is part of " + std::string(transport.congestionControl->name), "leave it out"});
    }
    return found;
}

}  // namespace astrolabe::ns3
