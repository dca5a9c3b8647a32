#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe {
namespace {

using detail::Int128;

/// digits · 10^exponent, exact.
struct Decimal {
    Int128 digits = 0;
    int exponent = 0;
};

/// A unit as numerator/denominator base units.
struct Unit {
    std::string name;
    std::int64_t numerator = 1;
    std::int64_t denominator = 1;
};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

/// Reads "12", "0.5", "1e-3", "-4" off the front of `text`; nothing if there is no number or more than 30
/// digits.
std::optional<Decimal> take_decimal(std::string_view& text) {
    constexpr int kMaxDigits = 30;
    std::string_view rest = text;
    Decimal value;
    bool negative = false;
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
        negative = rest.front() == '-';
        rest.remove_prefix(1);
    }
    int digits = 0;
    bool seen = false;
    bool fraction = false;
    while (!rest.empty() && (is_digit(rest.front()) || (rest.front() == '.' && !fraction))) {
        if (rest.front() == '.') {
            fraction = true;
        } else {
            seen = true;
            if (value.digits != 0 || rest.front() != '0') {
                ++digits;
            }
            if (digits > kMaxDigits) {
                return std::nullopt;
            }
            value.digits = value.digits * 10 + (rest.front() - '0');
            value.exponent -= fraction ? 1 : 0;
        }
        rest.remove_prefix(1);
    }
    if (!seen) {
        return std::nullopt;
    }
    // An exponent only where digits follow: "1EB" is an exabyte.
    if (rest.size() >= 2 && (rest.front() == 'e' || rest.front() == 'E')) {
        const std::size_t sign = rest[1] == '-' || rest[1] == '+' ? 1 : 0;
        if (rest.size() > 1 + sign && is_digit(rest[1 + sign])) {
            int exponent = 0;
            std::size_t at = 1 + sign;
            for (; at < rest.size() && is_digit(rest[at]); ++at) {
                exponent = std::min(exponent * 10 + (rest[at] - '0'), 1000);
            }
            value.exponent += rest[1] == '-' ? -exponent : exponent;
            rest.remove_prefix(at);
        }
    }
    value.digits = negative ? -value.digits : value.digits;
    text = rest;
    return value;
}

enum class Scaling { kExact, kTooFine, kTooLarge };

Scaling scale(Decimal value, const Unit& unit, std::int64_t& count) {
    constexpr Int128 kLimit = std::numeric_limits<std::int64_t>::max();
    constexpr Int128 kRoom = static_cast<Int128>(1) << 125;
    count = 0;
    if (value.digits == 0) {
        return Scaling::kExact;
    }
    while (value.exponent < 0 && value.digits % 10 == 0) {
        value.digits /= 10;
        ++value.exponent;
    }
    Int128 numerator = value.digits;
    std::int64_t factor = unit.numerator;
    // Cancel powers of ten against the unit before multiplying, so that 0.000001s does not overflow.
    while (value.exponent < 0 && factor % 10 == 0) {
        factor /= 10;
        ++value.exponent;
    }
    const auto magnitude = [](Int128 x) { return x < 0 ? -x : x; };
    if (magnitude(numerator) > kRoom / factor) {
        return Scaling::kTooLarge;
    }
    numerator *= factor;
    for (; value.exponent > 0; --value.exponent) {
        if (magnitude(numerator) > kRoom / 10) {
            return Scaling::kTooLarge;
        }
        numerator *= 10;
    }
    for (; value.exponent < 0; ++value.exponent) {
        if (numerator % 10 != 0) {
            return Scaling::kTooFine;
        }
        numerator /= 10;
    }
    if (numerator % unit.denominator != 0) {
        return Scaling::kTooFine;
    }
    numerator /= unit.denominator;
    if (magnitude(numerator) > kLimit) {
        return Scaling::kTooLarge;
    }
    count = static_cast<std::int64_t>(numerator);
    return Scaling::kExact;
}

struct Dimension {
    std::string_view name;     ///< "bandwidth"
    std::string_view example;  ///< "100Gbps"
    std::string_view base;     ///< "1 bit/s"
    std::span<const Unit> units;
};

/// Every prefix on each of `bases`; a base's numerator/denominator is that of the unprefixed unit.
std::vector<Unit> with_prefixes(std::span<const Unit> bases) {
    struct Prefix {
        std::string_view name;
        std::int64_t factor;
    };
    static constexpr std::array<Prefix, 14> kPrefixes{{{"", 1},
                                                       {"k", 1'000},
                                                       {"K", 1'000},
                                                       {"M", 1'000'000},
                                                       {"G", 1'000'000'000},
                                                       {"T", 1'000'000'000'000},
                                                       {"P", 1'000'000'000'000'000},
                                                       {"E", 1'000'000'000'000'000'000},
                                                       {"Ki", std::int64_t{1} << 10},
                                                       {"Mi", std::int64_t{1} << 20},
                                                       {"Gi", std::int64_t{1} << 30},
                                                       {"Ti", std::int64_t{1} << 40},
                                                       {"Pi", std::int64_t{1} << 50},
                                                       {"Ei", std::int64_t{1} << 60}}};
    std::vector<Unit> units;
    for (const Unit& base : bases) {
        for (const Prefix& prefix : kPrefixes) {
            // 8 bits a byte on top of the largest prefixes would leave 64 bits; such values are out of range
            // anyway.
            if (prefix.factor <= std::numeric_limits<std::int64_t>::max() / base.numerator) {
                units.push_back(
                    {std::string(prefix.name) + base.name, prefix.factor * base.numerator, base.denominator});
            }
        }
    }
    return units;
}

template <class T>
Parsed<T> parse_quantity(std::string_view text, const Dimension& dimension) {
    const std::string_view whole = trim(text);
    std::string_view rest = whole;
    const std::optional<Decimal> value = take_decimal(rest);
    if (!value) {
        return ParseFailure{fmt::format("'{}' is not a {}", whole, dimension.name),
                            fmt::format("write a number with a unit, such as {}", dimension.example)};
    }
    const std::string_view unit_name = trim(rest);
    if (unit_name.empty()) {
        if (value->digits == 0) {
            return T(0);
        }
        return ParseFailure{fmt::format("'{}' has no unit, expected a {}", whole, dimension.name),
                            fmt::format("write a unit, such as {}", dimension.example)};
    }
    for (const Unit& unit : dimension.units) {
        if (unit.name != unit_name) {
            continue;
        }
        std::int64_t count = 0;
        switch (scale(*value, unit, count)) {
            case Scaling::kExact:
                return T(count);
            case Scaling::kTooFine:
                return ParseFailure{fmt::format("'{}' is not a whole multiple of {}", whole, dimension.base),
                                    fmt::format("the finest {} is {}", dimension.name, dimension.base)};
            case Scaling::kTooLarge:
                return ParseFailure{fmt::format("'{}' is out of range for a {}", whole, dimension.name),
                                    fmt::format("the largest is about {}", to_string(T::max()))};
        }
    }
    std::vector<std::string> names;
    for (const Unit& unit : dimension.units) {
        names.push_back(unit.name);
    }
    const std::vector<std::string> near = nearest_names(unit_name, names);
    return ParseFailure{fmt::format("'{}' is not a unit of {}", unit_name, dimension.name),
                        near.empty() ? fmt::format("write it like {}", dimension.example)
                                     : fmt::format("did you mean '{}'? ({} is written like {})", near.front(),
                                                   dimension.name, dimension.example)};
}

}  // namespace

Parsed<Time> parse_time(std::string_view text) {
    static const std::vector<Unit> kUnits{{"s", kPicosecondsPerSecond},
                                          {"ms", 1'000'000'000},
                                          {"us", 1'000'000},
                                          {"µs", 1'000'000},
                                          {"ns", 1'000},
                                          {"ps", 1},
                                          {"min", 60 * kPicosecondsPerSecond},
                                          {"h", 3600 * kPicosecondsPerSecond}};
    return parse_quantity<Time>(text, {"time", "10us", "1ps", kUnits});
}

Parsed<Bytes> parse_bytes(std::string_view text) {
    static const std::vector<Unit> kUnits = with_prefixes(std::array<Unit, 2>{{{"B", 1, 1}, {"b", 1, 8}}});
    return parse_quantity<Bytes>(text, {"size", "64MiB", "1B", kUnits});
}

Parsed<Bandwidth> parse_bandwidth(std::string_view text) {
    static const std::vector<Unit> kUnits = with_prefixes(
        std::array<Unit, 5>{{{"bps", 1, 1}, {"b/s", 1, 1}, {"bit/s", 1, 1}, {"B/s", 8, 1}, {"Bps", 8, 1}}});
    return parse_quantity<Bandwidth>(text, {"bandwidth", "100Gbps", "1bps", kUnits});
}

Parsed<Flops> parse_flops(std::string_view text) {
    static const std::vector<Unit> kUnits =
        with_prefixes(std::array<Unit, 2>{{{"FLOP", 1, 1}, {"FLOPs", 1, 1}}});
    return parse_quantity<Flops>(text, {"work", "638MFLOP", "1FLOP", kUnits});
}

Parsed<FlopRate> parse_flop_rate(std::string_view text) {
    static const std::vector<Unit> kUnits =
        with_prefixes(std::array<Unit, 3>{{{"FLOPS", 1, 1}, {"FLOP/s", 1, 1}, {"FLOPs/s", 1, 1}}});
    return parse_quantity<FlopRate>(text, {"compute rate", "60TFLOPS", "1FLOPS", kUnits});
}

Parsed<std::int64_t> parse_integer(std::string_view text) {
    const std::string_view whole = trim(text);
    std::string_view digits = whole;
    if (digits.starts_with('+')) {
        digits.remove_prefix(1);
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) {
        return ParseFailure{fmt::format("'{}' is out of range for an integer", whole),
                            "the largest is 2^63 - 1"};
    }
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) {
        return ParseFailure{fmt::format("'{}' is not an integer", whole),
                            "write decimal digits only, such as 128"};
    }
    return value;
}

Parsed<double> parse_number(std::string_view text) {
    const std::string_view whole = trim(text);
    double value = 0;
    const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
    if (error != std::errc{} || end != whole.data() + whole.size() || !std::isfinite(value)) {
        return ParseFailure{fmt::format("'{}' is not a finite number", whole),
                            "write a decimal number, such as 0.5"};
    }
    return value;
}

Parsed<bool> parse_flag(std::string_view text) {
    const std::string_view whole = trim(text);
    if (whole == "true") {
        return true;
    }
    if (whole == "false") {
        return false;
    }
    return ParseFailure{fmt::format("'{}' is neither true nor false", whole), "write true or false"};
}

}  // namespace astrolabe
