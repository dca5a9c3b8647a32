#include "study_axes.hpp"

#include "../file/study_points.hpp"
#include "parameter_labels.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSeed = "seed";
constexpr const char* kNetwork = "network";
constexpr const char* kRanks = "cluster.ranks";

/// By point.
using Column = std::vector<std::string>;

std::string value_of(const StudyRow& row, const std::string& name) {
    const auto value = row.point.parameters.find(name);
    return value == row.point.parameters.end() ? "" : value_text(*value);
}

/// The network first, for it stands for what varies with it.
std::vector<std::string> parameter_names(const std::vector<StudyRow>& rows) {
    std::vector<std::string> names = parameters_of(rows);
    std::stable_partition(names.begin(), names.end(),
                          [](const std::string& name) { return name == kNetwork; });
    return names;
}

/// Whether a column says nothing that the groups of points do not say; else the groups are parted by it.
bool follows(const Column& column, std::vector<std::size_t>& groups) {
    std::map<std::pair<std::size_t, std::string>, std::size_t> parts;
    std::set<std::size_t> before(groups.begin(), groups.end());
    std::vector<std::size_t> parted(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        parted[i] = parts.try_emplace({groups[i], column[i]}, parts.size()).first->second;
    }
    if (parts.size() == before.size()) {
        return true;
    }
    groups = std::move(parted);
    return false;
}

struct Number {
    double value;
    std::string_view unit;  ///< empty of a number alone
};

/// Of a quantity in the unit of its kind.
template <class Quantity>
std::optional<Number> in_unit(const Parsed<Quantity>& parsed, std::string_view unit) {
    const auto* quantity = std::get_if<Quantity>(&parsed);
    return quantity == nullptr ? std::nullopt
                               : std::optional(Number{static_cast<double>(quantity->count()), unit});
}

std::optional<Number> number_of(const std::string& text) {
    if (const auto number = parse_number(text); std::holds_alternative<double>(number)) {
        return Number{std::get<double>(number), ""};
    }
    if (const auto time = parse_time(text); std::holds_alternative<Time>(time)) {
        return Number{to_seconds(std::get<Time>(time)), "s"};
    }
    for (const std::optional<Number>& number :
         {in_unit(parse_bytes(text), "B"), in_unit(parse_bandwidth(text), "bit/s"),
          in_unit(parse_flops(text), "FLOP"), in_unit(parse_flop_rate(text), "FLOP/s")}) {
        if (number) {
            return number;
        }
    }
    return std::nullopt;
}

/// Whether there is one unit in all, which 0 need not have.
bool have_one_unit(const std::vector<Number>& numbers) {
    std::set<std::string_view> units;
    for (const Number& number : numbers) {
        if (number.value != 0 || !number.unit.empty()) {
            units.insert(number.unit);
        }
    }
    return units.size() <= 1;
}

void make_numeric(Dimension& dimension) {
    std::vector<Number> numbers;
    for (const std::string& value : dimension.values) {
        const std::optional<Number> number = number_of(value);
        if (!number) {
            return;
        }
        numbers.push_back(*number);
    }
    if (!have_one_unit(numbers)) {
        return;
    }
    std::vector<std::size_t> order(numbers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return numbers[a].value < numbers[b].value; });
    const std::vector<std::string> values = dimension.values;
    for (std::size_t i = 0; i < order.size(); ++i) {
        dimension.values[i] = values[order[i]];
        dimension.numbers.push_back(numbers[order[i]].value);
        if (!numbers[i].unit.empty()) {
            dimension.unit = numbers[i].unit;  // the values say it themselves
        }
    }
}

Dimension dimension_of(const std::string& name, const Column& column) {
    ParameterLabel label = label_of(name);
    Dimension dimension{.name = name, .label = std::move(label.label), .unit = std::move(label.unit)};
    std::set<std::string> seen;
    for (const std::string& value : column) {
        if (seen.insert(value).second) {
            dimension.values.push_back(value);
        }
    }
    make_numeric(dimension);
    return dimension;
}

/// Of the dimensions that fit, the one with the most values, or the fewest; the first of equal ones.
template <class Fits>
std::optional<std::size_t> choose(const std::vector<Dimension>& dimensions, bool most, Fits fits) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const auto is_better = [&] {
            const std::size_t mine = dimensions[i].values.size();
            const std::size_t other = dimensions[*best].values.size();
            return most ? mine > other : mine < other;
        };
        if (fits(i) && (!best || is_better())) {
            best = i;
        }
    }
    return best;
}

std::optional<std::size_t> series_of(const std::vector<Dimension>& dimensions) {
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        if (dimensions[i].name == kNetwork) {
            return i;
        }
    }
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        if (!dimensions[i].is_numeric()) {
            return i;
        }
    }
    // One dimension of numbers is the scale.
    return dimensions.size() > 1
               ? choose(dimensions, false, [&](std::size_t i) { return dimensions[i].name != kRanks; })
               : std::nullopt;
}

std::optional<std::size_t> scale_of(const std::vector<Dimension>& dimensions,
                                    std::optional<std::size_t> series) {
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        if (dimensions[i].name == kRanks && i != series) {
            return i;
        }
    }
    const auto numeric =
        choose(dimensions, true, [&](std::size_t i) { return i != series && dimensions[i].is_numeric(); });
    return numeric ? numeric : choose(dimensions, true, [&](std::size_t i) { return i != series; });
}

}  // namespace

bool is_of_network(const std::string& parameter) {
    return parameter == kNetwork || parameter.starts_with("network.");
}

std::vector<std::string> parameters_of(const std::vector<StudyRow>& rows) {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const StudyRow& row : rows) {
        for (const auto& [name, unused] : row.point.parameters.items()) {
            if (seen.insert(name).second) {
                names.push_back(name);
            }
        }
    }
    return names;
}

std::vector<std::size_t> StudyAxes::without(const std::vector<std::optional<std::size_t>>& some) const {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        if (std::find(some.begin(), some.end(), std::optional(i)) == some.end()) {
            rest.push_back(i);
        }
    }
    return rest;
}

std::vector<Json> StudyAxes::labels(const std::vector<std::size_t>& at) const {
    std::vector<Json> labels;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        labels.emplace_back(dimensions[i].values[at[i]]);
    }
    return labels;
}

std::vector<std::string> StudyAxes::names() const {
    std::vector<std::string> names;
    for (const Dimension& dimension : dimensions) {
        names.push_back(dimension.name);
    }
    return names;
}

StudyAxes study_axes(const std::vector<StudyRow>& rows) {
    StudyAxes axes;
    std::vector<Column> columns;
    std::vector<std::size_t> groups(rows.size(), 0);
    for (const std::string& name : parameter_names(rows)) {
        Column column;
        for (const StudyRow& row : rows) {
            column.push_back(value_of(row, name));
        }
        if (name == kSeed) {
            std::vector<std::size_t> one(rows.size(), 0);
            axes.has_seeds = !follows(column, one);
        } else if (!follows(column, groups)) {
            axes.dimensions.push_back(dimension_of(name, column));
            columns.push_back(std::move(column));
        }
    }
    std::vector<std::map<std::string, std::size_t>> order(columns.size());
    for (std::size_t d = 0; d < columns.size(); ++d) {
        for (const std::string& value : axes.dimensions[d].values) {
            order[d].try_emplace(value, order[d].size());
        }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].result.status != PointStatus::kDone) {
            continue;
        }
        Place place{&rows[i], {}};
        for (std::size_t d = 0; d < columns.size(); ++d) {
            place.at.push_back(order[d].at(columns[d][i]));
        }
        axes.places.push_back(std::move(place));
    }
    axes.series = series_of(axes.dimensions);
    axes.scale = scale_of(axes.dimensions, axes.series);
    return axes;
}

}  // namespace astrolabe::study
