#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include <astrolabe/core/units.hpp>

namespace astrolabe {
namespace {

struct Scale {
    std::int64_t factor;
    std::string_view unit;
};

/// The shortest of count/factor in every unit with at most three decimals and a whole part.
template <std::size_t Count>
std::string shortest(std::int64_t count, const std::array<Scale, Count>& scales) {
    std::string best = fmt::format("{}{}", count, scales.back().unit);
    for (const Scale& scale : scales) {
        const std::int64_t whole = count / scale.factor;
        const std::int64_t rest = count < 0 ? -(count % scale.factor) : count % scale.factor;
        std::int64_t power = 1;
        for (int decimals = 0; whole != 0 && decimals <= 3; ++decimals, power *= 10) {
            if (scale.factor % power != 0 || rest % (scale.factor / power) != 0) {
                continue;
            }
            std::string text =
                decimals == 0
                    ? fmt::format("{}{}", whole, scale.unit)
                    : fmt::format("{}.{:0{}}{}", whole, rest / (scale.factor / power), decimals, scale.unit);
            if (text.size() < best.size()) {
                best = std::move(text);
            }
            break;
        }
    }
    return best;
}

std::string readable_scaled(double value, std::array<std::string_view, 7> units) {
    std::size_t unit = 0;
    while (std::abs(value) >= 1000.0 && unit + 1 < units.size() && !units[unit + 1].empty()) {
        value /= 1000.0;
        ++unit;
    }
    return fmt::format("{:.4g} {}", value, units[unit]);
}

}  // namespace

std::string to_string(Time time) {
    static constexpr std::array<Scale, 5> kScales{
        {{kPicosecondsPerSecond, "s"}, {1'000'000'000, "ms"}, {1'000'000, "us"}, {1'000, "ns"}, {1, "ps"}}};
    return shortest(time.count(), kScales);
}

std::string to_string(Bytes size) {
    static constexpr std::array<Scale, 9> kScales{{{1'000'000'000'000, "TB"},
                                                   {std::int64_t{1} << 40, "TiB"},
                                                   {1'000'000'000, "GB"},
                                                   {std::int64_t{1} << 30, "GiB"},
                                                   {1'000'000, "MB"},
                                                   {std::int64_t{1} << 20, "MiB"},
                                                   {1'000, "KB"},
                                                   {std::int64_t{1} << 10, "KiB"},
                                                   {1, "B"}}};
    return shortest(size.count(), kScales);
}

std::string to_string(Bandwidth rate) {
    static constexpr std::array<Scale, 5> kScales{{{1'000'000'000'000, "Tbps"},
                                                   {1'000'000'000, "Gbps"},
                                                   {1'000'000, "Mbps"},
                                                   {1'000, "Kbps"},
                                                   {1, "bps"}}};
    return shortest(rate.count(), kScales);
}

std::string to_string(Flops work) {
    static constexpr std::array<Scale, 5> kScales{{{1'000'000'000'000, "TFLOP"},
                                                   {1'000'000'000, "GFLOP"},
                                                   {1'000'000, "MFLOP"},
                                                   {1'000, "KFLOP"},
                                                   {1, "FLOP"}}};
    return shortest(work.count(), kScales);
}

std::string to_string(FlopRate rate) {
    static constexpr std::array<Scale, 5> kScales{{{1'000'000'000'000, "TFLOPS"},
                                                   {1'000'000'000, "GFLOPS"},
                                                   {1'000'000, "MFLOPS"},
                                                   {1'000, "KFLOPS"},
                                                   {1, "FLOPS"}}};
    return shortest(rate.count(), kScales);
}

std::string readable(Time time) {
    if (time.count() >= kPicosecondsPerSecond) {
        return fmt::format("{:.4g} s", to_seconds(time));
    }
    return readable_scaled(static_cast<double>(time.count()), {"ps", "ns", "us", "ms", "s", "", ""});
}

std::string readable(Bytes size) {
    return readable_scaled(static_cast<double>(size.count()), {"B", "KB", "MB", "GB", "TB", "PB", "EB"});
}

}  // namespace astrolabe
