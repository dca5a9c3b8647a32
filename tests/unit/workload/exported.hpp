/// Programs as files of other programs and back, for tests.
#pragma once

#include "process.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <workload/src/chakra/chakra_traces.hpp>
#include <workload/src/rank_graphs/build_program.hpp>

#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/traces/trace_export.hpp>

namespace astrolabe::testing {

/// Writes all files; an empty text, or why not.
inline std::string write_export(const system::Program& program, const std::filesystem::path& folder,
                                const workload::TraceExportOptions& options) {
    const auto made = workload::export_traces(program, options);
    if (!made) {
        return render(made.error());
    }
    for (std::size_t i = 0; i < (*made)->files(); ++i) {
        std::ofstream file(folder / (*made)->name(i), std::ios::binary);
        (*made)->write(i, [&](std::string_view piece) { file << piece; });
    }
    return {};
}

/// Program → Chakra → Program.
inline system::Program by_way_of_chakra(const system::Program& program,
                                        workload::UnevenExport uneven = workload::UnevenExport::kSplits) {
    const TemporaryFolder folder;
    EXPECT_EQ(write_export(program, folder.path(), {.uneven = uneven, .prefix = "t"}), "");
    const auto files = workload::chakra::files_of_traces(folder.path());
    EXPECT_TRUE(files) << (files ? "" : render(files.error()));
    const auto traces = workload::chakra::read_traces(files.value(), {});
    EXPECT_TRUE(traces) << (traces ? "" : render(traces.error()));
    const auto built = workload::build_program(traces->graphs, {.order = traces->order});
    EXPECT_TRUE(built) << (built ? "" : render(built.error()));
    return built.value();
}

inline std::string work_text(const system::Program& program, const system::Operation& operation) {
    if (operation.is_receive()) {
        return fmt::format("receive of {}", operation.receive().send.index());
    }
    std::string text;
    if (operation.is_compute()) {
        const system::ComputeOperation& work = operation.compute();
        text = fmt::format("compute on {}:", program.streams[work.stream]);
        for (std::size_t rank = 0; rank < program.ranks; ++rank) {
            const bool takes_part =
                !work.ranks || std::ranges::count(program.rank_sets[*work.ranks], system::RankId(rank)) > 0;
            text += takes_part ? fmt::format(" {}", work.duration[system::RankId(rank)].count()) : " -";
        }
        return text;
    }
    const system::CollectiveOperation& work = operation.collective();
    text = fmt::format("{} of {} priority {} {} delay {} least {} together {} one-sided {} over",
                       system::to_string(work.kind), work.size.count(), static_cast<int>(work.priority),
                       work.explicit_priority, work.completion_delay.count(), work.least_duration.count(),
                       work.begins_together, work.is_one_sided);
    const system::Partition& partition = program.partitions[work.partition];
    // Sizes that are the same for all pairs are no uneven all_to_all.
    std::vector<Bytes> sizes;
    for (std::size_t group = 0; work.pair_sizes && group < partition.groups.size(); ++group) {
        const std::size_t members = partition.groups[group].size();
        for (std::size_t pair = 0; pair < members * members; ++pair) {
            sizes.push_back((*work.pair_sizes)[group](pair / members, pair % members));
        }
    }
    const bool is_even = std::ranges::adjacent_find(sizes, std::not_equal_to<>()) == sizes.end();
    for (const std::vector<system::RankId>& group : partition.groups) {
        text += " [";
        for (const system::RankId rank : group) {
            text += fmt::format(" {}", rank.index());
        }
        text += " ]";
    }
    for (std::size_t pair = 0; !is_even && pair < sizes.size(); ++pair) {
        text += fmt::format(" {}", sizes[pair].count());
    }
    return text;
}

/// The first operation in which two programs differ, or nothing. `again` may depend on the computation before
/// it on its stream besides: traces say that order, and the program means it.
inline std::string program_difference(const system::Program& program, const system::Program& again) {
    if (program.ranks != again.ranks || program.iterations != again.iterations ||
        program.compute_order != again.compute_order || program.streams != again.streams ||
        program.operations.size() != again.operations.size()) {
        return fmt::format("{} operations became {}", program.operations.size(), again.operations.size());
    }
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const system::Operation& one = program.operations[system::OperationId(i)];
        const system::Operation& other = again.operations[system::OperationId(i)];
        std::vector<system::OperationId> dependencies = other.dependencies;
        if (dependencies.size() == one.dependencies.size() + 1 && other.is_compute() &&
            again.compute_order == system::ComputeOrder::kProgram) {
            const system::Operation& before = again.operations[dependencies.back()];
            if (before.is_compute() && before.compute().stream == other.compute().stream) {
                dependencies.pop_back();
            }
        }
        if (one.name != other.name || one.iteration != other.iteration || dependencies != one.dependencies ||
            work_text(program, one) != work_text(again, other)) {
            return fmt::format("operation {} '{}' {}\nbecame '{}' {}\n{} dependencies, {} became", i,
                               one.name, work_text(program, one), other.name, work_text(again, other),
                               one.dependencies.size(), other.dependencies.size());
        }
    }
    return {};
}

}  // namespace astrolabe::testing
