/// Traffic between the hosts of a rotor network, and when it arrives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::network::rotor {

struct HostPair {
    std::uint32_t source;
    std::uint32_t destination;
};

/// All ordered pairs of hosts for which `wanted(source, destination)`.
template <class Wanted>
std::vector<HostPair> pairs_where(std::uint32_t hosts, Wanted&& wanted) {
    std::vector<HostPair> pairs;
    for (std::uint32_t source = 0; source < hosts; ++source) {
        for (std::uint32_t destination = 0; destination < hosts; ++destination) {
            if (source != destination && wanted(source, destination)) {
                pairs.push_back({source, destination});
            }
        }
    }
    return pairs;
}

inline double mean_seconds(const std::vector<Time>& durations) {
    double sum = 0;
    for (const Time duration : durations) {
        sum += to_seconds(duration);
    }
    return sum / static_cast<double>(durations.size());
}

inline double last_seconds(const std::vector<Time>& durations) {
    return to_seconds(*std::max_element(durations.begin(), durations.end()));
}

/// One message of `size` and class for each pair, all sent at `start`: how long each took.
class RotorTraffic final : public NotificationHandler {
public:
    RotorTraffic(NetworkBackend& backend, std::vector<HostPair> pairs, Bytes size, Time start = Time(0),
                 std::uint8_t traffic_class = 0)
        : backend_(backend),
          pairs_(std::move(pairs)),
          size_(size),
          start_(start),
          traffic_class_(traffic_class) {
        backend.schedule(start, *this, pairs_.size());
    }

    void notify(std::uint64_t token) override {
        if (token < pairs_.size()) {
            durations[token] = backend_.now() - start_;
            ++delivered;
            return;
        }
        durations.assign(pairs_.size(), Time::max());
        std::vector<Message> messages;
        for (const auto& [source, destination] : pairs_) {
            messages.push_back(
                {HostId(source), HostId(destination), size_, this, messages.size(), traffic_class_});
        }
        backend_.send_batch(messages);
    }

    [[nodiscard]] Time last() const { return *std::max_element(durations.begin(), durations.end()); }
    /// The least duration that a share `part` of the messages does not exceed.
    [[nodiscard]] Time percentile(double part) const {
        std::vector<Time> sorted = durations;
        std::sort(sorted.begin(), sorted.end());
        return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
    }

    std::vector<Time> durations;  ///< Time::max() of those that did not arrive
    std::uint64_t delivered = 0;

private:
    NetworkBackend& backend_;
    std::vector<HostPair> pairs_;
    Bytes size_;
    Time start_;
    std::uint8_t traffic_class_;
};

}  // namespace astrolabe::network::rotor
