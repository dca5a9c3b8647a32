#include "exports.hpp"

#include "../rank_graphs/program_graphs.hpp"

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

Diagnostic export_error(std::string message, std::string hint) {
    return {"export.program", {}, std::move(message), std::move(hint), {}};
}

ExportGroups::ExportGroups(const system::Program& program)
    : graphs_(empty_graphs_of(program)) {
    const auto is_world = [&](const std::vector<system::RankId>& group) {
        if (group.size() != program.ranks) {
            return false;
        }
        for (std::size_t i = 0; i < group.size(); ++i) {
            if (group[i].index() != i) {
                return false;
            }
        }
        return true;
    };
    for (const system::Partition& partition : program.partitions) {
        for (std::size_t i = 0; i < partition.groups.size(); ++i) {
            const std::vector<system::RankId>& group = partition.groups[i];
            const std::size_t place =
                graphs_.group(group, partition.groups.size() == 1 ? partition.name
                                                                  : fmt::format("{} {}", partition.name, i));
            if (place == numbers_.size()) {
                numbers_.push_back(is_world(group) ? 0 : static_cast<std::uint32_t>(++count_));
            }
        }
    }
}

MadeExport export_traces(const system::Program& program, const TraceExportOptions& options) {
    if (program.operations.empty()) {
        return export_error("the workload has no operations", "flows are no program of ranks");
    }
    switch (options.format) {
        case TraceExportFormat::kChakra:
            return make_chakra_export(program, options);
        case TraceExportFormat::kParam:
            return make_param_export(program, options);
        case TraceExportFormat::kText:
            return make_text_export(program, options);
    }
    invariant_failed("format is known", "every format has a writer");
}

}  // namespace astrolabe::workload
