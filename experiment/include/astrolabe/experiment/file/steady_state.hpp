/// The section `steady_state`: a run whose iterations repeat simulates no more of them than it has to.
///
///     steady_state: {}                     what repeats exactly
///     steady_state: {tolerance: 0.5 %}     and what takes as long, but for that
///
/// docs/models/steady-state.md says what is proven and what is measured.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::experiment {

struct Percentage {
    double percent = 0;

    [[nodiscard]] double part() const { return percent / 100.0; }
    friend auto operator<=>(const Percentage&, const Percentage&) = default;
};

struct SteadyState {
    /// By how much the longest of `window` iterations may be longer than the shortest; 0: only what is known
    /// to repeat exactly is left out.
    Percentage tolerance;
    int window = 3;
    SourceRange where;  ///< of the section
};

/// The keys of the section.
[[nodiscard]] Schema<SteadyState> steady_state_schema();

}  // namespace astrolabe::experiment

namespace astrolabe {

template <>
struct ValueTraits<experiment::Percentage> {
    static std::string type() { return "percentage"; }
    static Parsed<experiment::Percentage> parse(std::string_view text) {
        constexpr const char* kHint = "write a number and %, such as 0.5 %";
        if (text.empty() || text.back() != '%') {
            return ParseFailure{fmt::format("'{}' is no percentage", text), kHint};
        }
        text.remove_suffix(1);
        while (!text.empty() && text.back() == ' ') {
            text.remove_suffix(1);
        }
        const Parsed<double> number = parse_number(text);
        if (const auto* failure = std::get_if<ParseFailure>(&number)) {
            return ParseFailure{failure->message, kHint};
        }
        return experiment::Percentage{std::get<double>(number)};
    }
    static std::string format(experiment::Percentage value) {
        return ValueTraits<double>::format(value.percent) + " %";
    }
};

}  // namespace astrolabe
