#include "cluster.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/collective_run.hpp>
#include <astrolabe/experiment/results.hpp>
#include <astrolabe/system/traffic.hpp>

namespace astrolabe::experiment {
namespace {

SourceRange argument(const std::string& option, const std::string& value) {
    return {std::make_shared<const SourceText>(SourceText{option, value}), 1, 1,
            static_cast<int>(value.size())};
}

std::optional<system::CollectiveKind> read_kind(const std::string& text, ReadContext& context) {
    std::string name = text;
    std::replace(name.begin(), name.end(), '-', '_');
    std::vector<std::string> names;
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        names.push_back(collective_key(kind));
        if (names.back() == name) {
            return static_cast<system::CollectiveKind>(kind);
        }
    }
    context.error("collective.kind", argument("--kind", text),
                  fmt::format("'{}' is not a kind of collective", text), suggest(name, names));
    return std::nullopt;
}

/// A section given on the command line: {kind: …}, the path of a file, or (backends) just a kind.
std::optional<ConfigNode> read_section(const std::string& option, const std::string& key,
                                       const std::string& text, bool kind_alone, ReadContext& context) {
    if (!text.empty() && text.front() == '{') {
        Result<ConfigNode> node = parse_config(text, option);
        if (node) {
            return *std::move(node);
        }
        for (const Diagnostic& error : node.error()) {
            context.error(error);
        }
        return std::nullopt;
    }
    ConfigNode node = ConfigNode::scalar(text);
    node.where = argument(option, text);
    if (kind_alone && text.find_first_of("./") == std::string::npos) {
        ConfigNode section = ConfigNode::mapping();
        section.where = node.where;
        section.set("kind", node);
        return section;
    }
    const std::size_t errors_before = context.error_count();
    resolve_reference(node, context);
    // A whole experiment file serves as well: the section it holds is meant.
    if (ConfigNode* inner = node.find(key)) {
        resolve_reference(*inner, context);
        ConfigNode section = std::move(*inner);
        node = std::move(section);
    }
    return context.error_count() == errors_before ? std::optional(std::move(node)) : std::nullopt;
}

/// Reads the text of an option as a quantity.
template <class T>
std::optional<T> read_argument(const std::string& option, const std::string& text, ReadContext& context) {
    ConfigNode node = ConfigNode::scalar(text);
    node.where = argument(option, text);
    return read_scalar<T>(node, option, context, {T(0), {}});
}

void check_algorithm_name(const std::string& name, const Components& components, ReadContext& context) {
    std::vector<std::string> names;
    for (const system::AlgorithmEntry& entry : components.algorithms) {
        names.push_back(entry.name);
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        context.error("collective.algorithm", argument("--algorithm", name),
                      fmt::format("'{}' is not a collective algorithm", name), suggest(name, names));
    }
}

system::Program single_collective(system::CollectiveKind kind, std::size_t ranks, Bytes size) {
    system::Program program;
    program.ranks = ranks;
    program.iterations = 1;
    const system::PartitionId world = program.partitions.push_back(system::Partition::world(ranks));
    system::Operation operation;
    operation.name = std::string(system::to_string(kind));
    operation.layer = operation.name;
    operation.work = system::CollectiveOperation{.kind = kind, .partition = world, .size = size};
    const system::OperationId collective = program.operations.push_back(std::move(operation));
    system::Operation wait;
    wait.name = program.operations[collective].name + ".wait";
    wait.layer = program.operations[collective].layer;
    wait.work = system::ComputeOperation{Time(0)};
    wait.dependencies = {collective};
    program.operations.push_back(std::move(wait));
    return program;
}

}  // namespace

double CollectivePoint::algorithm_bandwidth() const {
    const double seconds = to_seconds(run.execution.total);
    return seconds > 0 ? static_cast<double>(size.count()) / seconds : 0.0;
}

double CollectivePoint::bus_bandwidth() const {
    const double n = static_cast<double>(ranks);
    const double passes = kind == system::CollectiveKind::kAllReduce ? 2.0 : 1.0;
    return algorithm_bandwidth() * passes * (n - 1) / n;
}

Result<CollectiveRun> CollectiveRun::prepare(const CollectiveRequest& request, const Components& components) {
    ReadContext context;
    CollectiveRun run;
    const std::optional<system::CollectiveKind> kind = read_kind(request.kind, context);
    check_algorithm_name(request.algorithm, components, context);
    for (const std::string& text : request.sizes) {
        if (const auto size = read_argument<Bytes>("--size", text, context)) {
            run.sizes_.push_back(*size);
        }
    }
    const auto injection_latency =
        read_argument<Time>("--injection-latency", request.injection_latency, context);

    ConfigNode root = ConfigNode::mapping();
    const auto set_section = [&](const std::string& key, std::optional<ConfigNode> section) {
        if (section) {
            root.set(key, *std::move(section));
        }
    };
    set_section("network", read_section("--network", "network", request.network, false, context));
    set_section("backend", read_section("--backend", "backend", request.backend, true, context));
    for (const std::string& assignment : request.overrides) {
        for (Diagnostic& error : apply_override(root, assignment)) {
            context.error(std::move(error));
        }
    }
    report_unknown_keys(root, {"network", "backend"}, "collective", false, context);
    std::optional<Registry<network::FabricMaker>::Configured> network;
    std::optional<Registry<network::BackendMaker>::Configured> backend;
    if (const ConfigNode* section = root.find("network")) {
        network = components.networks.read(*section, context);
    }
    if (const ConfigNode* section = root.find("backend")) {
        backend = components.backends.read(*section, context);
    }
    if (context.error_count() > 0) {
        return context.errors();
    }

    run.kind_ = *kind;
    Experiment& setting = run.setting_;
    setting.seed = request.seed;
    setting.network_kind = network->kind;
    setting.fabric = network->make()(request.seed);
    setting.backend_kind = backend->kind;
    setting.backend = backend->make();
    setting.cluster.ranks = request.ranks.value_or(setting.fabric->host_count());
    setting.cluster.options.active_chunks = request.active_chunks;
    setting.cluster.options.end_point.injection_latency = *injection_latency;
    setting.cluster.options.minimum_chunk = Bytes(1);
    const auto index = static_cast<std::size_t>(*kind);
    setting.cluster.algorithms[index] = request.algorithm;
    setting.cluster.options.collectives[index] = {find_algorithm(components, request.algorithm).algorithm,
                                                  request.chunks};
    run.check_setting(request, context);
    if (context.error_count() > 0) {
        return context.errors();
    }
    return run;
}

void CollectiveRun::check_setting(const CollectiveRequest& request, ReadContext& context) const {
    const std::string ranks = std::to_string(setting_.cluster.ranks);
    if (setting_.cluster.ranks < 1 || setting_.cluster.ranks > setting_.fabric->host_count()) {
        context.error("collective.ranks", argument("--ranks", ranks),
                      fmt::format("{} ranks on {} hosts", ranks, setting_.fabric->host_count()),
                      "every rank runs on a host of its own: between 1 and the number of hosts");
    }
    const auto index = static_cast<std::size_t>(kind_);
    if (setting_.cluster.ranks >= 2) {
        if (const auto refusal = setting_.cluster.options.collectives[index].algorithm->refusal(
                kind_, static_cast<system::Position>(setting_.cluster.ranks))) {
            context.error("collective.algorithm", argument("--algorithm", request.algorithm),
                          fmt::format("{} cannot carry out {} over {} ranks: {}", request.algorithm,
                                      collective_key(index), ranks, *refusal),
                          "astrolabe list algorithms");
        }
    }
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        if (const auto problem =
                traffic_problem(single_collective(kind_, setting_.cluster.ranks, bytes_in(sizes_[i])))) {
            context.error("collective.size", argument("--size", request.sizes[i]), *problem,
                          "take a smaller size or fewer ranks");
        }
    }
    if (const auto refusal = setting_.backend.refusal(*setting_.fabric)) {
        context.error(
            "config.backend", argument("--backend", request.backend),
            fmt::format("backend '{}' cannot run this network: {}", setting_.backend_kind, *refusal));
    }
}

Bytes CollectiveRun::bytes_in(Bytes size) const {
    return kind_ == system::CollectiveKind::kAllGather ? size / setting_.cluster.ranks : size;
}

CollectivePoint CollectiveRun::run(std::size_t index, const ProgressObserver& observer) const {
    const auto ranks = static_cast<std::int64_t>(setting_.cluster.ranks);
    CollectivePoint point;
    point.kind = kind_;
    point.ranks = setting_.cluster.ranks;
    point.algorithm = setting_.cluster.algorithms[static_cast<std::size_t>(kind_)];
    point.size = sizes_[index];
    point.bytes_in = point.size;
    point.bytes_out = point.size;
    if (kind_ == system::CollectiveKind::kAllGather) {
        point.bytes_in = bytes_in(point.size);
        point.size = point.bytes_in * ranks;
        point.bytes_out = point.size;
    } else if (kind_ == system::CollectiveKind::kReduceScatter) {
        point.bytes_out = system::part_size(point.size, setting_.cluster.ranks, 0);
    }
    Experiment experiment = setting_;
    experiment.program = single_collective(kind_, setting_.cluster.ranks, point.bytes_in);
    if (point.ranks >= 2 && point.size > Bytes(0)) {
        const auto& choice = setting_.cluster.options.collectives[static_cast<std::size_t>(kind_)];
        const auto positions = static_cast<system::Position>(point.ranks);
        point.steps = choice.algorithm->schedule(kind_, positions, 0).steps();
        point.bytes_sent_max =
            system::traffic_of(*choice.algorithm, kind_, positions, point.bytes_in,
                               system::chunk_count(point.bytes_in, Bytes(1), choice.chunks))
                .bytes_sent_max();
    }
    point.run = run_experiment(experiment, observer);
    point.lower_bound = point.run.bound.value();
    return point;
}

nlohmann::ordered_json to_json(const CollectivePoint& point) {
    return {{"kind", std::string(system::to_string(point.kind))},
            {"algorithm", point.algorithm},
            {"ranks", point.ranks},
            {"size_bytes", point.size.count()},
            {"bytes_in_per_rank", point.bytes_in.count()},
            {"bytes_out_per_rank", point.bytes_out.count()},
            {"time_s", to_seconds(point.run.execution.total)},
            {"lower_bound_s", to_seconds(point.lower_bound)},
            {"algorithm_bandwidth_Bps", point.algorithm_bandwidth()},
            {"bus_bandwidth_Bps", point.bus_bandwidth()},
            {"steps", point.steps},
            {"messages", point.run.network.messages},
            {"bytes_sent_max_per_rank", point.bytes_sent_max.count()},
            {"network", network_json(point.run)},
            {"engine", engine_json(point.run.engine)}};
}

std::string collective_table(const CollectiveRun& run, const std::vector<CollectivePoint>& points) {
    const Experiment& setting = run.setting();
    std::string text;
    if (!points.empty()) {
        text = fmt::format(
            "# {} by {} over {} ranks on {} ({} hosts), {}; size: {}\n",
            system::to_string(points.front().kind), points.front().algorithm, points.front().ranks,
            setting.network_kind, setting.fabric->host_count(), setting.backend_kind,
            points.front().kind == system::CollectiveKind::kAllGather ? "bytes of the result"
                                                                      : "bytes per rank before");
    }
    text += fmt::format(
        "{:>14} {:>14} {:>16} {:>10} {:>10} {:>16} {:>7}\n{:>14} {:>14} {:>16} {:>10} {:>10} {:>16} {:>7}\n",
        "size", "sent max/rank", "time", "algbw", "busbw", "lower bound", "ratio", "(B)", "(B)", "(us)",
        "(GB/s)", "(GB/s)", "(us)", "");
    for (const CollectivePoint& point : points) {
        const double time = to_seconds(point.run.execution.total);
        const double bound = to_seconds(point.lower_bound);
        text += fmt::format("{:>14} {:>14} {:>16.6f} {:>10.3f} {:>10.3f} {:>16.6f} {:>7}\n",
                            point.size.count(), point.bytes_sent_max.count(), time * 1e6,
                            point.algorithm_bandwidth() / 1e9, point.bus_bandwidth() / 1e9, bound * 1e6,
                            bound > 0 ? fmt::format("{:.3f}", time / bound) : "-");
    }
    return text;
}

}  // namespace astrolabe::experiment
