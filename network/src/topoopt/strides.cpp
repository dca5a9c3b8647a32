#include "strides.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::topoopt {

namespace {

bool is_prime(std::uint32_t number) {
    for (std::uint32_t divisor = 2; divisor <= number / divisor; ++divisor) {
        if (number % divisor == 0) {
            return false;
        }
    }
    return number >= 2;
}

/// Numbers p of which each may be taken again when all have been.
class Supply {
public:
    explicit Supply(std::vector<std::uint32_t> numbers)
        : numbers_(std::move(numbers)),
          is_taken_(numbers_.size(), 0) {}

    std::uint32_t take_nearest(double target) {
        begin();
        const std::size_t above = first_at_least(target);
        std::size_t upper = above;
        while (upper < numbers_.size() && is_taken_[upper] != 0) {
            ++upper;
        }
        std::size_t lower = above;  // one past it
        while (lower > 0 && is_taken_[lower - 1] != 0) {
            --lower;
        }
        if (lower == 0) {
            return take(upper);
        }
        if (upper == numbers_.size()) {
            return take(lower - 1);
        }
        const bool is_lower = target - numbers_[lower - 1] <= numbers_[upper] - target;
        return take(is_lower ? lower - 1 : upper);
    }

    std::uint32_t take_at_least(double target) {
        begin();
        std::size_t index = first_at_least(target);
        while (index < numbers_.size() && is_taken_[index] != 0) {
            ++index;
        }
        if (index == numbers_.size()) {
            do {
                --index;
            } while (is_taken_[index] != 0);
        }
        return take(index);
    }

    [[nodiscard]] std::uint32_t at_least(double target) const {
        return numbers_[std::min(first_at_least(target), numbers_.size() - 1)];
    }

private:
    [[nodiscard]] std::size_t first_at_least(double target) const {
        const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), target);
        return static_cast<std::size_t>(found - numbers_.begin());
    }

    void begin() {
        if (taken_ == numbers_.size()) {
            taken_ = 0;
            std::fill(is_taken_.begin(), is_taken_.end(), 0);
        }
    }

    std::uint32_t take(std::size_t index) {
        is_taken_[index] = 1;
        ++taken_;
        return numbers_[index];
    }

    std::vector<std::uint32_t> numbers_;
    std::vector<std::uint8_t> is_taken_;
    std::size_t taken_ = 0;
};

}  // namespace

std::vector<std::uint32_t> totient_strides(std::uint32_t servers, std::uint32_t members,
                                           Candidates candidates) {
    ASTROLABE_ASSERT(members >= 2 && servers % members == 0, "groups are equal parts of the servers");
    std::vector<std::uint32_t> strides;
    for (std::uint32_t p = 1; p < members; ++p) {
        if (std::gcd(p, members) == 1 && (p == 1 || candidates == Candidates::kAll || is_prime(p))) {
            strides.push_back(servers / members * p);
        }
    }
    return strides;
}

std::vector<std::uint32_t> select_strides(std::uint32_t servers, std::uint32_t members,
                                          Span<const std::uint32_t> candidates, const StrideChoice& choice) {
    const std::uint32_t spacing = servers / members;
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t candidate : candidates) {
        const std::uint32_t p = candidate / spacing;
        const bool is_other_way =
            choice.full_duplex && choice.selection == Selection::kNearest && p > members - p;
        if (!is_other_way) {
            numbers.push_back(p);
        }
    }
    ASTROLABE_ASSERT(!numbers.empty() && numbers.front() == 1, "1 is always a candidate");
    const bool is_nearest = choice.selection == Selection::kNearest;
    const std::uint32_t steps =
        is_nearest || choice.full_duplex ? choice.count : std::max(choice.count, 2U) - 1;
    const double ratio = std::pow(is_nearest ? members : numbers.back(), 1.0 / steps);
    Supply supply(std::move(numbers));
    std::vector<std::uint32_t> strides;
    for (std::uint32_t i = 0; i < choice.count; ++i) {
        const double target = std::pow(ratio, i);
        std::uint32_t p = 0;
        switch (choice.selection) {
            case Selection::kNearest:
                p = supply.take_nearest(target);
                break;
            case Selection::kAtLeast:
                p = supply.take_at_least(target);
                break;
            case Selection::kAtLeastRepeating:
                p = supply.at_least(target);
                break;
        }
        strides.push_back(spacing * p);
    }
    std::sort(strides.begin(), strides.end());
    return strides;
}

}  // namespace astrolabe::network::topoopt
