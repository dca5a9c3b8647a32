#include "format.hpp"

#include "cli/src/convert_astra.hpp"
#include "format_list.hpp"
#include "network/src/rotor/topology_file.hpp"
#include "network/src/topologies/graph/graph_files.hpp"
#include "network/src/topologies/servers/nccl_topology.hpp"
#include "system/src/schedule/schedule_file.hpp"
#include "workload/src/dlrm/embedding/reuse_schema.hpp"
#include "workload/src/dlrm/planner/torchrec_plan.hpp"

#include <algorithm>
#include <memory>
#include <regex>
#include <string_view>
#include <utility>

#include <eight_racks.hpp>
#include <fmt/format.h>

#include <astrolabe/core/utf8.hpp>
#include <astrolabe/experiment/explain/network_cost.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/study/file/study.hpp>
#include <astrolabe/study/reproduce/published_study.hpp>
#include <astrolabe/study/search/search_study.hpp>

namespace astrolabe::fuzzing {
namespace {

using Path = std::filesystem::path;

std::string topology_of_eight_racks(std::size_t most_paths) {
    network::rotor::RotorSchedule schedule = network::rotor::eight_racks();
    auto paths = std::make_shared<network::rotor::ShortestSlicePaths>(schedule, most_paths, 1);
    std::string text;
    network::rotor::write_topology({std::move(schedule), 4, std::move(paths), true},
                                   [&text](std::string_view piece) { text += piece; });
    return text;
}

Verdict read_graph(const Path& path) {
    return verdict_of(network::load_graph(path, network::graph_format_of(path).value(), {}));
}

/// As the section of an experiment that is right without it.
Verdict read_measured_collectives(const Path& root, const Path& path) {
    return verdict_of(experiment::load_experiment(
        root / "examples/quickstart/experiment.yaml",
        {{"cluster.measured_collectives=" + path.string()}, std::nullopt}, components()));
}

Verdict read_plan(const Path& path) {
    const Result<ConfigNode> plan = load_config(path);
    if (!plan) {
        return plan.error();
    }
    ReadContext context;
    static_cast<void>(workload::planner::read_torchrec_plan(*plan, context));
    return context.errors();
}

Verdict read_locality(const Path& path) {
    const Result<ConfigNode> reuse = parse_config("{file: " + path.string() + "}", "reuse.yaml");
    if (!reuse) {
        return reuse.error();
    }
    ReadContext context;
    static_cast<void>(workload::read_reuse(*reuse, context));
    return context.errors();
}

Verdict convert(const Path& system, const Path& network) {
    const Result<ConfigNode> of_system = load_config(system);
    const Result<ConfigNode> of_network = load_config(network);
    if (!of_system || !of_network) {
        return (of_system ? of_network : of_system).error();
    }
    const Result<cli::ConvertedAstra> converted =
        cli::convert_astra({.system = *of_system, .network = *of_network, .workload = {}, .groups = {}}, "x");
    return converted ? converted->not_mapped : converted.error();
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
        {"jobs", Syntax::kYaml, Place::kColumn,
         files(root, {"tests/fuzz/corpus/jobs.yaml", "tests/fuzz/corpus/jobs-drawn.yaml"}),
         [](const Path& path) { return verdict_of(experiment::load_experiment(path, {}, components())); }});
    formats.push_back(
        {"measured-collectives", Syntax::kYaml, Place::kColumn,
         files(root, {"inputs/machines/a100-40gb-nvswitch-x8.yaml", "inputs/machines/v100-sxm2-x8.yaml"}),
         [root](const Path& path) { return read_measured_collectives(root, path); }});
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
    formats.push_back(
        {"published-study", Syntax::kYaml, Place::kColumn,
         files(root, {"reproduce/hoti2020.yaml", "reproduce/mlperf.yaml", "reproduce/topoopt.yaml"}),
         [](const Path& path) { return verdict_of(study::load_published_study(path)); }});
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
    formats.push_back({"htsim-topology", Syntax::kLines, Place::kColumn,
                       files(root, {"tests/fuzz/corpus/leaf-spine.topo"}), read_graph});
    formats.push_back(
        {"nccl-topology", Syntax::kXml, Place::kColumn, files(root, {"tests/fuzz/corpus/server.xml"}),
         [](const Path& path) { return verdict_of(network::servers::load_nccl_topology(path)); }});
    formats.push_back({"rotor-topology",
                       Syntax::kLines,
                       Place::kColumn,
                       {{"tests/fuzz/corpus/one-path.txt", topology_of_eight_racks(1)},
                        {"tests/fuzz/corpus/paths.txt", topology_of_eight_racks(4)}},
                       [](const Path& path) { return verdict_of(network::rotor::load_topology(path)); }});
}

void add_parts(std::vector<Format>& formats, const Path& root) {
    const Path system = "tests/fuzz/corpus/astra-system.json";
    const Path network = "tests/fuzz/corpus/astra-network.yml";
    formats.push_back({"torchrec-plan", Syntax::kJson, Place::kColumn,
                       files(root, {"tests/fuzz/corpus/plan.json"}), read_plan});
    formats.push_back({"locality", Syntax::kLines, Place::kColumn,
                       files(root, {"tests/fuzz/corpus/locality.txt"}), read_locality});
    formats.push_back({"astra-system", Syntax::kJson, Place::kColumn, files(root, {system.c_str()}),
                       [other = root / network](const Path& path) { return convert(path, other); }});
    formats.push_back({"astra-network", Syntax::kYaml, Place::kColumn, files(root, {network.c_str()}),
                       [other = root / system](const Path& path) { return convert(other, path); }});
}

bool names_place(const Format& format, const Diagnostic& error) {
    if (format.place == Place::kFile) {
        return error.where.source != nullptr || std::ranges::any_of(format.seeds, [&](const Seed& seed) {
                   // A store and a run are named by their folder.
                   return error.message.find(seed.file.filename().string()) != std::string::npos ||
                          error.message.find(seed.file.parent_path().filename().string()) !=
                              std::string::npos;
               });
    }
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
    static const std::regex kNumbered("(byte|record|node|event|task|device|rank|group)s? ('|[0-9])");
    static const std::regex kOfAFile(
        "(the file|schema|is empty|nothing in it|is in it|no 'workload_graph'|no tasks|nnode|a world of)");
    return std::regex_search(error.message, kNumbered) || std::regex_search(error.message, kOfAFile);
}

}  // namespace

std::vector<Format> all_formats(const Path& root) {
    std::vector<Format> formats;
    add_yaml(formats, root);
    add_parts(formats, root);
    add_traces(formats, root);
    add_networks(formats, root);
    add_measurements(formats, root);
    add_results(formats, root);
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
