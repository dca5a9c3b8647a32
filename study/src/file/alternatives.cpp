#include "alternatives.hpp"

#include "arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <variant>

#include <fmt/format.h>

#include <astrolabe/core/limits.hpp>

namespace astrolabe::study {

enum class RangeScale : std::uint8_t { kLinear, kLog };

}  // namespace astrolabe::study

namespace astrolabe {

template <>
struct EnumNames<study::RangeScale> {
    static constexpr std::array<std::pair<std::string_view, study::RangeScale>, 2> kNames{
        {{"linear", study::RangeScale::kLinear}, {"log", study::RangeScale::kLog}}};
};

}  // namespace astrolabe

namespace astrolabe::study {
namespace {

constexpr std::int64_t kMostOfARange = 100'000;

struct RangeKeys {
    std::string from;
    std::string to;
    std::optional<std::int64_t> steps;
    std::optional<std::string> step;
    std::optional<double> factor;
    RangeScale scale = RangeScale::kLinear;
};

/// Amounts of the keys; what cannot be read is a problem.
struct RangeEnds {
    Amount from;
    Amount to;
    Amount step;
};

std::optional<ValidationError> read_ends(const RangeKeys& keys, RangeEnds& ends) {
    for (const auto& [key, text, end] :
         {std::tuple{"from", &keys.from, &ends.from}, std::tuple{"to", &keys.to, &ends.to}}) {
        Parsed<Amount> amount = parse_amount(*text);
        if (const auto* failure = std::get_if<ParseFailure>(&amount)) {
            return ValidationError{key, failure->message, "a range is of numbers or quantities"};
        }
        *end = std::get<Amount>(std::move(amount));
    }
    if (ends.from.unit != ends.to.unit) {
        return ValidationError{"to",
                               fmt::format("'{}' and '{}' do not have the same unit", keys.from, keys.to),
                               "write both ends in one unit, with the same prefix"};
    }
    if (ends.from.number >= ends.to.number) {
        return ValidationError{"to", fmt::format("'{}' is not above '{}'", keys.to, keys.from), ""};
    }
    if (keys.step) {
        Parsed<Amount> amount = parse_amount(*keys.step);
        const auto* step = std::get_if<Amount>(&amount);
        if (step == nullptr || step->unit != ends.from.unit || step->number <= 0) {
            return ValidationError{"step", fmt::format("'{}' is not a step from '{}'", *keys.step, keys.from),
                                   "write a positive amount in the unit of the ends"};
        }
        ends.step = *step;
    }
    return std::nullopt;
}

ValidationErrors range_errors(const RangeKeys& keys) {
    const int ways = (keys.steps ? 1 : 0) + (keys.step ? 1 : 0) + (keys.factor ? 1 : 0);
    if (ways != 1) {
        return {{"", "a range takes one of 'steps', 'step' and 'factor'",
                 "write {from: 1, to: 64, factor: 2} or {from: 1, to: 100, steps: 5, scale: log}"}};
    }
    if (keys.scale == RangeScale::kLog && !keys.steps) {
        return {{"scale", "'scale' goes with 'steps' only", "leave it out"}};
    }
    RangeEnds ends;
    if (std::optional<ValidationError> problem = read_ends(keys, ends)) {
        return {*std::move(problem)};
    }
    if ((keys.factor || keys.scale == RangeScale::kLog) && ends.from.number <= 0) {
        return {{"from", fmt::format("'{}' is not positive, and there is no ratio to it", keys.from), ""}};
    }
    const double count = keys.steps  ? static_cast<double>(*keys.steps)
                         : keys.step ? (ends.to.number - ends.from.number) / ends.step.number
                                     : std::log(ends.to.number / ends.from.number) / std::log(*keys.factor);
    if (count > static_cast<double>(kMostOfARange)) {
        return {{"", fmt::format("the range has more than {} values", kMostOfARange), "take larger steps"}};
    }
    return {};
}

Schema<RangeKeys> range_schema() {
    Schema<RangeKeys> schema("range", "values at even distances or ratios");
    schema.required("from", &RangeKeys::from, "the first")
        .required("to", &RangeKeys::to, "the last, or a bound on it")
        .optional("steps", &RangeKeys::steps, "number of values", {2, kMostOfARange})
        .optional("step", &RangeKeys::step, "what a value is above the one before")
        .optional("factor", &RangeKeys::factor, "of a value to the one before", {1 + 1e-6, 1e18})
        .optional("scale", &RangeKeys::scale, "of 'steps': even distances, or even ratios")
        .check(range_errors);
    return schema;
}

/// Nothing where the study has too many values: that is reported once, and no range after it is expanded.
std::optional<std::vector<Alternative>> values_of(const RangeKeys& keys, const SourceRange& where,
                                                  ReadContext& context) {
    ReadUsage& usage = context.usage();
    if (usage.is_exceeded()) {
        return std::nullopt;
    }
    RangeEnds ends;
    static_cast<void>(read_ends(keys, ends));  // it was checked
    const auto is_whole = [](double number) { return number == std::trunc(number); };
    const double from = ends.from.number;
    const double to = ends.to.number;
    std::vector<double> numbers;
    if (keys.steps) {
        const bool rounds = ends.from.unit.empty() && is_whole(from) && is_whole(to);
        for (std::int64_t i = 0; i < *keys.steps; ++i) {
            const double share = static_cast<double>(i) / static_cast<double>(*keys.steps - 1);
            const double number = keys.scale == RangeScale::kLog ? from * std::pow(to / from, share)
                                                                 : from + (to - from) * share;
            numbers.push_back(rounds ? std::round(number) : number);
        }
    } else {
        constexpr double kRounding = 1 + 1e-9;
        for (std::int64_t i = 0; i <= kMostOfARange; ++i) {
            const double number = keys.step ? from + static_cast<double>(i) * ends.step.number
                                            : from * std::pow(*keys.factor, static_cast<double>(i));
            if (number > to * (to > 0 ? kRounding : 1 / kRounding)) {
                break;
            }
            numbers.push_back(number);
        }
    }
    std::vector<Alternative> values;
    for (const double number : numbers) {
        std::string text = to_string(Amount{number, ends.from.unit});
        if (!values.empty() && values.back().label == text) {
            continue;
        }
        ++usage.values;
        if (usage.is_exceeded()) {
            context.error("config.limit", where,
                          fmt::format("value {} of this range is value {} of the study, expected at most {}",
                                      values.size() + 1, usage.values, limits::kValues),
                          "take larger steps, or give fewer ranges");
            return std::nullopt;
        }
        ConfigNode value = ConfigNode::scalar(text);
        value.where = where;
        values.push_back({std::move(text), std::move(value), false});
    }
    return values;
}

bool report_twice(const std::vector<Alternative>& values, const std::string& path, ReadContext& context) {
    const std::size_t before = context.error_count();
    std::set<std::string> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!seen.insert(to_yaml(values[i].value)).second) {
            context.error("config.choice", values[i].value.where,
                          fmt::format("alternative {} of '{}' is there twice", i + 1, path),
                          "list every alternative once");
        }
    }
    return context.error_count() != before;
}

}  // namespace

std::string one_line(const ConfigNode& node) {
    std::string text;
    if (node.is_mapping()) {
        for (const ConfigEntry& entry : node.entries) {
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", entry.key, one_line(entry.value));
        }
        return "{" + text + "}";
    }
    if (node.is_sequence()) {
        for (const ConfigNode& item : node.items) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", one_line(item));
        }
        return "[" + text + "]";
    }
    return node.text;
}

std::optional<Alternatives> read_alternatives(const ConfigEntry& entry, ReadContext& context,
                                              SameValues same) {
    const ConfigNode& given = entry.value;
    Alternatives read{entry.key, entry.key_where, {}};
    if (given.is_mapping() && given.find("from") != nullptr) {
        const std::optional<RangeKeys> keys = range_schema().read(given, context);
        if (!keys) {
            return std::nullopt;
        }
        std::optional<std::vector<Alternative>> values = values_of(*keys, given.where, context);
        if (!values) {
            return std::nullopt;
        }
        read.values = *std::move(values);
        return read;
    }
    for (const ConfigNode& item : given.items) {
        read.values.push_back({one_line(item), item, false});
    }
    for (const ConfigEntry& named : given.entries) {
        read.values.push_back({named.key, named.value, true});
    }
    if (given.is_scalar() || read.values.empty()) {
        context.error("config.type", given.where, fmt::format("'{}' takes a list of alternatives", entry.key),
                      fmt::format("write {}: [a, b], or {{name: value}} to name them", entry.key));
        return std::nullopt;
    }
    if (same == SameValues::kRefused && report_twice(read.values, entry.key, context)) {
        return std::nullopt;
    }
    return read;
}

}  // namespace astrolabe::study
