#include "measures.hpp"

#include "../process/text_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::study {
namespace {

using Measure = std::variant<double, std::string>;

constexpr std::string_view kMessages = "messages.";
constexpr std::string_view kThroughput = "throughput.";

std::optional<double> number_in(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// "p99.9_s": 0.999; "first_s": 0; "last_s": 1; nothing else.
std::optional<double> part_of(std::string_view which) {
    if (!which.ends_with("_s")) {
        return std::nullopt;
    }
    which.remove_suffix(2);
    if (which == "first" || which == "last") {
        return which == "last" ? 1 : 0;
    }
    const std::optional<double> percent = which.starts_with('p') ? number_in(which.substr(1)) : std::nullopt;
    return percent && *percent > 0 && *percent < 100 ? std::optional(*percent / 100) : std::nullopt;
}

/// Cells of plain tables: their fields have neither commas nor quotes where numbers are looked for, but a
/// quoted name may stand before them.
std::vector<std::string_view> cells_of_line(std::string_view line) {
    std::vector<std::string_view> cells;
    std::size_t from = 0;
    bool quoted = false;
    for (std::size_t at = 0; at <= line.size(); ++at) {
        if (at < line.size() && line[at] == '"') {
            quoted = !quoted;
        } else if (at == line.size() || (line[at] == ',' && !quoted)) {
            cells.push_back(line.substr(from, at - from));
            from = at + 1;
        }
    }
    return cells;
}

std::optional<std::size_t> column_of(const std::vector<std::string_view>& header, std::string_view name) {
    const auto found = std::find(header.begin(), header.end(), name);
    return found == header.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(found - header.begin()));
}

/// Calls `row` with the cells of every line behind the header; false where there is no header.
template <class Header, class Row>
bool for_each_row(std::string_view text, Header&& header, Row&& row) {
    bool is_first = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::vector<std::string_view> cells = cells_of_line(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (is_first && !header(cells)) {
            return false;
        }
        if (!is_first) {
            row(cells);
        }
        is_first = false;
    }
    return !is_first;
}

/// The value at a dotted path; keys may have dots themselves.
const nlohmann::json* find_in(const nlohmann::json& node, std::string_view path) {
    if (path.empty()) {
        return &node;
    }
    for (std::size_t end = path.find('.');; end = path.find('.', end + 1)) {
        const std::size_t length = std::min(end, path.size());
        const std::string key(path.substr(0, length));
        const std::string_view rest = length == path.size() ? std::string_view() : path.substr(length + 1);
        if (node.is_object() && node.contains(key)) {
            if (const nlohmann::json* found = find_in(node.at(key), rest)) {
                return found;
            }
        }
        std::size_t place = 0;
        const auto [stop, error] = std::from_chars(key.data(), key.data() + key.size(), place);
        if (node.is_array() && error == std::errc() && stop == key.data() + key.size() &&
            place < node.size()) {
            return find_in(node.at(place), rest);
        }
        if (end == std::string_view::npos) {
            return nullptr;
        }
    }
}

}  // namespace

bool is_of_messages(std::string_view quantity) {
    return quantity.starts_with(kMessages);
}

bool is_of_intervals(std::string_view quantity) {
    return quantity.starts_with(kThroughput);
}

std::string quantity_error(std::string_view quantity) {
    if (is_of_messages(quantity)) {
        const std::string_view which = quantity.substr(kMessages.size());
        if (which != "mean_s" && !part_of(which)) {
            return fmt::format("messages have no '{}': first_s, mean_s, last_s, or p50_s as any percentile",
                               which);
        }
    }
    return quantity.empty() || quantity.ends_with('.') ? "it is not a path" : std::string();
}

Measure RunOutput::of_messages(std::string_view which) {
    if (!times_) {
        const std::optional<std::string> text = text_of_file(folder_ / "flows.csv", kAnyBytes);
        std::optional<std::size_t> column;
        times_.emplace();
        const auto header = [&](const std::vector<std::string_view>& cells) {
            return (column = column_of(cells, "time_s")).has_value();
        };
        const auto row = [&](const std::vector<std::string_view>& cells) {
            times_->push_back(number_in(cells.at(*column)).value());
        };
        if (!text || !for_each_row(*text, header, row)) {
            return "the run wrote no flows.csv with times";
        }
        std::sort(times_->begin(), times_->end());
    }
    if (times_->empty()) {
        return "the run sent no message";
    }
    const auto count = static_cast<double>(times_->size());
    const std::optional<double> part = part_of(which);
    if (!part) {
        return std::accumulate(times_->begin(), times_->end(), 0.0) / count;
    }
    // The least that so many do not exceed.
    const double place = std::max(1.0, std::ceil(*part * count));
    return times_->at(static_cast<std::size_t>(place) - 1);
}

Measure RunOutput::of_intervals(const std::string& column, const Intervals& intervals) const {
    const std::optional<std::string> text = text_of_file(folder_ / "throughput.csv", kAnyBytes);
    std::optional<std::size_t> from;
    std::optional<std::size_t> to;
    std::optional<std::size_t> value;
    const auto header = [&](const std::vector<std::string_view>& cells) {
        from = column_of(cells, "from_s");
        to = column_of(cells, "to_s");
        value = column_of(cells, column);
        return from && to && value;
    };
    double least = HUGE_VAL;
    double largest = 0;
    double sum = 0;
    double covered = 0;
    const double begin = intervals.from.value();
    const double end = intervals.to.value();
    const double rounding = 1e-9 * (end - begin);
    const auto row = [&](const std::vector<std::string_view>& cells) {
        const double row_from = number_in(cells.at(*from)).value();
        const double row_to = number_in(cells.at(*to)).value();
        const double in_row = number_in(cells.at(*value)).value();
        if (row_from >= begin - rounding && row_to <= end + rounding) {
            least = std::min(least, in_row);
            largest = std::max(largest, in_row);
            sum += in_row * (row_to - row_from);
            covered += row_to - row_from;
        }
    };
    if (!text || !for_each_row(*text, header, row)) {
        return fmt::format("the run wrote no throughput.csv with a column '{}'", column);
    }
    // Intervals without bytes have no row.
    const bool is_whole = covered >= (end - begin) - rounding;
    switch (intervals.take) {
        case Intervals::Take::kLeast:
            return is_whole ? least : 0.0;
        case Intervals::Take::kLargest:
            return largest;
        case Intervals::Take::kMean:
            break;
    }
    return sum / (end - begin);
}

Measure RunOutput::measure(const std::string& quantity, const std::optional<Intervals>& intervals) {
    if (is_of_messages(quantity)) {
        return of_messages(std::string_view(quantity).substr(kMessages.size()));
    }
    if (intervals) {
        return of_intervals(quantity.substr(kThroughput.size()), *intervals);
    }
    const nlohmann::json* found = find_in(printed_, quantity);
    if (found == nullptr || !found->is_number()) {
        return fmt::format("the run printed no number '{}'", quantity);
    }
    return found->get<double>();
}

}  // namespace astrolabe::study
