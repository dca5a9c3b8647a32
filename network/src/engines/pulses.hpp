/// When an engine calls its watcher (RunWatcher): a comparison for each step of its loop, and nothing else.
#pragma once

#include <cstdint>
#include <limits>

#include <astrolabe/network/backend.hpp>

namespace astrolabe::network {

class Pulses {
public:
    void watch(RunWatcher& watcher) {
        watcher_ = &watcher;
        due_at_ = 0;
    }
    [[nodiscard]] bool are_due(std::uint64_t events) const { return events >= due_at_; }
    /// `events` is how many the engine has processed.
    void events(std::uint64_t events) {
        if (are_due(events)) {
            due_at_ = events + watcher_->pulse();
        }
    }

private:
    RunWatcher* watcher_ = nullptr;
    std::uint64_t due_at_ = std::numeric_limits<std::uint64_t>::max();  // nobody watches
};

}  // namespace astrolabe::network
