#include "network/src/engines/fluid/fluid_backend.hpp"
#include "traffic.hpp"

namespace astrolabe::benchmarks {
namespace {

using network::HostId;

/// Sends step by step; a token is step × hosts + sender.
class Steps final : public network::NotificationHandler {
public:
    Steps(network::NetworkBackend& backend, const PeerCase& peer_case)
        : backend_(backend),
          hosts_(peer_case.hosts()),
          is_ring_(peer_case.pattern == Pattern::kRing),
          steps_(is_ring_ ? peer_case.steps : hosts_ - 1) {}

    void start() {
        for (std::size_t host = 0; host < hosts_; ++host) {
            send(host, 1);
        }
    }

    /// On a ring the receiver goes on, otherwise the sender.
    void notify(std::uint64_t token) override {
        const std::size_t sender = token % hosts_;
        const std::size_t step = token / hosts_;
        if (step < steps_) {
            send(is_ring_ ? (sender + 1) % hosts_ : sender, step + 1);
        }
    }

private:
    void send(std::size_t host, std::size_t step) {
        const std::size_t to = (host + (is_ring_ ? 1 : step)) % hosts_;
        backend_.send({HostId(host), HostId(to), kPeerMessage, this, step * hosts_ + host});
    }

    network::NetworkBackend& backend_;
    std::size_t hosts_;
    bool is_ring_;
    std::size_t steps_;
};

class Ignore final : public network::NotificationHandler {
public:
    void notify(std::uint64_t) override {}
};

}  // namespace

PeerOutcome run_fluid(const PeerCase& peer_case) {
    network::FluidBackend backend(build_fat_tree(fat_tree_of(peer_case)));
    PeerOutcome outcome;
    outcome.setup_cpu_s = processor_seconds();

    Steps steps(backend, peer_case);
    Ignore ignore;
    if (peer_case.pattern == Pattern::kAllAtOnce || peer_case.pattern == Pattern::kUneven) {
        std::vector<network::Message> batch;
        for (const PeerMessage& message : messages_at_zero(peer_case)) {
            batch.push_back({HostId(message.source), HostId(message.destination), message.size, &ignore});
        }
        backend.send_batch(batch);
    } else {
        steps.start();
    }
    backend.run();
    outcome.cpu_s = processor_seconds() - outcome.setup_cpu_s;
    outcome.simulated_s = to_seconds(backend.now());
    return outcome;
}

}  // namespace astrolabe::benchmarks
