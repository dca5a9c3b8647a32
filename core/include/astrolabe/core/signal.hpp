/// Observers: a model emits, and does not depend on its listeners (statistics, timeline, progress,
/// fingerprint). An unobserved signal costs one test of an empty vector.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace astrolabe {

template <class... Arguments>
class Signal {
public:
    /// Listeners are called in the order they were connected and live as long as the signal.
    void connect(std::function<void(Arguments...)> listener) { listeners_.push_back(std::move(listener)); }
    void emit(Arguments... arguments) const {
        for (const auto& listener : listeners_) {
            listener(arguments...);
        }
    }
    [[nodiscard]] bool observed() const { return !listeners_.empty(); }

private:
    std::vector<std::function<void(Arguments...)>> listeners_;
};

}  // namespace astrolabe
