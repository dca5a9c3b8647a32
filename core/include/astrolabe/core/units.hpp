/// Quantities with their dimension in the type.
///
/// Model: every quantity is an integer count of its base unit — time in picoseconds, data in bytes, rates
/// in bits per second, work in floating-point operations — so sums are exact and two machines agree.
/// Only products of different dimensions exist that mean something: `Bytes / Bandwidth` is a `Time`,
/// `Bytes + Bandwidth` does not compile.
///
/// Rounding, the one place it happens: a duration derived from a division is rounded *up* to the next
/// picosecond, with a 128-bit intermediate, so that no transfer is ever faster than its link.
///
/// Range: time up to 106 days, data up to 8 EiB, rates up to 9.2 Ebit/s.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

namespace astrolabe {

namespace detail {

__extension__ typedef __int128 Int128;

/// ceil(a * b / c) for non-negative values; saturates at the largest representable count.
constexpr std::int64_t multiply_divide_up(std::int64_t a, std::int64_t b, std::int64_t c) {
    const Int128 quotient = (static_cast<Int128>(a) * b + (c - 1)) / c;
    constexpr Int128 kLimit = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(quotient < kLimit ? quotient : kLimit);
}

/// A count of one base unit; `Tag` makes the dimension. Arithmetic stays inside the dimension.
template <class Tag>
class Quantity {
public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(std::int64_t count)
        : count_(count) {}

    [[nodiscard]] constexpr std::int64_t count() const { return count_; }
    [[nodiscard]] static constexpr Quantity max() {
        return Quantity(std::numeric_limits<std::int64_t>::max());
    }

    friend constexpr auto operator<=>(Quantity, Quantity) = default;
    constexpr Quantity& operator+=(Quantity other) {
        count_ += other.count_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        count_ -= other.count_;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.count_ + b.count_); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.count_ - b.count_); }
    template <std::integral Factor>
    friend constexpr Quantity operator*(Quantity a, Factor k) {
        return Quantity(a.count_ * static_cast<std::int64_t>(k));
    }
    template <std::integral Factor>
    friend constexpr Quantity operator*(Factor k, Quantity a) {
        return a * k;
    }
    template <std::integral Divisor>
    friend constexpr Quantity operator/(Quantity a, Divisor k) {
        return Quantity(a.count_ / static_cast<std::int64_t>(k));
    }
    friend constexpr std::int64_t operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }
    friend constexpr Quantity operator%(Quantity a, Quantity b) { return Quantity(a.count_ % b.count_); }

private:
    std::int64_t count_ = 0;
};

}  // namespace detail

using Time = detail::Quantity<struct TimeTag>;            ///< picoseconds
using Bytes = detail::Quantity<struct BytesTag>;          ///< bytes
using Bandwidth = detail::Quantity<struct BandwidthTag>;  ///< bits per second
using Flops = detail::Quantity<struct FlopsTag>;          ///< floating-point operations
using FlopRate = detail::Quantity<struct FlopRateTag>;    ///< floating-point operations per second

inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

/// Time::max() where 64 bits do not hold the sum.
constexpr Time saturating_sum(Time time, Time by) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(time.count(), by.count(), &sum) ? Time::max() : Time(sum);
}

/// Serialisation time of `size` at `rate` > 0, rounded up to the next picosecond.
constexpr Time operator/(Bytes size, Bandwidth rate) {
    return Time(detail::multiply_divide_up(size.count(), 8 * kPicosecondsPerSecond, rate.count()));
}

/// Duration of `work` at `rate` > 0, rounded up to the next picosecond.
constexpr Time operator/(Flops work, FlopRate rate) {
    return Time(detail::multiply_divide_up(work.count(), kPicosecondsPerSecond, rate.count()));
}

/// Value in seconds, for reports; never fed back into a model.
constexpr double to_seconds(Time time) {
    return static_cast<double>(time.count()) / static_cast<double>(kPicosecondsPerSecond);
}
constexpr double to_nanoseconds(Time time) {
    return static_cast<double>(time.count()) / 1e3;
}
constexpr double to_bytes_per_second(Bandwidth rate) {
    return static_cast<double>(rate.count()) / 8.0;
}

/// The shortest text with a unit that the quantity parser reads back to the same count: "1.5us", "64MiB",
/// "100Gbps".
[[nodiscard]] std::string to_string(Time time);
[[nodiscard]] std::string to_string(Bytes size);
[[nodiscard]] std::string to_string(Bandwidth rate);
[[nodiscard]] std::string to_string(Flops work);
[[nodiscard]] std::string to_string(FlopRate rate);

/// A duration for people, four significant digits: "1.235 ms". Not exact; use to_string for files.
[[nodiscard]] std::string readable(Time time);
/// A size for people, four significant digits, decimal: "4.194 MB".
[[nodiscard]] std::string readable(Bytes size);

inline namespace literals {
constexpr Time operator""_ps(unsigned long long n) {
    return Time(static_cast<std::int64_t>(n));
}
constexpr Time operator""_ns(unsigned long long n) {
    return Time(static_cast<std::int64_t>(n) * 1'000);
}
constexpr Time operator""_us(unsigned long long n) {
    return Time(static_cast<std::int64_t>(n) * 1'000'000);
}
constexpr Time operator""_ms(unsigned long long n) {
    return Time(static_cast<std::int64_t>(n) * 1'000'000'000);
}
constexpr Time operator""_s(unsigned long long n) {
    return Time(static_cast<std::int64_t>(n) * kPicosecondsPerSecond);
}
constexpr Bytes operator""_B(unsigned long long n) {
    return Bytes(static_cast<std::int64_t>(n));
}
constexpr Bytes operator""_KiB(unsigned long long n) {
    return Bytes(static_cast<std::int64_t>(n) << 10);
}
constexpr Bytes operator""_MiB(unsigned long long n) {
    return Bytes(static_cast<std::int64_t>(n) << 20);
}
constexpr Bytes operator""_GiB(unsigned long long n) {
    return Bytes(static_cast<std::int64_t>(n) << 30);
}
constexpr Bytes operator""_KB(unsigned long long n) {
    return Bytes(static_cast<std::int64_t>(n) * 1'000);
}
constexpr Bytes operator""_MB(unsigned long long n) {
    return Bytes(static_cast<std::int64_t>(n) * 1'000'000);
}
constexpr Bytes operator""_GB(unsigned long long n) {
    return Bytes(static_cast<std::int64_t>(n) * 1'000'000'000);
}
constexpr Bandwidth operator""_bps(unsigned long long n) {
    return Bandwidth(static_cast<std::int64_t>(n));
}
constexpr Bandwidth operator""_Mbps(unsigned long long n) {
    return Bandwidth(static_cast<std::int64_t>(n) * 1'000'000);
}
constexpr Bandwidth operator""_Gbps(unsigned long long n) {
    return Bandwidth(static_cast<std::int64_t>(n) * 1'000'000'000);
}
constexpr Flops operator""_FLOP(unsigned long long n) {
    return Flops(static_cast<std::int64_t>(n));
}
constexpr FlopRate operator""_GFLOPS(unsigned long long n) {
    return FlopRate(static_cast<std::int64_t>(n) * 1'000'000'000);
}
constexpr FlopRate operator""_TFLOPS(unsigned long long n) {
    return FlopRate(static_cast<std::int64_t>(n) * 1'000'000'000'000);
}
}  // namespace literals

}  // namespace astrolabe
