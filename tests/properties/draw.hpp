/// Random draws that are the same on every machine: the standard's distributions are not.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

namespace astrolabe::testing {

class Draw {
public:
    explicit Draw(std::uint64_t seed)
        : engine_(seed) {}

    /// From `least` to `most`, both included, all as likely (but for 2^-64 of their number).
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
    }
    /// True once in `times`.
    bool once_in(std::int64_t times) { return between(1, times) == 1; }
    template <class T>
    T of(std::initializer_list<T> values) {
        return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
    }
    /// A power of two times 1 to 2, each power as likely.
    std::int64_t spread(std::int64_t least_power, std::int64_t most_power) {
        const std::int64_t power = std::int64_t{1} << between(least_power, most_power);
        return once_in(2) ? power : between(power, 2 * power);
    }
    template <class T>
    void shuffle(std::vector<T>& values) {
        for (std::size_t i = values.size(); i > 1; --i) {
            std::swap(values[i - 1],
                      values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1))]);
        }
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace astrolabe::testing
