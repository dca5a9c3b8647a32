/// Small arithmetic on values of an experiment, for studies.
///
///     sum      = product { ("+" | "-") product }
///     product  = factor { ("*" | "/") factor }
///     factor   = "-" factor | "(" sum ")" | function "(" sum { "," sum } ")" | number [unit] | name
///     function = "min" | "max" | "floor" | "ceil" | "round"
///
/// A name is a dotted path of the experiment or a name of the study; a unit follows its number (100Gbps,
/// 900GB/s). Numbers are IEEE doubles. Units are not converted: what is added or compared has the same one,
/// a product at most one, and in a quotient they cancel, so that 400Gbps / 100Gbps is 4.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::study {

/// A number and its unit as it is written, none: "".
struct Amount {
    double number = 0;
    std::string unit;

    [[nodiscard]] bool operator==(const Amount&) const = default;
};

[[nodiscard]] Parsed<Amount> parse_amount(std::string_view text);
/// Whole numbers as such, others with twelve significant digits, which what `parse_amount` reads has.
[[nodiscard]] std::string to_string(const Amount& amount);

using AmountOf = std::function<Parsed<Amount>(std::string_view name)>;

/// O(length); errors say what is wrong with the expression or with what it needs.
[[nodiscard]] Parsed<Amount> evaluate(std::string_view expression, const AmountOf& amount_of);

}  // namespace astrolabe::study
