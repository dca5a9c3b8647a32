#include "traffic.hpp"

#include <ctime>

namespace astrolabe::benchmarks {

using namespace literals;

Time PeerCase::link_latency() const {
    return pattern == Pattern::kRing ? 500_ns : Time();
}

std::string PeerCase::name() const {
    switch (pattern) {
        case Pattern::kAllAtOnce:
            return "all-to-all, all at once";
        case Pattern::kOnePeerAtATime:
            return "all-to-all, one peer at a time";
        case Pattern::kRing:
            return "ring, " + std::to_string(steps) + " steps";
        case Pattern::kUneven:
            return "uneven sizes, hashed paths";
    }
    return {};
}

std::vector<PeerMessage> messages_at_zero(const PeerCase& peer_case) {
    const std::size_t hosts = peer_case.hosts();
    const bool is_uneven = peer_case.pattern == Pattern::kUneven;
    std::vector<PeerMessage> messages;
    for (std::size_t shift = 1; shift < hosts; shift = is_uneven ? 2 * shift : shift + 1) {
        for (std::size_t source = 0; source < hosts; ++source) {
            // 65,537 is prime and 7,919 not a multiple of it: sizes repeat after 65,537 messages only.
            const auto number = static_cast<std::int64_t>(messages.size());
            const Bytes size = is_uneven ? Bytes(32'768 + number * 7'919 % 65'537) : kPeerMessage;
            messages.push_back({source, (source + shift) % hosts, size});
        }
    }
    return messages;
}

network::FatTreeParameters fat_tree_of(const PeerCase& peer_case) {
    network::FatTreeParameters tree;
    tree.k = peer_case.k;
    tree.link.rate = 100_Gbps;
    tree.link.latency = peer_case.link_latency();
    tree.edge_uplink.latency = peer_case.link_latency();
    tree.aggregation_uplink.latency = peer_case.link_latency();
    tree.load_balancing =
        peer_case.sprays() ? network::LoadBalancing::kSpray : network::LoadBalancing::kFlowHash;
    return tree;
}

double processor_seconds() {
    std::timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace astrolabe::benchmarks
