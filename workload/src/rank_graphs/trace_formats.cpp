#include "trace_formats.hpp"

#include "build_program.hpp"
#include "graph_summary.hpp"
#include "trace_file.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/traces/foreign_traces.hpp>

// Every format by one line, in the order in which they are asked; its reader defines the
// `…_trace_format`.
#define ASTROLABE_TRACE_FORMATS(FORMAT) FORMAT(chakra) FORMAT(pytorch) FORMAT(param) FORMAT(flexflow)

namespace astrolabe::workload {

#define ASTROLABE_DECLARE_FORMAT(name) TraceFormat name##_trace_format();
ASTROLABE_TRACE_FORMATS(ASTROLABE_DECLARE_FORMAT)
#undef ASTROLABE_DECLARE_FORMAT

std::span<const TraceFormat> trace_formats() {
#define ASTROLABE_MAKE_FORMAT(name) name##_trace_format(),
    static const std::vector<TraceFormat> formats{ASTROLABE_TRACE_FORMATS(ASTROLABE_MAKE_FORMAT)};
#undef ASTROLABE_MAKE_FORMAT
    return formats;
}

const TraceFormat* format_of_trace(const std::filesystem::path& path) {
    const std::span<const TraceFormat> formats = trace_formats();
    const auto found = std::find_if(formats.begin(), formats.end(),
                                    [&](const TraceFormat& format) { return format.recognises(path); });
    return found == formats.end() ? nullptr : &*found;
}

std::string beginning_of(const std::filesystem::path& file, std::size_t size) {
    std::string text;
    Result<TraceFile> opened = TraceFile::open(file);
    if (opened) {
        text.resize(size);
        text.resize(opened->read(text.data(), size));
    }
    return text;
}

std::vector<std::filesystem::path> files_ending(const std::filesystem::path& folder,
                                                std::string_view ending) {
    std::vector<std::filesystem::path> files;
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        std::error_code unknown;
        if (entry->is_regular_file(unknown) && entry->path().filename().string().ends_with(ending)) {
            files.push_back(entry->path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool is_foreign_trace(const std::filesystem::path& path) {
    return format_of_trace(path) != nullptr;
}

Result<ForeignTraces> describe_foreign_traces(const std::filesystem::path& path) {
    const TraceFormat* format = format_of_trace(path);
    ASTROLABE_ASSERT(format != nullptr, "only traces that are recognised are described");
    Result<ReadTraces> read = format->read(path);
    if (!read) {
        return read.error();
    }
    const Result<system::Program> program = build_program(read->graphs, {.order = read->order});
    if (!program) {
        return program.error();
    }
    return ForeignTraces{std::string(format->name), std::string(format->help),
                         readable_facts(read->graphs, summarize(read->graphs)), std::move(read->notes)};
}

}  // namespace astrolabe::workload
