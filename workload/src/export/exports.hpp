/// The forms of trace_export.hpp, a source for each, and what they share.
#pragma once

#include "../rank_graphs/rank_graphs.hpp"

#include <memory>
#include <string>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/workload/traces/trace_export.hpp>

namespace astrolabe::workload {

using MadeExport = Result<std::unique_ptr<TraceExport>>;

[[nodiscard]] MadeExport make_chakra_export(const system::Program& program,
                                            const TraceExportOptions& options);
[[nodiscard]] MadeExport make_param_export(const system::Program& program, const TraceExportOptions& options);
[[nodiscard]] MadeExport make_text_export(const system::Program& program, const TraceExportOptions& options);

[[nodiscard]] Diagnostic export_error(std::string message, std::string hint);

/// Groups of a program, numbered from 1 in the order of its partitions; all ranks in ascending order are 0.
class ExportGroups {
public:
    explicit ExportGroups(const system::Program& program);

    /// To which `rank_graph_of` adds nothing but names.
    [[nodiscard]] RankGraphs& graphs() { return graphs_; }
    [[nodiscard]] std::uint32_t number(std::uint32_t group) const { return numbers_[group]; }
    [[nodiscard]] const std::vector<std::uint32_t>& numbers() const { return numbers_; }
    /// Of groups besides all ranks.
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    RankGraphs graphs_;
    std::vector<std::uint32_t> numbers_;  // by group of the graphs
    std::size_t count_ = 0;
};

}  // namespace astrolabe::workload
