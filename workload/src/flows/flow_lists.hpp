/// Lists of flows in the formats of others. Each reader gives the list, or the first thing that is wrong.
#pragma once

#include "line_reader.hpp"

#include <string>

#include <astrolabe/core/result.hpp>
#include <astrolabe/workload/flows/flows.hpp>

namespace astrolabe::workload {

/// Of a list, which is kept in memory: 32 bytes each.
inline constexpr std::size_t kMostListedFlows = 5'000'000;

/// "source,destination,bytes,start" in any order, named in the first line; starts have units: 1.5us.
[[nodiscard]] Result<FlowList> read_csv_flows(LineReader lines);
/// "source destination bytes start_ns" a line.
[[nodiscard]] Result<FlowList> read_htsim_lines(LineReader lines);
/// Connection matrices of htsim, with triggers; starts are picoseconds. A trigger gets its signal when the
/// last byte of a flow arrives, for send_done_trigger too, which htsim gives one acknowledgement later.
[[nodiscard]] Result<FlowList> read_htsim_flows(LineReader lines);

/// Adds a flow of the line that was read last; what is wrong with it otherwise. `order` where starts must not
/// fall.
[[nodiscard]] std::optional<Diagnostic> add_flow(FlowList& list, const LineReader& lines, std::int64_t source,
                                                 std::int64_t destination, std::int64_t bytes, Time start);
/// Notes a host number of the line that was read last.
void note_host(FlowList& list, const LineReader& lines, std::int64_t host);
/// What makes a flow none.
[[nodiscard]] std::optional<Diagnostic> flow_problem(const LineReader& lines, std::int64_t source,
                                                     std::int64_t destination, std::int64_t bytes);

}  // namespace astrolabe::workload
