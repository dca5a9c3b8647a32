#include "../file/job_network.hpp"
#include "engine.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/file/equal_cost.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/collective_run.hpp>
#include <astrolabe/system/executor/circuit_order.hpp>

namespace astrolabe::experiment {
namespace {

SourceRange argument(const std::string& option, const std::string& value) {
    return {std::make_shared<const SourceText>(SourceText{option, value}), 1, 1,
            static_cast<int>(value.size())};
}

constexpr const char* kUnevenKind = "all_to_all_v";

struct RequestedKind {
    system::CollectiveKind kind{};
    bool is_uneven = false;
};

std::optional<RequestedKind> read_kind(const std::string& text, ReadContext& context) {
    std::string name = text;
    std::replace(name.begin(), name.end(), '-', '_');
    if (name == kUnevenKind) {
        return RequestedKind{system::CollectiveKind::kAllToAll, true};
    }
    std::vector<std::string> names{kUnevenKind};
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        names.push_back(collective_key(kind));
        if (names.back() == name) {
            return RequestedKind{static_cast<system::CollectiveKind>(kind), false};
        }
    }
    context.error("collective.kind", argument("--kind", text),
                  fmt::format("'{}' is not a kind of collective", text), suggest(name, names));
    return std::nullopt;
}

/// "16x8"; empty: no dimensions.
std::vector<system::Position> read_dimensions(const std::string& text, ReadContext& context) {
    std::vector<system::Position> dimensions;
    for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
        const std::size_t end = std::min(text.find('x', begin), text.size());
        ConfigNode node = ConfigNode::scalar(text.substr(begin, end - begin));
        node.where = argument("--dimensions", text);
        if (const auto size =
                read_scalar<system::Position>(node, "--dimensions, written 16x8,", context, {1, 1U << 20})) {
            dimensions.push_back(*size);
        }
        begin = end + 1;
    }
    return dimensions;
}

/// A mapping given on the command line, or just the value of the key that chooses.
std::optional<ConfigNode> read_choice(const std::string& option, const std::string& discriminator,
                                      const std::string& text, ReadContext& context) {
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
    ConfigNode name = ConfigNode::scalar(text);
    name.where = argument(option, text);
    ConfigNode section = ConfigNode::mapping();
    section.where = name.where;
    section.set(discriminator, name);
    return section;
}

/// A section given on the command line: {kind: …}, the path of a file, or (backends) just a kind.
std::optional<ConfigNode> read_section(const std::string& option, const std::string& key,
                                       const std::string& text, bool kind_alone, ReadContext& context) {
    const bool is_mapping = !text.empty() && text.front() == '{';
    if (is_mapping || (kind_alone && text.find_first_of("./") == std::string::npos)) {
        return read_choice(option, "kind", text, context);
    }
    ConfigNode node = ConfigNode::scalar(text);
    node.where = argument(option, text);
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
std::optional<T> read_argument(const std::string& option, const std::string& text, ReadContext& context,
                               const Range<T>& range = {T(0), {}}) {
    ConfigNode node = ConfigNode::scalar(text);
    node.where = argument(option, text);
    return read_scalar<T>(node, option, context, range);
}

constexpr std::int64_t kMillion = 1'000'000;

/// R as whole millionths; the only place where a number with a fraction enters sizes.
std::optional<std::int64_t> read_imbalance(const std::string& text, ReadContext& context) {
    ConfigNode node = ConfigNode::scalar(text);
    node.where = argument("--imbalance", text);
    const auto ratio = read_scalar<double>(node, "--imbalance", context, {1.0, 1048576.0});
    return ratio ? std::optional(std::llround(*ratio * static_cast<double>(kMillion))) : std::nullopt;
}

/// Bytes that each rank has for every one: the first `imbalance` millionths of the mean, the others the rest.
system::PairSizes uneven_sizes(std::size_t ranks, Bytes size, std::int64_t imbalance) {
    const auto count = static_cast<std::int64_t>(ranks);
    const Bytes mean = size / count;
    const auto fullest = static_cast<std::int64_t>(detail::Int128{mean.count()} * imbalance / kMillion);
    std::vector<Bytes> from{std::min(Bytes(fullest), mean * count)};
    const Bytes rest = mean * count - from.front();
    for (std::size_t rank = 1; rank < ranks; ++rank) {
        from.push_back(system::part_size(rest, ranks - 1, rank - 1));
    }
    return system::PairSizes::by_source(std::move(from));
}

/// Rank i of the first half beside rank i + N/2.
system::Partition pairs(std::size_t ranks) {
    system::Partition partition{.name = "pairs", .groups = {}};
    for (std::size_t rank = 0; rank < ranks / 2; ++rank) {
        partition.groups.push_back({system::RankId(rank), system::RankId(rank + ranks / 2)});
    }
    return partition;
}

}  // namespace

std::string CollectivePoint::kind_name() const {
    return is_uneven ? kUnevenKind : std::string(system::to_string(kind));
}

double CollectivePoint::algorithm_bandwidth() const {
    const double seconds = to_seconds(run.execution.total);
    return seconds > 0 ? static_cast<double>(size.count()) / seconds : 0.0;
}

double CollectivePoint::bus_bandwidth() const {
    if (system::has_root(kind)) {
        return algorithm_bandwidth();
    }
    const double n = static_cast<double>(ranks);
    const double passes = kind == system::CollectiveKind::kAllReduce ? 2.0 : 1.0;
    return algorithm_bandwidth() * passes * (n - 1) / n;
}

Result<CollectiveRun> CollectiveRun::prepare(const CollectiveRequest& request, const Components& components) {
    ReadContext context;
    CollectiveRun run;
    const std::optional<RequestedKind> kind = read_kind(request.kind, context);
    for (const std::string& text : request.sizes) {
        if (const auto size = read_argument<Bytes>("--size", text, context)) {
            run.sizes_.push_back(*size);
        }
    }
    const auto injection_latency =
        read_argument<Time>("--injection-latency", request.injection_latency, context, kInjectionLatencies);
    const std::vector<system::Position> dimensions = read_dimensions(request.dimensions, context);
    run.imbalance_ = read_imbalance(request.imbalance, context).value_or(kMillion);

    ConfigNode root = ConfigNode::mapping();
    const auto set_section = [&](const std::string& key, std::optional<ConfigNode> section) {
        if (section) {
            root.set(key, *std::move(section));
        }
    };
    set_section("algorithm", read_choice("--algorithm", "algorithm", request.algorithm, context));
    set_section("network", read_section("--network", "network", request.network, false, context));
    set_section("backend", read_section("--backend", "backend", request.backend, true, context));
    for (const std::string& assignment : request.overrides) {
        for (Diagnostic& error : apply_override(root, assignment)) {
            context.error(std::move(error));
        }
    }
    report_unknown_keys(root, {"algorithm", "network", "backend", "end_point", "folding"}, "collective",
                        false, context);
    const auto configured = [&](const char* key, const auto& registry) {
        const ConfigNode* section = root.find(key);
        return section == nullptr ? std::nullopt : registry.read(*section, context);
    };
    const auto algorithm = configured("algorithm", components.algorithms);
    const ConfigNode* network_section = root.find("network");
    const auto network =
        network_section == nullptr ? std::nullopt : read_network(*network_section, components, context);
    const auto backend = configured("backend", components.backends);
    std::optional<system::EndPoint> end_point = system::EndPoint{};
    if (const ConfigNode* section = root.find("end_point")) {
        end_point = end_point_schema().read(*section, context);
    }
    std::optional<FoldingMode> folding = FoldingMode::kAuto;
    if (const ConfigNode* key = root.find("folding")) {
        folding = read_scalar<FoldingMode>(*key, "'folding'", context);
    }
    if (context.error_count() > 0) {
        return context.errors();
    }

    run.kind_ = kind->kind;
    run.is_uneven_ = kind->is_uneven;
    Experiment& setting = run.setting_;
    setting.seed = request.seed;
    setting.network_kind = network->kind;
    const network::FabricMaker maker = network->make();
    if (!maker.needs_job()) {
        setting.fabric = maker(request.seed);
        setting.cluster.options.opportunities = network::direct_opportunities(setting.fabric);
    } else if (!request.ranks) {
        context.error("collective.ranks", argument("--network", request.network),
                      fmt::format("a network of kind '{}' is built for its ranks, and nobody says how many",
                                  network->kind),
                      "add --ranks 16");
        return context.errors();
    }
    setting.backend_kind = backend->kind;
    setting.backend = backend->make();
    setting.cluster.folding = *folding;
    setting.cluster.ranks = request.ranks ? *request.ranks : setting.fabric->host_count();
    system::SystemOptions& options = setting.cluster.options;
    options.active_chunks = request.active_chunks;
    options.end_point = *end_point;
    options.end_point.injection_latency = *injection_latency;
    options.minimum_chunk = Bytes(1);
    const auto index = static_cast<std::size_t>(run.kind_);
    setting.cluster.algorithms[index] = algorithm->kind;
    const system::AlgorithmPointer made = algorithm->make();
    options.collectives[index] = {made, request.chunks.value_or(made->default_chunks())};
    setting.cluster.chunks_given[index] = request.chunks.has_value();
    if (const auto problem = dimensions_problem(dimensions, setting.cluster.ranks)) {
        context.error("collective.dimensions", argument("--dimensions", request.dimensions), problem->message,
                      problem->hint);
    } else if (!dimensions.empty()) {
        options.dimensions = system::Shape(dimensions);
    }
    if (maker.needs_job()) {
        run.build_network(request, maker.for_job(), context);
    }
    if (setting.fabric != nullptr) {
        run.check_setting(request, context);
    }
    if (context.error_count() > 0) {
        return context.errors();
    }
    return run;
}

void CollectiveRun::build_network(const CollectiveRequest& request,
                                  const network::FabricMaker::BuildForJob& build, ReadContext& context) {
    check_algorithm(request, context);
    check_traffic(request, context);
    if (context.error_count() > 0) {
        return;
    }
    Experiment setting = setting_;
    setting.program = program(*std::max_element(sizes_.begin(), sizes_.end()));
    for (const ParameterProblem& problem : build_for_job(setting, build)) {
        context.error("collective.network", argument("--network", request.network), problem.message,
                      problem.hint);
    }
    setting.program = {};
    setting_ = std::move(setting);
}

void CollectiveRun::check_setting(const CollectiveRequest& request, ReadContext& context) const {
    const std::string ranks = std::to_string(setting_.cluster.ranks);
    const std::size_t errors_before = context.error_count();
    if (setting_.cluster.ranks < 1 || setting_.cluster.ranks > setting_.fabric->host_count()) {
        context.error("collective.ranks", argument("--ranks", ranks),
                      fmt::format("{} ranks on {} hosts", ranks, setting_.fabric->host_count()),
                      "every rank runs on a host of its own: between 1 and the number of hosts");
    } else if (kind_ == system::CollectiveKind::kPointToPoint && setting_.cluster.ranks % 2 != 0) {
        context.error("collective.ranks", argument("--ranks", ranks),
                      fmt::format("{} ranks do not make pairs", ranks),
                      "point_to_point joins rank i of the first half to rank i + N/2: take an even number");
    }
    if (imbalance_ > static_cast<std::int64_t>(setting_.cluster.ranks) * kMillion) {
        context.error("collective.imbalance", argument("--imbalance", request.imbalance),
                      fmt::format("no rank of {} can hold more than {} times the mean", ranks, ranks),
                      "between 1, all alike, and the number of ranks");
    } else if (imbalance_ != kMillion && !is_uneven_) {
        context.error("collective.imbalance", argument("--imbalance", request.imbalance),
                      "only all_to_all_v has sizes that differ", "--kind all_to_all_v");
    }
    if (const auto problem = circuit_problem(setting_, static_cast<std::size_t>(kind_))) {
        context.error("collective.circuits", argument("--algorithm", request.algorithm), problem->message,
                      problem->hint);
    }
    if (const auto problem = rings_problem(setting_, static_cast<std::size_t>(kind_))) {
        context.error("collective.rings", argument("--algorithm", request.algorithm), problem->message,
                      problem->hint);
    }
    if (context.error_count() == errors_before) {
        check_algorithm(request, context);
        check_traffic(request, context);
    }
    if (context.error_count() == errors_before) {
        check_sizes(request, context);
    }
    if (const auto refusal = setting_.backend.refusal(*setting_.fabric)) {
        context.error(
            "config.backend", argument("--backend", request.backend),
            fmt::format("backend '{}' cannot run this network: {}", setting_.backend_kind, *refusal));
    }
}

void CollectiveRun::check_algorithm(const CollectiveRequest& request, ReadContext& context) const {
    const auto index = static_cast<std::size_t>(kind_);
    const system::SystemOptions& options = setting_.cluster.options;
    const system::Program smallest = program(Bytes(0));
    const auto& group = smallest.partitions[system::PartitionId(0)].groups.front();
    if (group.size() >= 2) {
        const system::Shape shape = system::group_shape(group, options);
        if (const auto refusal = options.collectives[index].algorithm->unsupported(kind_, shape)) {
            context.error(
                "collective.algorithm", argument("--algorithm", request.algorithm),
                fmt::format("{} cannot carry out {} over {} ranks: {}", setting_.cluster.algorithms[index],
                            collective_key(index), shape.text(), *refusal),
                "astrolabe list algorithms");
        }
    }
    if (const auto surplus = surplus_dimensions(*options.collectives[index].algorithm,
                                                options.dimensions ? options.dimensions->size() : 1)) {
        context.error("collective.algorithm", argument("--algorithm", request.algorithm), *surplus,
                      "what is said of the others has no effect: leave it out, or give more --dimensions");
    }
}

void CollectiveRun::check_traffic(const CollectiveRequest& request, ReadContext& context) const {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        if (const auto problem = traffic_problem(program(sizes_[i]), setting_.cluster.options)) {
            context.error("collective.size", argument("--size", request.sizes[i]), *problem,
                          "take a smaller size or fewer ranks");
        }
    }
}

void CollectiveRun::check_sizes(const CollectiveRequest& request, ReadContext& context) const {
    const system::SystemOptions& options = setting_.cluster.options;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        if (const auto endless = time_problem(lower_bound(program(sizes_[i]), options, *setting_.fabric))) {
            context.error("collective.size", argument("--size", request.sizes[i]), *endless,
                          "take a smaller size or faster links");
        }
        const bool is_shared_out = is_uneven_ || kind_ == system::CollectiveKind::kAllGather;
        if (is_shared_out && sizes_[i] > Bytes(0) && sizes_[i] / setting_.cluster.ranks == Bytes(0)) {
            context.error("collective.size", argument("--size", request.sizes[i]),
                          fmt::format("{} is less than a byte for each of {} ranks", request.sizes[i],
                                      setting_.cluster.ranks),
                          "the size is rounded down to a multiple of the ranks, so nothing would be sent");
        }
    }
}

system::Program CollectiveRun::program(Bytes size) const {
    const std::size_t ranks = setting_.cluster.ranks;
    system::Program program;
    program.ranks = ranks;
    program.iterations = 1;
    const bool is_paired = kind_ == system::CollectiveKind::kPointToPoint && ranks > 1;
    system::CollectiveOperation work{
        .kind = kind_,
        .partition = program.partitions.push_back(is_paired ? pairs(ranks) : system::Partition::world(ranks)),
        .size = kind_ == system::CollectiveKind::kAllGather ? size / ranks : size};
    if (is_uneven_) {
        const system::PairSizes sizes = uneven_sizes(ranks, size, imbalance_);
        work.size = sizes.largest_held();
        work.pair_sizes = std::make_shared<const std::vector<system::PairSizes>>(1, sizes);
    }
    system::Operation operation;
    operation.name = is_uneven_ ? kUnevenKind : std::string(system::to_string(kind_));
    operation.layer = operation.name;
    operation.work = std::move(work);
    const system::OperationId collective = program.operations.push_back(std::move(operation));
    system::Operation wait;
    wait.name = program.operations[collective].name + ".wait";
    wait.layer = program.operations[collective].layer;
    wait.work = system::ComputeOperation{Time(0)};
    wait.dependencies = {collective};
    program.operations.push_back(std::move(wait));
    system::order_by_circuits(program, setting_.cluster.options, place_ranks(setting_));
    return program;
}

CollectivePoint CollectiveRun::run(std::size_t index, const ProgressObserver& observer) const {
    Experiment experiment = setting_;
    experiment.program = program(sizes_[index]);
    constexpr system::OperationId kCollective{0};
    const system::CollectiveOperation& work = experiment.program.operations[kCollective].collective();
    const std::size_t ranks = setting_.cluster.ranks;
    const auto kind = static_cast<std::size_t>(kind_);
    CollectivePoint point;
    point.kind = kind_;
    point.is_uneven = is_uneven_;
    point.ranks = ranks;
    point.algorithm = setting_.cluster.algorithms[kind];
    point.bytes_in = work.size;
    point.size = work.size;
    if (kind_ == system::CollectiveKind::kAllGather) {
        point.size = work.size * ranks;
    } else if (is_uneven_) {
        point.size = sizes_[index] / ranks * ranks;
    }
    const bool is_scattered = kind_ == system::CollectiveKind::kReduceScatter;
    point.bytes_out = is_scattered ? system::part_size(point.size, ranks, 0) : point.size;
    point.run = run_experiment(experiment, observer);
    if (point.run.network.messages > 0) {
        const auto& group = experiment.program.partitions[work.partition].groups.front();
        const system::Shape shape = system::group_shape(group, setting_.cluster.options);
        point.steps = setting_.cluster.options.collectives[kind].algorithm->schedule(kind_, shape, 0).steps();
    }
    const std::vector<Bytes>& sent = point.run.traffic_counts.of(kCollective).sent_by_rank;
    point.bytes_sent_max = *std::max_element(sent.begin(), sent.end());
    point.lower_bound = point.run.bounds.value();
    return point;
}

nlohmann::ordered_json to_json(const CollectivePoint& point) {
    return {{"kind", point.kind_name()},
            {"algorithm", point.algorithm},
            {"ranks", point.ranks},
            {"size_bytes", point.size.count()},
            {"bytes_in_per_rank", point.bytes_in.count()},
            {"bytes_out_per_rank", point.bytes_out.count()},
            {"time_s", to_seconds(point.run.execution.total)},
            {"lower_bound_s", to_seconds(point.lower_bound)},
            {"bounds", bounds_json(point.run)},
            {"algorithm_bandwidth_Bps", point.algorithm_bandwidth()},
            {"bus_bandwidth_Bps", point.bus_bandwidth()},
            {"steps", point.steps},
            {"messages", point.run.network.messages},
            {"bytes_sent_max_per_rank", point.bytes_sent_max.count()},
            {"network", network_json(point.run)},
            {"engine", engine_json(point.run.engine)}};
}

namespace {

std::string_view meaning_of_size(const CollectivePoint& point) {
    switch (point.kind) {
        case system::CollectiveKind::kAllGather:
            return "bytes of the result";
        case system::CollectiveKind::kBroadcast:
        case system::CollectiveKind::kPointToPoint:
            return "bytes a sender has";
        case system::CollectiveKind::kAllReduce:
        case system::CollectiveKind::kReduceScatter:
        case system::CollectiveKind::kAllToAll:
        case system::CollectiveKind::kReduce:
            break;
    }
    return point.is_uneven ? "bytes per rank before, mean" : "bytes per rank before";
}

}  // namespace

std::string collective_table(const CollectiveRun& run, const std::vector<CollectivePoint>& points) {
    const Experiment& setting = run.setting();
    std::string text;
    if (!points.empty()) {
        const CollectivePoint& first = points.front();
        text = fmt::format("# {} by {} over {} ranks on {} ({} hosts), {}; size: {}\n", first.kind_name(),
                           first.algorithm, first.ranks, setting.network_kind, setting.fabric->host_count(),
                           setting.backend_kind, meaning_of_size(first));
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
