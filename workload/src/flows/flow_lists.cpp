#include "flow_lists.hpp"

#include <array>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe::workload {
namespace {

constexpr std::int64_t kMostHosts = 1'000'000;
constexpr std::string_view kSortHint = "sort the lines by their start";

}  // namespace

void note_host(FlowList& list, const LineReader& lines, std::int64_t host) {
    if (host >= list.hosts) {
        list.hosts = static_cast<std::uint32_t>(host) + 1;
        list.largest_at = fmt::format("{}:{}", lines.name(), lines.number());
    }
}

std::optional<Diagnostic> flow_problem(const LineReader& lines, std::int64_t source,
                                       std::int64_t destination, std::int64_t bytes) {
    for (const std::int64_t host : {source, destination}) {
        if (host < 0 || host >= kMostHosts) {
            return lines.error("flows.host", fmt::format("{} is no number of a host", host),
                               "hosts count from 0");
        }
    }
    if (source == destination) {
        return lines.error("flows.host", fmt::format("host {} sends to itself", source), "name two hosts");
    }
    if (bytes < 1) {
        return lines.error("flows.bytes", fmt::format("a flow of {} bytes", bytes),
                           "a flow has at least one byte");
    }
    return std::nullopt;
}

std::optional<Diagnostic> add_flow(FlowList& list, const LineReader& lines, std::int64_t source,
                                   std::int64_t destination, std::int64_t bytes, Time start) {
    if (std::optional<Diagnostic> problem = flow_problem(lines, source, destination, bytes)) {
        return problem;
    }
    if (start < Time(0) || (!list.flows.empty() && start < list.flows.back().start)) {
        return lines.error("flows.order",
                           fmt::format("the flow starts at {}, before the one of the line before it",
                                       to_string(start)),
                           std::string(kSortHint));
    }
    if (list.flows.size() == kMostListedFlows) {
        return lines.error("flows.count", fmt::format("there are more than {} flows", kMostListedFlows),
                           "give their pattern, sizes and load instead: drawn flows take no memory");
    }
    note_host(list, lines, source);
    note_host(list, lines, destination);
    list.flows.push_back({.source = static_cast<std::uint32_t>(source),
                          .destination = static_cast<std::uint32_t>(destination),
                          .size = Bytes(bytes),
                          .start = start});
    return std::nullopt;
}

Result<FlowList> read_csv_flows(LineReader lines) {
    constexpr std::array<std::string_view, 4> kColumns{"source", "destination", "bytes", "start"};
    const std::string hint = "the first line is source,destination,bytes,start";
    if (!lines.next()) {
        return lines.error_at_end("flows.empty", "the file has no flows", hint);
    }
    std::array<std::size_t, 4> places{};
    for (std::size_t column = 0; column < kColumns.size(); ++column) {
        const auto& names = lines.fields();
        const auto found = std::find(names.begin(), names.end(), kColumns[column]);
        if (found == names.end() || names.size() != kColumns.size()) {
            return lines.error("flows.header",
                               fmt::format("the columns are not source, destination, bytes and start"), hint);
        }
        places[column] = static_cast<std::size_t>(found - names.begin());
    }
    FlowList list;
    while (lines.next()) {
        if (lines.fields().size() != kColumns.size()) {
            return lines.error("flows.line", fmt::format("{} values in a line of four", lines.fields().size()),
                               hint);
        }
        std::array<std::int64_t, 3> numbers{};
        for (std::size_t column = 0; column < numbers.size(); ++column) {
            const std::optional<std::int64_t> number = lines.integer(places[column]);
            if (!number) {
                return lines.error("flows.number",
                                   fmt::format("'{}' is no whole number of {}", lines.fields()[places[column]],
                                               column < 2 ? "a host" : "bytes"),
                                   hint);
            }
            numbers[column] = *number;
        }
        const Parsed<Time> start = parse_time(lines.fields()[places[3]]);
        if (const auto* failure = std::get_if<ParseFailure>(&start)) {
            return lines.error("flows.start", failure->message, failure->hint);
        }
        if (std::optional<Diagnostic> problem =
                add_flow(list, lines, numbers[0], numbers[1], numbers[2], std::get<Time>(start))) {
            return *problem;
        }
    }
    if (list.flows.empty()) {
        return lines.error_at_end("flows.empty", "the file has no flows", hint);
    }
    return list;
}

Result<FlowList> read_htsim_lines(LineReader lines) {
    constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
    const std::string hint = "a line is: source destination bytes start, in nanoseconds";
    FlowList list;
    while (lines.next()) {
        std::array<std::int64_t, 4> numbers{};
        bool is_whole = lines.fields().size() == numbers.size();
        for (std::size_t i = 0; is_whole && i < numbers.size(); ++i) {
            const std::optional<std::int64_t> number = lines.integer(i);
            is_whole = number.has_value();
            numbers[i] = number.value_or(0);
        }
        if (!is_whole) {
            return lines.error("flows.line", "the line is not four whole numbers", hint);
        }
        if (numbers[3] > std::numeric_limits<std::int64_t>::max() / kPicosecondsPerNanosecond) {
            return lines.error("flows.start", fmt::format("{} ns is beyond simulated time", numbers[3]), hint);
        }
        if (std::optional<Diagnostic> problem = add_flow(list, lines, numbers[0], numbers[1], numbers[2],
                                                         Time(numbers[3] * kPicosecondsPerNanosecond))) {
            return *problem;
        }
    }
    if (list.flows.empty()) {
        return lines.error_at_end("flows.empty", "the file has no flows", hint);
    }
    return list;
}

Result<FlowList> read_flow_list(std::string text, std::string name) {
    const std::string extension = std::filesystem::path(name).extension().string();
    const bool is_csv = extension == ".csv";
    LineReader lines(std::move(text), std::move(name), is_csv ? ", \t" : " \t");
    if (std::optional<Diagnostic> error = lines.encoding_error("flows.encoding")) {
        return *std::move(error);
    }
    if (is_csv) {
        return read_csv_flows(std::move(lines));
    }
    if (extension == ".cm") {
        return read_htsim_flows(std::move(lines));
    }
    if (extension == ".htsim") {
        return read_htsim_lines(std::move(lines));
    }
    return lines.error_at_end("flows.format",
                              fmt::format("'{}' says nothing of the format of the list", extension),
                              "name it .csv, .cm (htsim) or .htsim (a flow a line)");
}

}  // namespace astrolabe::workload
