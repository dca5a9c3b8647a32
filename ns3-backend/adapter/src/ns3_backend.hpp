// SPDX-License-Identifier: GPL-2.0-only
/// What all backends on ns-3 share: the one ns-3 simulation of the process, with time in picoseconds, its
/// timers and the count of its messages. A run ends when nothing is outstanding, which ns-3 by itself would
/// not see: timers of sockets and acknowledgements in flight keep its event queue filled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::ns3 {

/// What a packet engine knows: links with something in the queue in front of them, of `waiting(link)`, the
/// fullest first.
template <class Waiting>
[[nodiscard]] network::PresentLimits deepest_queues(std::size_t links, std::size_t most,
                                                    const Waiting& waiting) {
    network::PresentLimits limits;
    for (network::LinkId link; link.index() < links; ++link) {
        if (const Bytes bytes = waiting(link); bytes > Bytes(0)) {
            limits.links.push_back({link, 1, 0, bytes});
        }
    }
    limits.all_links = limits.links.size();
    std::ranges::stable_sort(limits.links, std::greater<>(), &network::LimitingLink::waiting);
    limits.links.resize(std::min(most, limits.links.size()));
    return limits;
}

class Ns3Backend : public network::NetworkBackend {
public:
    ~Ns3Backend() override;
    Ns3Backend(const Ns3Backend&) = delete;
    Ns3Backend& operator=(const Ns3Backend&) = delete;

    /// Between two events of ns-3's loop, from the scheduler that holds them: none is added.
    void watch(network::RunWatcher& watcher) final;
    [[nodiscard]] Time now() const final;
    void schedule(Time delay, network::NotificationHandler& handler, std::uint64_t token) final;
    void run() final;
    void stop() final;
    [[nodiscard]] std::uint64_t outstanding_messages() const final { return outstanding_; }
    [[nodiscard]] std::uint64_t events_processed() const override;

protected:
    /// `seed` is the run number of ns-3's random streams. Another simulation in the process breaks an
    /// invariant.
    explicit Ns3Backend(std::uint64_t seed);

    /// A message was sent, and `delivered` will be called for it.
    void sent(const network::Message& message);
    void delivered(network::NotificationHandler& handler, std::uint64_t token);
    /// Whether `run` has not returned: a question now is asked from inside it.
    [[nodiscard]] bool is_running() const { return is_running_; }
    /// Destroys the simulation before the members that it still uses.
    void end();

private:
    void notify(network::NotificationHandler& handler, std::uint64_t token);

    network::RunWatcher* watcher_ = nullptr;  // null: nobody watches
    std::uint64_t outstanding_ = 0;           // messages
    std::uint64_t timers_ = 0;
    std::int64_t latest_ = 0;
    bool is_running_ = false;
    bool has_ended_ = false;
};

}  // namespace astrolabe::ns3
