/// Reading quantities: a number followed by a unit, exactly.
///
/// Grammar: `number unit`, optional blanks between; number is decimal digits with an optional fraction and an
/// optional exponent ("0.5", "1e-3"). Prefixes: k/K 1e3, M, G, T, P, E decimal; Ki, Mi, Gi, Ti, Pi binary;
/// for time m, u (or µ), n, p below one.
///   time      s ms us ns ps, min, h
///   bytes     B with any prefix; b (bit) is accepted where the result is whole bytes
///   bandwidth bps, b/s (bits) and B/s, Bps (bytes) with any prefix
///   work      FLOP, FLOPs          rate of work  FLOPS, FLOP/s
/// `0` needs no unit. The value must be a whole number of base units (picoseconds, bytes, bit/s); anything
/// finer is an error rather than rounded. Parsing is exact: no floating point takes part.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <astrolabe/core/units.hpp>

namespace astrolabe {

/// Why a text is not the quantity it should be.
struct ParseFailure {
    std::string message;  ///< "'10Gb' has no unit of bandwidth"
    std::string hint;     ///< "write 10Gbps"
};

template <class T>
using Parsed = std::variant<T, ParseFailure>;

[[nodiscard]] Parsed<Time> parse_time(std::string_view text);
[[nodiscard]] Parsed<Bytes> parse_bytes(std::string_view text);
[[nodiscard]] Parsed<Bandwidth> parse_bandwidth(std::string_view text);
[[nodiscard]] Parsed<Flops> parse_flops(std::string_view text);
[[nodiscard]] Parsed<FlopRate> parse_flop_rate(std::string_view text);

/// Decimal digits with an optional sign: "010" is ten, "1_000", "0x10" and "1.0" are errors.
[[nodiscard]] Parsed<std::int64_t> parse_integer(std::string_view text);
/// A finite decimal number.
[[nodiscard]] Parsed<double> parse_number(std::string_view text);
/// "true" or "false" and nothing else.
[[nodiscard]] Parsed<bool> parse_flag(std::string_view text);

}  // namespace astrolabe
