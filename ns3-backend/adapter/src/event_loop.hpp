// SPDX-License-Identifier: GPL-2.0-only
/// The one ns-3 simulation of the process, with time in picoseconds: what uses it lives inside the scope of
/// the loop. It ends when nothing is outstanding, which ns-3 by itself would not see: timers of sockets and
/// acknowledgements on their way keep its event queue filled.
#pragma once

#include <cstdint>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::ns3 {

class EventLoop {
public:
    /// `seed` is the run number of ns-3's random streams. Another simulation in the process breaks an
    /// invariant.
    explicit EventLoop(std::uint64_t seed);
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    [[nodiscard]] std::uint64_t outstanding() const { return outstanding_; }

    void schedule(Time delay, network::NotificationHandler& handler, std::uint64_t token);
    /// A message was sent, and `delivered` will be called for it.
    void sent(const network::Message& message);
    void delivered(network::NotificationHandler& handler, std::uint64_t token);
    void run();

private:
    void notify(network::NotificationHandler& handler, std::uint64_t token);

    std::uint64_t outstanding_ = 0;  // messages
    std::uint64_t timers_ = 0;
    std::int64_t latest_ = 0;
};

}  // namespace astrolabe::ns3
