/// The least of many values that change often, each known by a number.
///
/// A tree over the numbers: a node holds the least of the eight values below it, which fill one line of
/// cache. Eight are compared without a branch, as which one is the least cannot be predicted.
///
/// Complexity: O(1) to read, O(log8 count) to set. Memory: 9.2 bytes for each, rounded up to eights.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace astrolabe::network {

/// Of numbers of eight bytes.
template <class Value>
class MinimumTree {
public:
    /// Not less than any.
    static constexpr Value kNothing = std::numeric_limits<Value>::has_infinity
                                          ? std::numeric_limits<Value>::infinity()
                                          : std::numeric_limits<Value>::max();

    /// All of them are nothing.
    explicit MinimumTree(std::size_t count) {
        do {
            count = (count + kBelow - 1) / kBelow;
            levels_.emplace_back(std::max<std::size_t>(count, 1));
        } while (count > 1);
    }

    [[nodiscard]] Value least() const { return levels_.back().front().least(); }

    void set(std::size_t number, Value value) {
        for (std::vector<Node>& level : levels_) {
            Node& node = level[number / kBelow];
            Value& known = node.values[number % kBelow];
            if (known == value) {
                return;  // nothing above changes: most often where many are set to one value in turn
            }
            known = value;
            value = node.least();
            number /= kBelow;
        }
    }

    /// The smallest number that has the least value, which is not nothing.
    [[nodiscard]] std::uint32_t first_least() const {
        const Value value = least();
        std::size_t number = 0;
        for (std::size_t level = levels_.size(); level-- > 0;) {
            number = number * kBelow + levels_[level][number].place_of(value);
        }
        return static_cast<std::uint32_t>(number);
    }

    /// Calls visit(number) for those that have the least value, in the order of numbers; for none where it is
    /// nothing. `visit` sets none.
    template <class Visit>
    void for_each_least(Visit&& visit) const {
        if (least() < kNothing) {
            descend(levels_.size() - 1, 0, least(), visit);
        }
    }

private:
    static constexpr std::size_t kBelow = 8;

    struct alignas(64) Node {
        std::array<Value, kBelow> values;

        Node() { values.fill(kNothing); }
        [[nodiscard]] Value least() const {
            const auto of_two = [this](std::size_t i) { return std::min(values[i], values[i + 1]); };
            return std::min(std::min(of_two(0), of_two(2)), std::min(of_two(4), of_two(6)));
        }
        [[nodiscard]] std::size_t place_of(Value value) const {
            std::size_t place = kBelow - 1;
            for (std::size_t i = kBelow - 1; i-- > 0;) {
                place = values[i] == value ? i : place;
            }
            return place;
        }
        /// A bit for each place that has the value.
        [[nodiscard]] unsigned places_of(Value value) const {
            unsigned places = 0;
            for (unsigned i = 0; i < kBelow; ++i) {
                places |= static_cast<unsigned>(values[i] == value) << i;
            }
            return places;
        }
    };

    template <class Visit>
    void descend(std::size_t level, std::size_t place, Value value, Visit& visit) const {
        unsigned places = levels_[level][place].places_of(value);
        // Down as long as one place alone has it, asked without counting bits: that is a call where the
        // machine may have no instruction for it.
        while (level > 0 && (places & (places - 1)) == 0) {
            place = place * kBelow + static_cast<std::size_t>(std::countr_zero(places));
            places = levels_[--level][place].places_of(value);
        }
        for (; places != 0; places &= places - 1) {
            const std::size_t number = place * kBelow + static_cast<std::size_t>(std::countr_zero(places));
            if (level == 0) {
                visit(static_cast<std::uint32_t>(number));
            } else {
                descend(level - 1, number, value, visit);
            }
        }
    }

    std::vector<std::vector<Node>> levels_;  // from the numbers to the root
};

}  // namespace astrolabe::network
