#include "../calibration/least_durations.hpp"
#include "../choice/choose.hpp"
#include "engine.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/file/equal_cost.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/run/collective_run.hpp>
#include <astrolabe/system/executor/circuit_order.hpp>

namespace astrolabe::experiment {
namespace {

constexpr const char* kUnevenKind = "all_to_all_v";

/// `node`, of the text of an option, which errors name as their place.
ConfigNode argument(const std::string& option, const std::string& text, ConfigNode node) {
    node.where = {std::make_shared<const SourceText>(SourceText{option, text}), 1, 1,
                  static_cast<int>(text.size())};
    return node;
}
ConfigNode argument(const std::string& option, const std::string& text) {
    return argument(option, text, ConfigNode::scalar(text));
}

template <class T>
std::optional<T> read_argument(const std::string& option, const std::string& text, const Range<T>& range,
                               ReadContext& context) {
    return read_scalar<T>(argument(option, text), option, context, range);
}

/// The name of a kind in experiment files.
std::optional<std::string> read_kind(const std::string& text, ReadContext& context) {
    std::string name = text;
    std::replace(name.begin(), name.end(), '-', '_');
    std::vector<std::string> names{kUnevenKind};
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        names.push_back(collective_key(kind));
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
        return name;
    }
    context.error("collective.kind", argument("--kind", text).where,
                  fmt::format("'{}' is not a kind of collective", text), suggest(name, names));
    return std::nullopt;
}

/// "16x8" as [16, 8]; empty: no dimensions.
ConfigNode read_dimensions(const std::string& text, ReadContext& context) {
    std::vector<ConfigNode> dimensions;
    for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
        const std::size_t end = std::min(text.find('x', begin), text.size());
        dimensions.push_back(
            argument("--dimensions", text, ConfigNode::scalar(text.substr(begin, end - begin))));
        static_cast<void>(read_scalar<system::Position>(dimensions.back(), "--dimensions, written 16x8,",
                                                        context, {1, 1U << 20}));
        begin = end + 1;
    }
    return argument("--dimensions", text, ConfigNode::sequence(std::move(dimensions)));
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
    ConfigNode section = argument(option, text, ConfigNode::mapping());
    section.set(discriminator, argument(option, text));
    return section;
}

/// A section given on the command line: {kind: …}, the path of a file, or (backends) just a kind.
std::optional<ConfigNode> read_section(const std::string& option, const std::string& key,
                                       const std::string& text, bool kind_alone, ReadContext& context) {
    const bool is_mapping = !text.empty() && text.front() == '{';
    if (is_mapping || (kind_alone && text.find_first_of("./") == std::string::npos)) {
        return read_choice(option, "kind", text, context);
    }
    ConfigNode node = argument(option, text);
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

/// The sections that the command line gives, with its overrides.
ConfigNode read_sections(const CollectiveRequest& request, ReadContext& context) {
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
    if (!request.measured.empty()) {
        root.set("measured_collectives", argument("--measured", request.measured));
    }
    report_unknown_keys(
        root,
        {"algorithm", "network", "backend", "end_point", "folding", "measured_collectives", "nccl_tuning"},
        "collective", false, context);
    return root;
}

ConfigNode mapping(std::initializer_list<std::pair<const char*, ConfigNode>> entries) {
    ConfigNode node = ConfigNode::mapping();
    for (const auto& [key, value] : entries) {
        node.set(key, value);
    }
    return node;
}

ConfigNode workload_section(const CollectiveRequest& request, const std::string& kind,
                            const std::string& size) {
    return argument("--size", size,
                    mapping({{"kind", ConfigNode::scalar("collective")},
                             {"collective", argument("--kind", kind)},
                             {"size", argument("--size", size)},
                             {"imbalance", argument("--imbalance", request.imbalance)}}));
}

/// `key` is that of the kind of collective.
ConfigNode cluster_section(const CollectiveRequest& request, const std::string& key, std::size_t ranks,
                           const ConfigNode& dimensions, const ConfigNode& sections) {
    ConfigNode choice = *sections.find("algorithm");
    if (request.chunks) {
        choice.set("chunks", ConfigNode::scalar(std::to_string(*request.chunks)));
    }
    ConfigNode cluster =
        mapping({{"ranks", argument("--ranks", std::to_string(ranks))},
                 {"device", mapping({{"kind", ConfigNode::scalar("roofline")}})},
                 {"dimensions", dimensions},
                 {"collectives", ConfigNode::mapping()},
                 {"active_chunks", ConfigNode::scalar(std::to_string(request.active_chunks))},
                 {"injection_latency", argument("--injection-latency", request.injection_latency)},
                 {"minimum_chunk", ConfigNode::scalar("1B")}});
    cluster.find("collectives")->set(key, std::move(choice));
    for (const char* given : {"end_point", "folding", "measured_collectives", "nccl_tuning"}) {
        if (const ConfigNode* section = sections.find(given)) {
            cluster.set(given, *section);
        }
    }
    return cluster;
}

system::CollectiveKind kind_of(const std::string& key) {
    std::size_t kind = 0;
    while (collective_key(kind) != key) {
        ++kind;
    }
    return static_cast<system::CollectiveKind>(kind);
}

/// What is wrong with the experiment, in the terms of the command.
Diagnostics in_options(Diagnostics errors) {
    struct Terms {
        std::string code;  // empty: that of the option
        std::string hint;  // empty: that of the experiment
    };
    static const std::map<std::string, Terms> kTerms{
        {"config.ranks",
         {"collective.ranks", "every rank runs on a host of its own: between 1 and the number of hosts"}},
        {"config.algorithm", {"collective.algorithm", "astrolabe list algorithms"}},
        {"config.circuits", {"collective.circuits", ""}},
        {"config.rings", {"collective.rings", ""}},
        {"config.traffic", {"collective.size", "take a smaller size or fewer ranks"}},
        {"config.time", {"collective.size", "take a smaller size or faster links"}},
        {"config.inconsistent", {"", ""}}};
    for (Diagnostic& error : errors) {
        const std::string place = error.where.source ? error.where.source->name : "";
        const auto terms = kTerms.find(error.code);
        if (terms == kTerms.end() || !place.starts_with("--")) {
            continue;
        }
        if (error.code == "config.time" && place != "--size") {
            continue;  // of the latencies of the network
        }
        if (terms->second.code.empty()) {
            error.message.erase(0, error.message.find(": ") + 2);  // the key, which the option stands for
        }
        error.code = terms->second.code.empty() ? "collective." + place.substr(2) : terms->second.code;
        error.hint = terms->second.hint.empty() ? error.hint : terms->second.hint;
    }
    return errors;
}

/// Jobs that do the collective, one for each size; reports the sizes that this many ranks cannot share.
std::vector<workload::Job> read_jobs(const CollectiveRequest& request, const std::string& kind,
                                     std::size_t ranks, const Components& components, ReadContext& context) {
    std::vector<workload::Job> jobs;
    for (const std::string& size : request.sizes) {
        const ConfigNode section = workload_section(request, kind, size);
        jobs.push_back(components.workloads.read(section, context)->make());
        for (const ValidationError& problem : jobs.back().validation_errors({}, ranks)) {
            // What every size has in common is reported once.
            if (problem.key == "size" || jobs.size() == 1) {
                const bool is_parity = problem.key == "collective";
                context.error("collective." + (is_parity ? "ranks" : problem.key),
                              is_parity ? argument("--ranks", std::to_string(ranks)).where
                                        : section.find(problem.key)->where,
                              problem.message, problem.hint);
            }
        }
    }
    return jobs;
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
    const std::optional<std::string> kind = read_kind(request.kind, context);
    for (const std::string& size : request.sizes) {
        run.sizes_.push_back(
            read_argument<Bytes>("--size", size, {Bytes(0), {}}, context).value_or(Bytes(0)));
    }
    static_cast<void>(
        read_argument<Time>("--injection-latency", request.injection_latency, kInjectionLatencies, context));
    const ConfigNode dimensions = read_dimensions(request.dimensions, context);
    static_cast<void>(read_argument<double>("--imbalance", request.imbalance, {1.0, 1048576.0}, context));
    const ConfigNode sections = read_sections(request, context);
    // Each by itself, so that what is wrong with one shows whatever is wrong with the others.
    const auto check = [&](const char* key, const auto& registry) {
        if (const ConfigNode* section = sections.find(key)) {
            static_cast<void>(registry.read(*section, context));
        }
    };
    const ConfigNode* algorithm = sections.find_path("algorithm.algorithm");
    if (algorithm == nullptr || algorithm->text != kAuto) {
        check("algorithm", components.algorithms);
    }
    std::optional<Registry<network::FabricMaker>::Configured> network;
    if (const ConfigNode* section = sections.find("network")) {
        network = read_network(*section, components, context);
    }
    check("backend", components.backends);
    if (context.error_count() > 0) {
        return context.errors();
    }
    const network::FabricMaker maker = network->make();
    if (maker.needs_job() && !request.ranks) {
        context.error(
            "collective.ranks", argument("--network", request.network).where,
            fmt::format("a network of kind '{}' is built for its ranks, and their number is not given",
                        network->kind),
            "add --ranks 16");
        return context.errors();
    }
    const std::size_t ranks = request.ranks ? *request.ranks : maker(request.seed)->host_count();
    run.is_uneven_ = *kind == kUnevenKind;
    const std::string key = run.is_uneven_ ? "all_to_all" : *kind;
    run.kind_ = kind_of(key);
    const std::vector<workload::Job> jobs = read_jobs(request, *kind, ranks, components, context);
    const auto largest = std::max_element(run.sizes_.begin(), run.sizes_.end()) - run.sizes_.begin();
    Result<Experiment> experiment = read_experiment(
        mapping(
            {{"schema", ConfigNode::scalar(std::string(kSchemaName))},
             {"workload", workload_section(request, *kind, request.sizes[static_cast<std::size_t>(largest)])},
             {"cluster", cluster_section(request, key, ranks, dimensions, sections)},
             {"network", *sections.find("network")},
             {"backend", *sections.find("backend")}}),
        {}, "collective", request.seed, components);
    Diagnostics errors = context.errors();
    for (Diagnostic& error : experiment ? Diagnostics{} : in_options(experiment.error())) {
        if (std::none_of(errors.begin(), errors.end(),
                         [&](const Diagnostic& known) { return known.message == error.message; })) {
            errors.push_back(std::move(error));
        }
    }
    if (!errors.empty()) {
        return errors;
    }
    run.setting_ = *std::move(experiment);
    for (const workload::Job& job : jobs) {
        Experiment sized = run.setting_;
        sized.program = job.program(sized.cluster.device, ranks);
        if (sized.cluster.measured) {
            sized.measured = set_least_durations(sized.program, *sized.cluster.measured);
        } else if (sized.cluster.nccl_tuning) {
            sized.measured = set_least_durations(sized.program, *sized.cluster.nccl_tuning);
        }
        choose_methods(sized, {}, components);
        system::order_by_circuits(sized.program, sized.cluster.options, place_ranks(sized));
        run.sized_.push_back({std::move(sized.program), std::move(sized.choices), std::move(sized.measured)});
    }
    return run;
}

CollectivePoint CollectiveRun::run(std::size_t index, const ProgressObserver& observer,
                                   std::size_t threads) const {
    Experiment experiment = setting_;
    const std::size_t ranks = setting_.cluster.ranks;
    const system::SystemOptions& options = setting_.cluster.options;
    experiment.program = sized_[index].program;
    experiment.choices = sized_[index].choices;
    constexpr system::OperationId kCollective{0};
    const system::CollectiveOperation& work = experiment.program.operations[kCollective].collective();
    const bool is_shared_out = is_uneven_ || kind_ == system::CollectiveKind::kAllGather;
    CollectivePoint point;
    point.kind = kind_;
    point.is_uneven = is_uneven_;
    point.ranks = ranks;
    point.algorithm = algorithm_name(experiment, work);
    point.choices = experiment.choices;
    point.measured = sized_[index].measured;
    point.bytes_in = work.size;
    point.size = is_shared_out ? sizes_[index] / ranks * ranks : sizes_[index];
    const bool is_scattered = kind_ == system::CollectiveKind::kReduceScatter;
    point.bytes_out = is_scattered ? system::part_size(point.size, ranks, 0) : point.size;
    point.run = run_experiment(experiment, observer, {.threads = threads});
    if (point.run.network.messages > 0) {
        const auto& group = experiment.program.partitions[work.partition].groups.front();
        const system::Shape shape = system::group_shape(group, options);
        point.steps = system::chosen_algorithm(work, options)->schedule(kind_, shape, 0).steps();
    }
    const std::vector<Bytes>& sent = point.run.traffic_counts.of(kCollective).sent_by_rank;
    point.bytes_sent_max = *std::max_element(sent.begin(), sent.end());
    point.lower_bound = point.run.bounds.value();
    return point;
}

nlohmann::ordered_json to_json(const CollectivePoint& point) {
    nlohmann::ordered_json json{{"kind", point.kind_name()},
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
    if (!point.choices.empty()) {
        json["choices"] = choices_json(point.choices);
    }
    return json;
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
    const bool has_choices =
        std::ranges::any_of(points, [](const CollectivePoint& point) { return !point.choices.empty(); });
    if (!points.empty()) {
        const CollectivePoint& first = points.front();
        const bool is_open = !setting.cluster.algorithm_given[static_cast<std::size_t>(first.kind)];
        text = fmt::format("# {} by {} over {} ranks on {} ({} hosts), {}; size: {}\n", first.kind_name(),
                           is_open ? kAuto : first.algorithm, first.ranks, setting.network_kind,
                           setting.fabric->host_count(), setting.backend_kind, meaning_of_size(first));
    }
    text += fmt::format(
        "{:>14} {:>14} {:>16} {:>10} {:>10} {:>16} {:>7}{}\n{:>14} {:>14} {:>16} {:>10} {:>10} {:>16} "
        "{:>7}\n",
        "size", "sent max/rank", "time", "algbw", "busbw", "lower bound", "ratio", has_choices ? "  by" : "",
        "(B)", "(B)", "(us)", "(GB/s)", "(GB/s)", "(us)", "");
    for (const CollectivePoint& point : points) {
        const double time = to_seconds(point.run.execution.total);
        const double bound = to_seconds(point.lower_bound);
        text += fmt::format("{:>14} {:>14} {:>16.6f} {:>10.3f} {:>10.3f} {:>16.6f} {:>7}{}\n",
                            point.size.count(), point.bytes_sent_max.count(), time * 1e6,
                            point.algorithm_bandwidth() / 1e9, point.bus_bandwidth() / 1e9, bound * 1e6,
                            bound > 0 ? fmt::format("{:.3f}", time / bound) : "-",
                            point.choices.empty() ? "" : "  " + point.choices.front().chosen.method.text());
    }
    return text;
}

}  // namespace astrolabe::experiment
