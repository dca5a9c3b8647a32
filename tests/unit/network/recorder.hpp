/// Records what a backend notifies, and drives follow-up actions from inside notifications.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::network {

class Recorder final : public NotificationHandler {
public:
    explicit Recorder(NetworkBackend& backend)
        : backend_(backend) {}

    void notify(std::uint64_t token) override {
        order.push_back(token);
        times[token] = backend_.now();
        if (react) {
            react(token);
        }
    }

    void send(std::uint64_t token, int source, int destination, Bytes size) {
        backend_.send({HostId(source), HostId(destination), size, this, token});
    }

    std::vector<std::uint64_t> order;
    std::map<std::uint64_t, Time> times;
    std::function<void(std::uint64_t)> react;

private:
    NetworkBackend& backend_;
};

}  // namespace astrolabe::network
