/// The timers that one part of the executor has set. A timer that would end after Time::max() is never set:
/// what depends on it waits forever, and the report of the stall names it.
#pragma once

#include <cstdint>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::system::detail {

class Timers {
public:
    explicit Timers(network::NetworkBackend& backend)
        : backend_(backend) {}

    void set(Time delay, network::NotificationHandler& handler, std::uint64_t token) {
        if (delay < Time::max() - backend_.now()) {
            ++pending_;
            backend_.schedule(delay, handler, token);
        } else {
            pass_the_end_ = true;
        }
    }
    /// To be called when one was notified.
    void expired() { --pending_; }

    [[nodiscard]] bool pending() const { return pending_ > 0; }
    [[nodiscard]] bool pass_the_end() const { return pass_the_end_; }

private:
    network::NetworkBackend& backend_;
    std::uint64_t pending_ = 0;
    bool pass_the_end_ = false;
};

}  // namespace astrolabe::system::detail
