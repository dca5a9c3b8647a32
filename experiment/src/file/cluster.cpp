#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <astrolabe/core/config/section_list.hpp>
#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe {

template <>
struct EnumNames<system::Scheduling> {
    static constexpr std::array<std::pair<std::string_view, system::Scheduling>, 2> kNames{
        {{"lifo", system::Scheduling::kLifo}, {"fifo", system::Scheduling::kFifo}}};
};

template <>
struct EnumNames<system::StageOrder> {
    static constexpr std::array<std::pair<std::string_view, system::StageOrder>, 4> kNames{
        {{"priority", system::StageOrder::kPriority},
         {"smallest_chunk", system::StageOrder::kSmallestChunk},
         {"alternate", system::StageOrder::kAlternate},
         {"fewest_stages", system::StageOrder::kFewestStages}}};
};

template <>
struct EnumNames<system::StartOrder> {
    static constexpr std::array<std::pair<std::string_view, system::StartOrder>, 2> kNames{
        {{"agreed", system::StartOrder::kAgreed}, {"independent", system::StartOrder::kIndependent}}};
};

template <>
struct EnumNames<system::CopyEngine> {
    static constexpr std::array<std::pair<std::string_view, system::CopyEngine>, 2> kNames{
        {{"parallel", system::CopyEngine::kParallel}, {"serial", system::CopyEngine::kSerial}}};
};

template <>
struct EnumNames<system::EndPointTiming> {
    static constexpr std::array<std::pair<std::string_view, system::EndPointTiming>, 2> kNames{
        {{"per_message", system::EndPointTiming::kPerMessage},
         {"astra_sim_1", system::EndPointTiming::kAstraSim1}}};
};

}  // namespace astrolabe

namespace astrolabe::experiment {
namespace {

constexpr Range<std::uint32_t> kChunks{1, 1U << 20};
constexpr Range<std::uint32_t> kTrafficClasses{0, 7};
constexpr Range<std::uint64_t> kSeeds{0, std::numeric_limits<std::int64_t>::max()};

system::AlgorithmRegistry::Configured configured(const Components& components, const ConfigNode& keys) {
    ReadContext context;
    auto algorithm = components.algorithms.read(keys, context);
    ASTROLABE_ASSERT(algorithm, "the algorithm is registered");
    return *std::move(algorithm);
}

/// Until one is chosen.
ConfigNode provisional_algorithm(std::size_t kind, bool network_needs_job) {
    const auto which = static_cast<system::CollectiveKind>(kind);
    const bool is_direct = which == system::CollectiveKind::kAllToAll || system::has_root(which);
    ConfigNode keys = ConfigNode::mapping();
    if (network_needs_job && !is_direct) {
        keys.set("algorithm", ConfigNode::scalar("multi_ring"));
        keys.set("strides", ConfigNode::scalar("network"));
    } else {
        keys.set("algorithm", ConfigNode::scalar(is_direct ? "direct" : "ring"));
    }
    return keys;
}

/// The keys of an algorithm that differ from its defaults.
ConfigNode own_keys(const system::AlgorithmRegistry::Configured& algorithm, const Components& components) {
    ConfigNode name = ConfigNode::mapping();
    name.set("algorithm", ConfigNode::scalar(algorithm.kind));
    ReadContext context;
    const auto plain = components.algorithms.read(name, context);
    ConfigNode own = ConfigNode::mapping();
    for (const ConfigEntry& entry : algorithm.resolved.entries) {
        const ConfigNode* usual = plain ? plain->resolved.find(entry.key) : nullptr;
        if (entry.key == "algorithm" || usual == nullptr || to_yaml(*usual) != to_yaml(entry.value)) {
            own.set(entry.key, entry.value);
        }
    }
    return own;
}

void read_collective(CollectiveKeys& keys, const ConfigNode& node, std::size_t kind,
                     const Components& components, ReadContext& context) {
    if (!node.is_mapping()) {
        context.error(
            "config.type", node.where,
            fmt::format("'{}' takes a mapping, found {}", collective_key(kind), node.kind_name()),
            fmt::format("write {{algorithm: {}}}", node.is_scalar() ? node.text : std::string(kAuto)));
        return;
    }
    const auto is_open = [&node](const char* key) {
        const ConfigNode* value = node.find(key);
        return value == nullptr || (value->is_scalar() && value->text == kAuto);
    };
    if (is_open("algorithm")) {
        std::vector<std::string> known = collective_keys();
        known.emplace_back("algorithm");
        report_unknown_keys(node, known, collective_key(kind), false, context);
    } else {
        keys.algorithm = components.algorithms.read(node, context, collective_keys());
    }
    if (const ConfigNode* chunks = node.find("chunks"); !is_open("chunks")) {
        keys.chunks = read_scalar<std::uint32_t>(*chunks, "'chunks'", context, kChunks);
    }
    if (const ConfigNode* traffic_class = node.find("traffic_class")) {
        keys.traffic_class = static_cast<std::uint8_t>(
            read_scalar<std::uint32_t>(*traffic_class, "'traffic_class'", context, kTrafficClasses)
                .value_or(0));
    }
}

ConfigNode write_collective(const CollectiveKeys& keys) {
    ConfigNode node = ConfigNode::mapping();
    if (keys.algorithm) {
        node = keys.algorithm->resolved;
    } else {
        node.set("algorithm", ConfigNode::scalar(std::string(kAuto)));
    }
    node.set("chunks", ConfigNode::scalar(keys.chunks ? std::to_string(*keys.chunks) : std::string(kAuto)));
    node.set("traffic_class", ConfigNode::scalar(std::to_string(keys.traffic_class)));
    return node;
}

/// Names of the algorithms that take `kind`, without those that do not say by themselves what they do.
std::vector<std::string> algorithms_for(const Components& components, std::size_t kind) {
    constexpr system::Position kProbedRanks = 4;
    const auto which = static_cast<system::CollectiveKind>(kind);
    std::vector<std::string> names;
    for (const std::string& name : components.algorithms.names()) {
        ConfigNode node = ConfigNode::mapping();
        node.set("algorithm", ConfigNode::scalar(name));
        ReadContext context;
        const auto configured = components.algorithms.read(node, context);
        if (configured && system::takes_kind(*configured->make(), which, kProbedRanks)) {
            names.push_back(name);
        }
    }
    return names;
}

std::vector<ParameterDescriptor> collective_parameters(const Components& components, std::size_t kind) {
    std::string type = "one of auto";
    for (const std::string& name : algorithms_for(components, kind)) {
        type += ", " + name;
    }
    return {
        {"algorithm",
         type + ", schedule",
         std::string(kAuto),
         false,
         {},
         "collective algorithm; its own keys are beside this one; auto: the fastest for the network, for "
         "each size and groups of ranks",
         {}},
        {"chunks",
         "auto or " + ValueTraits<std::uint32_t>::type(),
         std::string(kAuto),
         false,
         range_text(kChunks),
         "chunks a collective is cut in, each run by itself; auto: 1, or one for each ring of multi_ring, "
         "unless more are faster",
         {}},
        {"traffic_class",
         ValueTraits<std::uint32_t>::type(),
         "0",
         false,
         range_text(kTrafficClasses),
         "of its messages in the network, the larger the more urgent, on backends that have classes",
         {}}};
}

using AllCollectives = std::array<CollectiveKeys, system::kCollectiveKinds>;

Schema<AllCollectives> collectives_schema(const Components& components) {
    Schema<AllCollectives> schema("collectives", "algorithm and chunks of each kind of collective");
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        schema.field(
            {collective_key(kind),
             "mapping",
             "see its keys",
             false,
             {},
             "how this collective is carried out",
             collective_parameters(components, kind)},
            [&components, kind](AllCollectives& all, const ConfigNode& node, ReadContext& context) {
                read_collective(all[kind], node, kind, components, context);
            },
            [kind](const AllCollectives& all) { return std::optional(write_collective(all[kind])); });
    }
    return schema;
}

/// "[16, 4] make 64 ranks, the cluster has 128", or nothing.
std::optional<ValidationError> dimensions_problem(const std::vector<system::Position>& dimensions,
                                                  std::size_t ranks) {
    if (dimensions.empty()) {
        return std::nullopt;
    }
    std::uint64_t product = 1;
    for (const system::Position size : dimensions) {
        product = std::min<std::uint64_t>(product * size, std::uint64_t{1} << 32);
    }
    if (product == ranks) {
        return std::nullopt;
    }
    return ValidationError{
        "dimensions",
        fmt::format("[{}] make {} ranks, the cluster has {}", fmt::join(dimensions, ", "), product, ranks),
        "the product of the dimensions is the number of ranks"};
}

/// "name 3 dimensions, the ranks have 2", or nothing.
std::optional<std::string> surplus_dimensions(const system::CollectiveAlgorithm& algorithm,
                                              std::size_t dimensions) {
    const std::size_t known = std::max<std::size_t>(dimensions, 1);
    if (algorithm.dimensions_named() <= known) {
        return std::nullopt;
    }
    return fmt::format("the keys of the algorithm speak of {} dimensions, the ranks have {}",
                       algorithm.dimensions_named(), known);
}

/// Algorithms that were chosen for a kind they do not do over any group of these ranks. What a schedule from
/// a file can serve shows with the groups of the program.
ValidationErrors algorithm_errors(const ClusterKeys& keys, const Components& components) {
    ValidationErrors problems;
    for (std::size_t index = 0; index < system::kCollectiveKinds; ++index) {
        const CollectiveKeys& collective = keys.collectives[index];
        if (!collective.algorithm || collective.algorithm->kind == system::kScheduleFromFile) {
            continue;
        }
        const auto kind = static_cast<system::CollectiveKind>(index);
        const auto ranks = static_cast<system::Position>(std::max<std::size_t>(keys.ranks, 2));
        const system::AlgorithmPointer algorithm = collective.algorithm->make();
        if (!system::takes_kind(*algorithm, kind, ranks)) {
            problems.push_back({"collectives." + collective_key(index) + ".algorithm",
                                algorithm->unsupported(kind, ranks).value_or(""),
                                suggest("", algorithms_for(components, index))});
        } else if (auto surplus = surplus_dimensions(*algorithm, keys.dimensions.size())) {
            problems.push_back(
                {"collectives." + collective_key(index) + ".algorithm", *std::move(surplus),
                 "what is said of the others has no effect: leave it out, or give the ranks more "
                 "'dimensions'"});
        }
    }
    return problems;
}

ValidationErrors cluster_errors(const ClusterKeys& keys, const Components& components) {
    ValidationErrors problems = algorithm_errors(keys, components);
    if (std::optional<ValidationError> problem = dimensions_problem(keys.dimensions, keys.ranks)) {
        problems.push_back(*std::move(problem));
    }
    for (ValidationError& error : placement_errors(keys.placement, keys.ranks)) {
        problems.push_back(std::move(error));
    }
    for (ValidationError& error : rank_device_errors(keys.devices, keys.ranks)) {
        problems.push_back(std::move(error));
    }
    return problems;
}

/// Keys of `cluster.end_point`.
Schema<system::EndPoint> end_point_schema() {
    using system::EndPoint;
    Schema<EndPoint> schema("end_point", "what a message costs where it leaves and where it arrives");
    schema
        .optional("copy_engine", &EndPoint::copy_engine,
                  "whether a rank copies its messages into the network interface all at once or one by one")
        .optional("reduction_bandwidth", &EndPoint::reduction_bandwidth,
                  "of the memory in which received messages are added up; unset: adding is free",
                  {Bandwidth(1), {}})
        .optional("rendezvous_threshold", &EndPoint::rendezvous_threshold,
                  "messages of at least this size wait for a request from the receiver; unset: none does",
                  {Bytes(1), {}})
        .optional("timing", &EndPoint::timing,
                  "costs of every message, or the whole-nanosecond formula of ASTRA-sim 1.0")
        .check([](const EndPoint& end_point) { return validation_errors(end_point); });
    return schema;
}

void add_order_of_chunks(Schema<ClusterKeys>& schema) {
    schema
        .optional("scheduling", &ClusterKeys::scheduling,
                  "which of the waiting collectives starts next: the newest or the oldest")
        .field(
            {"active_chunks",
             "auto or " + ValueTraits<std::uint32_t>::type(),
             std::to_string(*ClusterKeys{}.active_chunks),
             false,
             range_text(kChunks),
             "chunks a rank and group may have in flight, in their first stage; auto: as many as the job as "
             "a "
             "whole is fastest with",
             {}},
            [](ClusterKeys& keys, const ConfigNode& node, ReadContext& context) {
                if (node.is_scalar() && node.text == kAuto) {
                    keys.active_chunks.reset();
                } else if (const auto count =
                               read_scalar<std::uint32_t>(node, "'active_chunks'", context, kChunks)) {
                    keys.active_chunks = count;
                }
            },
            [](const ClusterKeys& keys) {
                return std::optional(ConfigNode::scalar(
                    keys.active_chunks ? std::to_string(*keys.active_chunks) : std::string(kAuto)));
            })
        .optional("active_chunks_per_dimension", &ClusterKeys::active_chunks_per_dimension,
                  "chunks a rank and group may have in flight in one dimension, whatever the stage; unset: "
                  "all",
                  kChunks)
        .optional("dimension_scheduling", &ClusterKeys::dimension_scheduling,
                  "which of the chunks that wait for a dimension is next")
        .optional("start_order", &ClusterKeys::start_order,
                  "what decides which chunk starts next: one order for all ranks of a group, or every rank "
                  "for itself, which can deadlock");
}

}  // namespace

std::string collective_key(std::size_t kind) {
    return std::string(system::to_string(static_cast<system::CollectiveKind>(kind)));
}

std::optional<ValidationError> circuit_problem(const Experiment& experiment, std::size_t kind) {
    const system::SystemOptions& options = experiment.cluster.options;
    const system::AlgorithmPointer& algorithm = options.collectives[kind].algorithm;
    if (options.circuit_windows != nullptr || algorithm == nullptr ||
        algorithm->circuit_use() == system::CircuitUse::kNone) {
        return std::nullopt;
    }
    return ValidationError{
        "collectives." + collective_key(kind) + ".algorithm",
        fmt::format("{} sends when the circuit between two ranks comes, and no circuits come and go in "
                    "network '{}'",
                    experiment.cluster.algorithms[kind], experiment.network_kind),
        "choose another algorithm (astrolabe list algorithms), or a network whose "
        "circuits come and go (astrolabe list networks)"};
}

std::optional<ValidationError> rings_problem(const Experiment& experiment, std::size_t kind) {
    const system::AlgorithmPointer& algorithm = experiment.cluster.options.collectives[kind].algorithm;
    if (experiment.fabric->family().job_rings() || algorithm == nullptr || !algorithm->needs_rings()) {
        return std::nullopt;
    }
    return ValidationError{
        "collectives." + collective_key(kind) + ".strides",
        fmt::format("{} takes the strides of the rings that the network was built of, and network '{}' was "
                    "not built of rings",
                    experiment.cluster.algorithms[kind], experiment.network_kind),
        "give them as a list: strides: [1, 3], or take a network that is built for its job"};
}

Schema<OperationRule> operation_rule_schema() {
    Schema<OperationRule> schema("operations",
                                 "collectives that are treated differently from others of their kind");
    schema
        .required("name", &OperationRule::name,
                  "of collectives as operations.csv names them; * stands for any text, ? for a character")
        .required("traffic_class", &OperationRule::traffic_class, "of their messages", kTrafficClasses);
    return schema;
}

Schema<ClusterKeys> cluster_schema(const Components& components) {
    Schema<ClusterKeys> schema("cluster", "the ranks, their device, and how they carry out collectives");
    schema.required("ranks", &ClusterKeys::ranks, "number of ranks", {1, 1U << 20})
        .field(
            placement_parameter(),
            [](ClusterKeys& keys, const ConfigNode& node, ReadContext& context) {
                read_placement(keys.placement, node, context);
            },
            [](const ClusterKeys& keys) { return write_placement(keys.placement); })
        .field(
            {"placement_seed",
             ValueTraits<std::uint64_t>::type(),
             "unset",
             false,
             range_text(kSeeds),
             "of placement: random; unset: that of the experiment",
             {}},
            [](ClusterKeys& keys, const ConfigNode& node, ReadContext& context) {
                keys.placement.seed = read_scalar<std::uint64_t>(node, "'placement_seed'", context, kSeeds);
            },
            [](const ClusterKeys& keys) {
                return keys.placement.seed
                           ? std::optional(ConfigNode::scalar(std::to_string(*keys.placement.seed)))
                           : std::nullopt;
            })
        .field(
            {"device",
             "mapping",
             "unset",
             false,
             {},
             "what a rank computes on, or the path of a file that holds it; only a workload that computes "
             "nothing, kind: flows, goes without",
             {}},
            [&components](ClusterKeys& keys, const ConfigNode& node, ReadContext& context) {
                keys.device = components.devices.read(node, context);
            },
            [](const ClusterKeys& keys) {
                return keys.device ? std::optional(keys.device->resolved) : std::nullopt;
            })
        .field(
            {"devices",
             "mapping, or list of mappings",
             "[]",
             false,
             {},
             "ranks that compute on other devices, or more slowly",
             rank_device_schema(components.devices).parameters()},
            [&components](ClusterKeys& keys, const ConfigNode& node, ReadContext& context) {
                const Schema<RankDevice> entry = rank_device_schema(components.devices);
                for (const ConfigNode& one : node.is_sequence() ? node.items : std::vector{node}) {
                    if (auto device = entry.read(one, context)) {
                        keys.devices.push_back(*std::move(device));
                    }
                }
            },
            [&components](const ClusterKeys& keys) -> std::optional<ConfigNode> {
                const Schema<RankDevice> entry = rank_device_schema(components.devices);
                std::vector<ConfigNode> written;
                for (const RankDevice& device : keys.devices) {
                    written.push_back(entry.write(device));
                }
                return written.empty() ? std::nullopt
                                       : std::optional(ConfigNode::sequence(std::move(written)));
            })
        .section("jitter", &ClusterKeys::jitter, jitter_schema(),
                 "computations take times that are drawn, every rank with numbers of its own")
        .section("contention", &ClusterKeys::contention, contention_schema(),
                 "shares of a device that collectives hold while they are in flight; unset: none")
        .list("dimensions", &ClusterKeys::dimensions,
              "logical dimensions of the ranks, the fastest-varying first, whatever the links are; empty: "
              "one, or inside and across on equal servers that the ranks fill in order",
              false, {1, 1U << 20})
        .section("collectives", &ClusterKeys::collectives, collectives_schema(components),
                 "algorithm and chunks of each kind of collective");
    add_section_list(schema, "operations", &ClusterKeys::operations, operation_rule_schema(),
                     "traffic classes of single operations; the first entry that fits one holds");
    add_section_list(schema, "choices", &ClusterKeys::choices, choice_schema(),
                     "what `auto` chose, as a resolved file records it; each is taken over while all that it "
                     "depends on is the same");
    schema
        .section(
            "network_choice", &ClusterKeys::network_choice, job_choice_schema(),
            "which of the networks that were offered for the job was taken, counted from 1; as `choices`")
        .section("window_choice", &ClusterKeys::window_choice, job_choice_schema(),
                 "what `active_chunks: auto` took; as `choices`");
    add_order_of_chunks(schema);
    schema
        .optional("injection_latency", &ClusterKeys::injection_latency,
                  "copy into the network interface, per message", kInjectionLatencies)
        .section("end_point", &ClusterKeys::end_point, end_point_schema(),
                 "what a message costs where it leaves and where it arrives")
        .section(
            "measured_collectives", &ClusterKeys::measured, measured_collectives_schema(),
            "times below which no collective ends, as a machine was measured, or the path of a file that "
            "`astrolabe calibrate` wrote")
        .section("nccl_tuning", &ClusterKeys::nccl_tuning, nccl_tuning_schema(),
                 "instead of measured times, those that NCCL's own model expects: a baseline")
        .optional("minimum_chunk", &ClusterKeys::minimum_chunk, "collectives are not cut finer than this",
                  {Bytes(1), {}})
        .optional("padding", &ClusterKeys::padding,
                  "round collectives up to sizes that their ranks share in equal blocks, as sharding "
                  "libraries do")
        .optional("folding", &ClusterKeys::folding,
                  "simulate ranks that are alike once, where the backend can: same results, much sooner")
        .check([&components](const ClusterKeys& keys) { return cluster_errors(keys, components); });
    return schema;
}

Cluster make_cluster(const ClusterKeys& keys, const Components& components, bool network_needs_job) {
    Cluster cluster;
    cluster.ranks = keys.ranks;
    if (keys.device) {
        cluster.device = keys.device->make();
    }
    cluster.devices = keys.devices;
    cluster.jitter = keys.jitter;
    cluster.contention = keys.contention;
    system::SystemOptions& options = cluster.options;
    if (!keys.dimensions.empty()) {
        options.dimensions = system::Shape(keys.dimensions);
    }
    options.scheduling = keys.scheduling;
    options.active_chunks = keys.active_chunks.value_or(options.active_chunks);
    options.active_chunks_per_dimension = keys.active_chunks_per_dimension;
    options.stage_order = keys.dimension_scheduling;
    options.start_order = keys.start_order;
    options.end_point = keys.end_point;
    options.end_point.injection_latency = keys.injection_latency;
    options.minimum_chunk = keys.minimum_chunk;
    cluster.measured = keys.measured;
    cluster.nccl_tuning = keys.nccl_tuning;
    cluster.padding = keys.padding;
    cluster.folding = keys.folding;
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        const auto& given = keys.collectives[kind].algorithm;
        const auto chosen =
            given ? *given : configured(components, provisional_algorithm(kind, network_needs_job));
        cluster.algorithms[kind] = chosen.kind;
        cluster.named[kind] = own_keys(chosen, components);
        const system::AlgorithmPointer algorithm = chosen.make();
        cluster.algorithm_given[kind] = given.has_value();
        cluster.chunks_given[kind] = keys.collectives[kind].chunks.has_value();
        options.collectives[kind] = {algorithm,
                                     keys.collectives[kind].chunks.value_or(algorithm->default_chunks()),
                                     keys.collectives[kind].traffic_class};
    }
    return cluster;
}

ComponentDescription cluster_description(const Components& components) {
    const Schema<ClusterKeys> schema = cluster_schema(components);
    return {schema.name(), schema.help(), schema.parameters()};
}

}  // namespace astrolabe::experiment
