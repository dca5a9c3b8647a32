#include "format.hpp"

#include "network/src/rotor/topology_file.hpp"
#include "network/src/topologies/graph/graph_files.hpp"
#include "system/src/schedule/schedule_file.hpp"
#include "workload/src/chakra/chakra_traces.hpp"
#include "workload/src/flexflow/task_graph.hpp"
#include "workload/src/pytorch/execution_trace.hpp"
#include "workload/src/pytorch/kineto_timeline.hpp"
#include "workload/src/rank_graphs/build_program.hpp"
#include "workload/src/traces/astra_text.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <regex>
#include <string_view>
#include <utility>

#include <eight_racks.hpp>
#include <fmt/format.h>

#include <astrolabe/core/source_text.hpp>
#include <astrolabe/core/utf8.hpp>
#include <astrolabe/experiment/explain/network_cost.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/study/file/study.hpp>
#include <astrolabe/study/search/search_study.hpp>

namespace astrolabe::fuzzing {
namespace {

using Path = std::filesystem::path;

template <class T>
Verdict verdict_of(const Result<T>& result) {
    return result ? Verdict{} : result.error();
}

const experiment::Components& components() {
    static const experiment::Components kComponents = experiment::builtin_components();
    return kComponents;
}

std::vector<Seed> files(const Path& root, std::initializer_list<const char*> names) {
    std::vector<Seed> seeds;
    for (const char* name : names) {
        std::ifstream in(root / name, std::ios::binary);
        seeds.push_back({name, std::string(std::istreambuf_iterator<char>(in), {})});
    }
    return seeds;
}

std::string topology_of_eight_racks(std::size_t most_paths) {
    network::rotor::RotorSchedule schedule = network::rotor::eight_racks();
    auto paths = std::make_shared<network::rotor::ShortestSlicePaths>(schedule, most_paths, 1);
    std::string text;
    network::rotor::write_topology({std::move(schedule), 4, std::move(paths), true},
                                   [&text](std::string_view piece) { text += piece; });
    return text;
}

Verdict read_text_trace(const Path& path) {
    const Result<std::shared_ptr<const SourceText>> source = read_source(path, "trace.file");
    return source ? verdict_of(workload::read_astra_text((*source)->text, (*source)->name)) : source.error();
}

Verdict read_chakra(const Path& path) {
    const Result<std::vector<Path>> set = workload::chakra::files_of_traces(path);
    if (!set) {
        return set.error();
    }
    const Result<workload::chakra::ChakraTraces> traces = workload::chakra::read_traces(*set, {});
    return traces ? verdict_of(workload::build_program(traces->graphs, {.order = traces->order}))
                  : traces.error();
}

Verdict read_graph(const Path& path) {
    return verdict_of(network::load_graph(path, network::graph_format_of(path).value(), {}));
}

void add_yaml(std::vector<Format>& formats, const Path& root) {
    formats.push_back(
        {"experiment", Syntax::kYaml, Place::kColumn,
         files(root, {"examples/quickstart/experiment.yaml", "examples/own-network/experiment.yaml",
                      "examples/pipeline/experiment.yaml", "examples/failures/experiment.yaml",
                      "examples/dlrm-with-background/experiment.yaml", "examples/flows/experiment.yaml",
                      "examples/traces/dlrm.yaml", "examples/traces/experiment.yaml",
                      "examples/transports/incast.yaml", "examples/gpu-servers/experiment.yaml",
                      "examples/why/circuits.yaml"}),
         [](const Path& path) { return verdict_of(experiment::load_experiment(path, {}, components())); }});
    formats.push_back(
        {"study", Syntax::kYaml, Place::kColumn,
         files(root, {"examples/codesign-tables/study.yaml", "examples/dlrm-characterisation/buckets.yaml",
                      "examples/dlrm-with-background/study.yaml", "examples/failures/study.yaml",
                      "examples/hoti20-dlrm/study.yaml", "examples/shared-cluster/study.yaml",
                      "examples/transports/incast-study.yaml"}),
         [](const Path& path) { return verdict_of(study::load_study(path, {})); }});
    formats.push_back(
        {"search", Syntax::kYaml, Place::kColumn, files(root, {"examples/optimize/tables.yaml"}),
         [](const Path& path) { return verdict_of(study::load_search_study(path, {}, components())); }});
    formats.push_back({"costs", Syntax::kYaml, Place::kColumn,
                       files(root, {"inputs/costs/default.yaml", "inputs/costs/opera-nsdi.yaml",
                                    "inputs/costs/servers-assumed.yaml"}),
                       [](const Path& path) { return verdict_of(experiment::load_prices(path)); }});
    formats.push_back(
        {"schedule", Syntax::kYaml, Place::kColumn,
         files(root, {"inputs/schedules/ring-all-reduce-4.yaml", "inputs/schedules/star-all-to-all-3.yaml",
                      "inputs/schedules/two-level-all-reduce-2x2.yaml"}),
         [](const Path& path) { return verdict_of(system::read_schedule_file(path)); }});
}

void add_traces(std::vector<Format>& formats, const Path& root) {
    formats.push_back({"text-trace", Syntax::kLines, Place::kColumn,
                       files(root, {"inputs/traces/dlrm-hoti20.txt", "examples/shared-cluster/bert-large.txt",
                                    "examples/shared-cluster/candle-like.txt"}),
                       read_text_trace});
    formats.push_back({"chakra", Syntax::kProtobuf, Place::kRecord,
                       files(root, {"inputs/traces/dlrm-mini4/dlrm-mini4.0.et",
                                    "inputs/traces/dlrm-mini4/dlrm-mini4.2.et"}),
                       read_chakra});
    formats.push_back(
        {"pytorch", Syntax::kJson, Place::kRecord, files(root, {"inputs/traces/pytorch-mini2/et.0.json"}),
         [](const Path& path) { return verdict_of(workload::pytorch::read_execution_trace(path, false)); }});
    formats.push_back(
        {"kineto", Syntax::kJson, Place::kRecord, files(root, {"inputs/traces/pytorch-mini2/kineto.0.json"}),
         [](const Path& path) { return verdict_of(workload::pytorch::read_kineto_timeline(path, false)); }});
    // A FlatBuffer has no records: its reader names the offset.
    formats.push_back({"flexflow", Syntax::kLines, Place::kRecord,
                       files(root, {"inputs/traces/flexflow-4.fbuf"}),
                       [](const Path& path) { return verdict_of(workload::load_flexflow_graph(path)); }});
}

void add_networks(std::vector<Format>& formats, const Path& root) {
    formats.push_back({"msccl", Syntax::kXml, Place::kColumn,
                       files(root, {"inputs/schedules/ring-all-reduce-8.xml"}),
                       [](const Path& path) { return verdict_of(system::read_schedule_file(path)); }});
    formats.push_back({"graphml", Syntax::kXml, Place::kColumn,
                       files(root, {"tests/fuzz/corpus/graph.graphml"}), read_graph});
    formats.push_back({"node-link", Syntax::kJson, Place::kColumn,
                       files(root, {"tests/fuzz/corpus/graph.json"}), read_graph});
    formats.push_back(
        {"hpcc", Syntax::kLines, Place::kColumn, files(root, {"tests/fuzz/corpus/graph.txt"}), read_graph});
    formats.push_back({"rotor-topology",
                       Syntax::kLines,
                       Place::kColumn,
                       {{"tests/fuzz/corpus/one-path.txt", topology_of_eight_racks(1)},
                        {"tests/fuzz/corpus/paths.txt", topology_of_eight_racks(4)}},
                       [](const Path& path) { return verdict_of(network::rotor::load_topology(path)); }});
}

bool names_place(const Format& format, const Diagnostic& error) {
    if (error.where.source == nullptr) {
        return false;
    }
    // Records of JSON are read one at a time, and know the line on which they end.
    if (error.where.line > 0) {
        return error.where.column > 0 || format.place == Place::kRecord;
    }
    if (format.place == Place::kColumn) {
        // What is wrong with another file as a whole, and where that is named.
        return std::any_of(error.notes.begin(), error.notes.end(),
                           [](const auto& note) { return note.first.line > 0 && note.first.column > 0; });
    }
    // "node 17", "rank 'x'", "byte 0x1f", "record 3"; what is wrong with all of a file needs no more than its
    // name.
    static const std::regex kNumbered("(byte|record|node|event|task|device|rank)s? ('|[0-9])");
    static const std::regex kOfAFile("(the file|schema|is empty|nothing in it)");
    return std::regex_search(error.message, kNumbered) || std::regex_search(error.message, kOfAFile);
}

}  // namespace

std::vector<Format> all_formats(const Path& root) {
    std::vector<Format> formats;
    add_yaml(formats, root);
    add_traces(formats, root);
    add_networks(formats, root);
    return formats;
}

std::string defect_of(const Format& format, const Verdict& verdict) {
    for (const Diagnostic& error : verdict) {
        if (first_byte_not_utf8(error.render())) {
            return fmt::format("not UTF-8: {}", printable_utf8(error.message));
        }
        if (error.message.empty() || error.code.empty()) {
            return fmt::format("no message or no code: {}", error.render());
        }
        if (!names_place(format, error)) {
            return fmt::format("no place: {}[{}] {}", error.where.to_string(), error.code, error.message);
        }
    }
    return {};
}

}  // namespace astrolabe::fuzzing
