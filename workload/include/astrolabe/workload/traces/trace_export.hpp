/// A Program in the form of other programs' traces, file by file.
///
///     chakra   PREFIX.RANK.et for each rank, with the attributes that ASTRA-sim 2.x reads, and groups.json
///     where
///              there are groups besides all ranks
///     param    RANK.json for each rank, a basic communication trace of PARAM's replay
///     text     PREFIX.txt, a text workload of ASTRA-sim 1.0, of programs that are one of its loops
///
/// What each form says and loses: docs/models/traces.md. A file is written in pieces, so what is in memory is
/// one rank's list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload {

enum class TraceExportFormat : std::uint8_t { kChakra, kParam, kText };

/// How a Chakra trace says an uneven all_to_all.
enum class UnevenExport : std::uint8_t {
    kSplits,   ///< one node of the most bytes that a rank holds, with the splits in an attribute of our own
    kMessages  ///< a send and a receive node for each peer
};

struct TraceExportOptions {
    TraceExportFormat format = TraceExportFormat::kChakra;
    UnevenExport uneven = UnevenExport::kSplits;
    std::string prefix = "trace";  ///< of names of files
};

class TraceExport {
public:
    using Append = std::function<void(std::string_view)>;

    TraceExport() = default;
    TraceExport(const TraceExport&) = delete;
    TraceExport& operator=(const TraceExport&) = delete;
    virtual ~TraceExport() = default;

    [[nodiscard]] virtual std::size_t files() const = 0;
    [[nodiscard]] virtual std::string name(std::size_t file) const = 0;
    virtual void write(std::size_t file, const Append& append) = 0;
    /// What a reader has to be told beside the files, for people, one (name, value) a line.
    [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
};

/// Errors ("export.…") name the operation that the form cannot say. `program` must outlive the export.
[[nodiscard]] Result<std::unique_ptr<TraceExport>> export_traces(const system::Program& program,
                                                                 const TraceExportOptions& options);

}  // namespace astrolabe::workload
