#include "../schedule/schedule_file.hpp"
#include "collectives.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <astrolabe/system/components.hpp>

namespace astrolabe {

template <>
struct EnumNames<system::HierarchicalOptimisation> {
    static constexpr std::array<std::pair<std::string_view, system::HierarchicalOptimisation>, 2> kNames{
        {{"baseline", system::HierarchicalOptimisation::kBaseline},
         {"local_bandwidth_aware", system::HierarchicalOptimisation::kLocalBandwidthAware}}};
};

template <>
struct EnumNames<system::DimensionOrder> {
    static constexpr std::array<std::pair<std::string_view, system::DimensionOrder>, 3> kNames{
        {{"ascending", system::DimensionOrder::kAscending},
         {"round_robin", system::DimensionOrder::kRoundRobin},
         {"themis", system::DimensionOrder::kThemis}}};
};

}  // namespace astrolabe

namespace astrolabe::system {

namespace {

/// Of groups that show which kinds an algorithm takes at all.
constexpr Position kProbedRanks = 4;

/// " (all_reduce, broadcast)"
std::string kinds_text(const CollectiveAlgorithm& algorithm) {
    std::string text;
    for (std::size_t i = 0; i < kCollectiveKinds; ++i) {
        const auto kind = static_cast<CollectiveKind>(i);
        if (takes_kind(algorithm, kind, kProbedRanks)) {
            text += (text.empty() ? " (" : ", ") + std::string(to_string(kind));
        }
    }
    return text + ")";
}

struct NoParameters {};

void add(AlgorithmRegistry& registry, const std::string& name, const std::string& help,
         AlgorithmPointer (*make)()) {
    registry.add<NoParameters>(Schema<NoParameters>(name, help + kinds_text(*make())),
                               [make](const NoParameters&) { return make(); });
}

struct WindowedDirectParameters {
    Position window = kDefaultSendWindow;
};

void add_windowed_direct(AlgorithmRegistry& registry) {
    const auto make = [](const WindowedDirectParameters& parameters) {
        return make_windowed_direct(parameters.window);
    };
    Schema<WindowedDirectParameters> schema(
        "windowed_direct", "as direct, with a bounded number of sends of a rank under way: a bounded incast" +
                               kinds_text(*make({})));
    schema.optional("window", &WindowedDirectParameters::window, "sends of a rank under way", {1, {}});
    registry.add<WindowedDirectParameters>(schema, make);
}

constexpr std::string_view kRingsOfNetwork = "network";
constexpr Range<Position> kStrides{1, 1U << 20};

struct MultiRingParameters {
    std::optional<unsigned> rings;
    std::vector<Position> strides;
    bool of_network = false;
    bool barrier = false;
};

AlgorithmPointer make_configured_multi_ring(const MultiRingParameters& parameters) {
    if (parameters.of_network) {
        return make_multi_ring_of_network(parameters.barrier);
    }
    return make_multi_ring({.rings = parameters.rings.value_or(MultiRingOptions{}.rings),
                            .strides = parameters.strides,
                            .barrier = parameters.barrier});
}

void read_strides(MultiRingParameters& parameters, const ConfigNode& node, ReadContext& context) {
    parameters.of_network = node.is_scalar() && node.text == kRingsOfNetwork;
    if (parameters.of_network) {
        return;
    }
    if (!node.is_sequence() || node.items.empty()) {
        context.error("config.type", node.where,
                      "'strides' takes a list of strides or 'network', found " +
                          std::string(node.is_sequence() ? "an empty list" : node.kind_name()),
                      "write [1, 5], or network for those that it was built of");
        return;
    }
    for (const ConfigNode& item : node.items) {
        if (const auto stride = read_scalar<Position>(item, "an item of 'strides'", context, kStrides)) {
            parameters.strides.push_back(*stride);
        }
    }
}

std::optional<ConfigNode> write_strides(const MultiRingParameters& parameters) {
    if (parameters.of_network) {
        return ConfigNode::scalar(std::string(kRingsOfNetwork));
    }
    if (parameters.strides.empty()) {
        return std::nullopt;
    }
    std::vector<ConfigNode> items;
    for (const Position stride : parameters.strides) {
        items.push_back(ConfigNode::scalar(std::to_string(stride)));
    }
    return ConfigNode::sequence(std::move(items));
}

std::vector<ParameterProblem> problems(const MultiRingParameters& parameters) {
    if (parameters.rings && (parameters.of_network || !parameters.strides.empty())) {
        return {{"rings", "'strides' says which rings there are, one for each",
                 "leave 'rings' out, or 'strides'"}};
    }
    return {};
}

void add_multi_ring(AlgorithmRegistry& registry) {
    Schema<MultiRingParameters> schema(
        "multi_ring",
        "as ring, but chunks go round several rings of different strides in turn: as many links of a rank "
        "carry load; in as many chunks as there are rings, unless 'chunks' is given" +
            kinds_text(*make_multi_ring({})));
    schema
        .optional("rings", &MultiRingParameters::rings,
                  "rings, of the smallest strides without a common divisor with the number of ranks; all "
                  "there are where these are fewer; unset: " +
                      std::to_string(MultiRingOptions{}.rings) + ", or those of 'strides'",
                  {1U, 1U << 20})
        .field(
            {"strides",
             "network, or list of " + ValueTraits<Position>::type(),
             "unset",
             false,
             range_text(kStrides),
             "of the rings, each from rank i to i + stride, without a common divisor with the ranks of any "
             "group; network: those that the network was built of",
             {}},
            read_strides, write_strides)
        .optional("barrier", &MultiRingParameters::barrier,
                  "whether no rank begins a step of a ring before all ranks have done the one before; of "
                  "all_reduce, reduce_scatter and all_gather")
        .check([](const MultiRingParameters& parameters) { return problems(parameters); });
    registry.add<MultiRingParameters>(schema, make_configured_multi_ring);
}

struct HierarchicalParameters {
    HierarchicalOptimisation optimisation = HierarchicalOptions{}.optimisation;
    DimensionOrder order = HierarchicalOptions{}.order;
    std::vector<AlgorithmRegistry::Configured> dimension_algorithms;
    std::vector<Bandwidth> bandwidths;
};

AlgorithmPointer make_configured_hierarchical(const HierarchicalParameters& parameters) {
    HierarchicalOptions options;
    options.optimisation = parameters.optimisation;
    options.order = parameters.order;
    options.bandwidths = parameters.bandwidths;
    for (const AlgorithmRegistry::Configured& inner : parameters.dimension_algorithms) {
        options.per_dimension.push_back(inner.make());
    }
    return make_hierarchical(std::move(options));
}

/// A list of algorithms by name, or as mappings where they have keys of their own.
void read_dimension_algorithms(const AlgorithmRegistry& inner, HierarchicalParameters& parameters,
                               const ConfigNode& node, ReadContext& context) {
    if (!node.is_sequence()) {
        context.error("config.type", node.where,
                      "'dimension_algorithms' takes a list, found " + std::string(node.kind_name()),
                      "write [direct, double_binary_tree]: one for each dimension, the last for all beyond");
        return;
    }
    for (const ConfigNode& item : node.items) {
        ConfigNode choice = item;
        if (item.is_scalar()) {
            choice = ConfigNode::mapping();
            choice.where = item.where;
            choice.set(inner.discriminator(), item);
        }
        if (auto configured = inner.read(choice, context)) {
            parameters.dimension_algorithms.push_back(*std::move(configured));
        }
    }
}

ConfigNode write_dimension_algorithms(const HierarchicalParameters& parameters) {
    std::vector<ConfigNode> items;
    for (const AlgorithmRegistry::Configured& inner : parameters.dimension_algorithms) {
        const bool is_plain = inner.resolved.entries.size() == 1;
        items.push_back(is_plain ? ConfigNode::scalar(inner.kind) : inner.resolved);
    }
    return ConfigNode::sequence(std::move(items));
}

std::vector<ParameterProblem> problems(const HierarchicalParameters& parameters) {
    if (!parameters.bandwidths.empty() && parameters.order != DimensionOrder::kThemis) {
        return {{"bandwidths", "only 'order: themis' balances loads by bandwidths",
                 "leave them out, or write order: themis"}};
    }
    for (const AlgorithmRegistry::Configured& inner : parameters.dimension_algorithms) {
        if (inner.make()->needs_rings()) {
            return {{"dimension_algorithms", "a network has rings for whole groups, not for their dimensions",
                     "give 'strides' as a list"}};
        }
    }
    return {};
}

void add_hierarchical(AlgorithmRegistry& registry) {
    // Of an algorithm inside one dimension there is nothing to divide further.
    const auto inner = std::make_shared<const AlgorithmRegistry>(registry);
    Schema<HierarchicalParameters> schema(
        "hierarchical",
        "phase by phase through the logical dimensions of the ranks, each with an algorithm of its own" +
            kinds_text(*make_hierarchical({})));
    schema
        .optional("optimisation", &HierarchicalParameters::optimisation,
                  "of an all_reduce: the whole vector in every dimension, or what is left of it after "
                  "reduce-scatters in the dimensions before")
        .field(
            {"dimension_algorithms",
             "list of algorithms",
             "[]",
             false,
             {},
             "by dimension, the last for all beyond, each a name or a mapping with its own keys; empty: ring",
             {}},
            [inner](HierarchicalParameters& parameters, const ConfigNode& node, ReadContext& context) {
                read_dimension_algorithms(*inner, parameters, node, context);
            },
            [](const HierarchicalParameters& parameters) {
                return std::optional(write_dimension_algorithms(parameters));
            })
        .optional("order", &HierarchicalParameters::order, "in which a chunk goes through the dimensions")
        .list("bandwidths", &HierarchicalParameters::bandwidths,
              "of a rank in each dimension, the last for all beyond, for order: themis; empty: all alike",
              false, {Bandwidth(1), {}})
        .check([](const HierarchicalParameters& parameters) { return problems(parameters); });
    registry.add<HierarchicalParameters>(schema, make_configured_hierarchical);
}

struct ScheduleParameters {
    std::string path;
    AlgorithmPointer algorithm;
};

void read_schedule_parameters(ScheduleParameters& parameters, const ConfigNode& node, ReadContext& context) {
    const std::optional<std::string> given = read_scalar<std::string>(node, "'file'", context);
    if (!given) {
        return;
    }
    const std::filesystem::path path = (directory_of(node) / *given).lexically_normal();
    Result<AlgorithmPointer> algorithm = read_schedule_file(path);
    if (!algorithm) {
        for (Diagnostic error : algorithm.error()) {
            if (!error.where.source) {
                error.where = node.where;
            }
            context.error(std::move(error));
        }
        return;
    }
    parameters.algorithm = *std::move(algorithm);
    parameters.path = std::filesystem::absolute(path).lexically_normal().string();
}

void add_schedule(AlgorithmRegistry& registry) {
    Schema<ScheduleParameters> schema(
        std::string(kScheduleFromFile),
        "a schedule of your own, proven before it is used (the kind and ranks of "
        "its file)");
    schema.field({"file", "path", "", true, {}, "the schedule, relative to the file that names it", {}},
                 read_schedule_parameters, [](const ScheduleParameters& parameters) {
                     return std::optional(ConfigNode::scalar(parameters.path));
                 });
    registry.add<ScheduleParameters>(
        schema, [](const ScheduleParameters& parameters) { return parameters.algorithm; });
}

}  // namespace

bool takes_kind(const CollectiveAlgorithm& algorithm, CollectiveKind kind, Position most_ranks) {
    for (Position ranks = 2; ranks <= std::max<Position>(most_ranks, 2); ++ranks) {
        if (!algorithm.refusal(kind, ranks)) {
            return true;
        }
    }
    return false;
}

void register_builtin_algorithms(AlgorithmRegistry& registry) {
    add(registry, "bidirectional_ring",
        "chunks go round the ring in alternate directions, an all_to_all's blocks the shorter way: both "
        "directions of a ring carry load",
        make_bidirectional_ring);
    add(registry, "binomial_tree",
        "the whole chunk down a tree to one child at a time, or up and added: logarithmic steps",
        make_binomial_tree);
    add(registry, "bruck",
        "logarithmic steps for any number of ranks; the all_to_all forwards blocks: least latency, more "
        "bytes",
        make_bruck);
    add(registry, "direct",
        "every rank exchanges with every other at once: fewest steps, one incast per rank", make_direct);
    add(registry, "double_binary_tree",
        "chunks are reduced up and broadcast down two complementary binary trees: logarithmic steps at full "
        "rate",
        make_double_binary_tree);
    add(registry, "halving_doubling",
        "partners at distances 1, 2, 4, … exchange half as much each step, then the mirror image: "
        "logarithmic steps, least traffic",
        make_halving_doubling);
    add_multi_ring(registry);
    add(registry, "pairwise",
        "one partner at a time, a permutation of the ranks each step: no port is ever shared", make_pairwise);
    add(registry, "recursive_doubling",
        "partners at distances 1, 2, 4, … exchange the whole vector: fewest steps for small sizes",
        make_recursive_doubling);
    add(registry, "ring",
        "every rank sends to its neighbour only, step after step: least traffic, most steps", make_ring);
    add_windowed_direct(registry);
    add_hierarchical(registry);
    // Not inside dimensions, whose messages would wait neither for all ranks nor for circuits.
    add(registry, "barrier_direct",
        "as direct, with a barrier of all ranks between its halves, as of a synchronous sharded parameter "
        "server",
        make_barrier_direct);
    add(registry, "rotor_direct",
        "as direct on rotor switches: what goes between two ranks leaves when their racks are joined, and "
        "takes no other rack's circuits",
        make_rotor_direct);
    add(registry, "rotor_ring",
        "as ring on rotor switches: ranks in an order in which each is joined to the next soon after the one "
        "before",
        make_rotor_ring);
    add_schedule(registry);
}

}  // namespace astrolabe::system
