// Hierarchical: a collective over a grid as a sequence of collectives inside its dimensions
// (docs/theory/collectives-and-costs.md, "Hierarchical phases"; "baseline" and "localBWAware" of ASTRA-sim).
// Every phase is a stage of the schedule and copies the inner algorithm's schedule for the n_d ranks of a
// line of the grid onto every line of dimension d.
// hierarchical_plan.hpp says which blocks a phase moves.

#include "hierarchical.hpp"

#include "hierarchical_plan.hpp"
#include "ring.hpp"
#include "simple_algorithm.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

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

namespace astrolabe::system::hierarchical {

namespace {

class Hierarchical final : public CollectiveAlgorithm {
public:
    explicit Hierarchical(HierarchicalOptions options)
        : options_(std::move(options)) {
        if (options_.per_dimension.empty()) {
            options_.per_dimension.push_back(make_ring());
        }
        for (const auto& inner : options_.per_dimension) {
            ASTROLABE_ASSERT(inner != nullptr, "every dimension has an algorithm");
        }
        for (const Bandwidth rate : options_.bandwidths) {
            ASTROLABE_ASSERT(rate.count() > 0, "a dimension moves bytes");
        }
    }

    [[nodiscard]] std::optional<std::string> unsupported(CollectiveKind kind,
                                                         const Shape& shape) const override {
        if (has_root(kind)) {
            return "hierarchical does not do " + std::string(to_string(kind));
        }
        if (shape.ranks() == 1) {
            return std::nullopt;
        }
        constexpr Position kMaxRanks = Position{1} << 20;
        if (shape.ranks() > kMaxRanks) {
            return fmt::format("hierarchical takes at most {} ranks", kMaxRanks);
        }
        for (const Order& order : orders_of(shape, options_.order)) {
            for (const Stage stage : stages_of(kind, order, options_.optimisation)) {
                const Position ranks = shape[stage.dimension];
                if (inner(stage.dimension).has_barriers()) {
                    return "hierarchical supports no barriers inside a dimension";
                }
                if (const auto reason = inner(stage.dimension).unsupported(stage.kind, ranks)) {
                    return fmt::format("hierarchical cannot do {} in dimension {} of {}: {}",
                                       to_string(stage.kind), stage.dimension, shape.text(), *reason);
                }
            }
            std::vector<Phase> inner_schedules = phases(kind, shape, order, 0);
            if (count_columns(column_radices(shape, inner_schedules)) == kMaxColumns) {
                return fmt::format("hierarchical {} over {} with these algorithms takes {} blocks or more",
                                   to_string(kind), shape.text(), kMaxColumns);
            }
            if (const auto reason = too_large(Plan(kind, shape, std::move(inner_schedules)), shape)) {
                return reason;
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] unsigned variants(CollectiveKind kind, const Shape& shape) const override {
        unsigned count = 0;
        for (const Order& order : orders_of(shape, options_.order)) {
            count += combinations(kind, shape, order);
        }
        return count;
    }

    [[nodiscard]] std::vector<unsigned> variant_sequence(CollectiveKind kind, const Shape& shape,
                                                         std::uint32_t chunks) const override {
        // Variants are numbered order by order; the chunks of one order use its combinations of inner
        // variants round-robin.
        const std::vector<Order> orders = orders_of(shape, options_.order);
        std::vector<unsigned> first{0};
        for (const Order& order : orders) {
            first.push_back(first.back() + combinations(kind, shape, order));
        }
        std::vector<unsigned> used(orders.size());
        std::vector<unsigned> sequence;
        for (const std::size_t order : order_sequence(kind, shape, orders, chunks)) {
            sequence.push_back(first[order] + used[order]++ % (first[order + 1] - first[order]));
        }
        return sequence;
    }

    [[nodiscard]] std::size_t dimensions_named() const override {
        return std::max(options_.per_dimension.size(), options_.bandwidths.size());
    }

    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned variant) const override {
        for (const Order& order : orders_of(shape, options_.order)) {
            const unsigned count = combinations(kind, shape, order);
            if (variant < count) {
                return plan(kind, shape, order, variant).write();
            }
            variant -= count;
        }
        ASTROLABE_ASSERT(false, "the variant is one of variants()");
    }

private:
    [[nodiscard]] const CollectiveAlgorithm& inner(std::size_t dimension) const {
        return *options_.per_dimension[std::min(dimension, options_.per_dimension.size() - 1)];
    }
    [[nodiscard]] Bandwidth bandwidth(std::size_t dimension) const {
        return options_.bandwidths.empty()
                   ? Bandwidth(1'000'000'000'000)
                   : options_.bandwidths[std::min(dimension, options_.bandwidths.size() - 1)];
    }

    /// The inner variants of one dimension: the maximum over its phases.
    [[nodiscard]] unsigned inner_variants(CollectiveKind kind, const Shape& shape, const Order& order,
                                          std::uint32_t dimension) const {
        unsigned maximum = 1;
        for (const Stage stage : stages_of(kind, order, options_.optimisation)) {
            if (stage.dimension == dimension) {
                maximum = std::max(maximum, inner(dimension).variants(stage.kind, shape[dimension]));
            }
        }
        return maximum;
    }

    /// Combinations of inner variants.
    [[nodiscard]] unsigned combinations(CollectiveKind kind, const Shape& shape, const Order& order) const {
        unsigned count = 1;
        for (const std::uint32_t dimension : order) {
            count *= inner_variants(kind, shape, order, dimension);
        }
        return count;
    }

    /// `combination` is a number whose digits are the inner variants of the dimensions, the lowest first.
    [[nodiscard]] std::vector<Phase> phases(CollectiveKind kind, const Shape& shape, const Order& order,
                                            unsigned combination) const {
        std::vector<unsigned> chosen(shape.size());
        for (std::uint32_t dimension = 0; dimension < shape.size(); ++dimension) {
            const unsigned count = inner_variants(kind, shape, order, dimension);
            chosen[dimension] = combination % count;
            combination /= count;
        }
        std::vector<Phase> phases;
        for (const Stage stage : stages_of(kind, order, options_.optimisation)) {
            const CollectiveAlgorithm& algorithm = inner(stage.dimension);
            const Position ranks = shape[stage.dimension];
            const unsigned variant = chosen[stage.dimension] % algorithm.variants(stage.kind, ranks);
            phases.push_back({stage, algorithm.schedule(stage.kind, ranks, variant)});
            ASTROLABE_ASSERT(phases.back().inner.stages().size() == 1,
                             "an algorithm has one stage in one dimension");
        }
        return phases;
    }
    [[nodiscard]] Plan plan(CollectiveKind kind, const Shape& shape, const Order& order,
                            unsigned combination) const {
        return {kind, shape, phases(kind, shape, order, combination)};
    }

    /// Limits of the executor, which numbers 2^24 actions, and of memory: 2^26 blocks named are 0.5 GiB.
    [[nodiscard]] static std::optional<std::string> too_large(const Plan& plan, const Shape& shape) {
        constexpr std::uint64_t kMaxActions = std::uint64_t{1} << 24;
        constexpr std::uint64_t kMaxNamed = std::uint64_t{1} << 26;
        const bool is_symmetric = plan.symmetry() != Symmetry::kNone;
        std::uint64_t actions = 0;
        std::uint64_t named = 0;
        for (const Phase& phase : plan.phases()) {
            // Every line has the inner schedule once; its program 0 is that of all ranks under a symmetry.
            const bool is_shared = phase.inner.symmetry() != Symmetry::kNone;
            const std::uint64_t copies =
                is_symmetric ? 1 : shape.ranks() / (is_shared ? 1 : phase.inner.ranks());
            for (Position member = 0; member < (is_shared ? 1 : phase.inner.ranks()); ++member) {
                const RankProgram& program = phase.inner.program(member);
                actions += copies * program.actions.size();
                named += copies * program.blocks.size() * phase.blocks_per_inner_block();
            }
        }
        if (actions <= kMaxActions && named <= kMaxNamed) {
            return std::nullopt;
        }
        return fmt::format(
            "hierarchical {} over {} with these algorithms takes {} actions that name {} blocks; at most {} "
            "and {} are possible",
            to_string(plan.kind()), shape.text(), actions, named, kMaxActions, kMaxNamed);
    }

    /// The order that each chunk uses.
    [[nodiscard]] std::vector<std::size_t> order_sequence(CollectiveKind kind, const Shape& shape,
                                                          const std::vector<Order>& orders,
                                                          std::uint32_t chunks) const {
        std::vector<std::size_t> sequence(chunks);
        if (options_.order == DimensionOrder::kThemis) {
            std::vector<Loads> added;
            for (const Order& order : orders) {
                added.push_back(loads(plan(kind, shape, order, 0), shape.size()));
            }
            Loads total(shape.size());
            for (std::size_t& chosen : sequence) {
                chosen = least_loaded(total, added);
                for (std::size_t dimension = 0; dimension < total.size(); ++dimension) {
                    total[dimension] += added[chosen][dimension];
                }
            }
            return sequence;
        }
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            sequence[chunk] = chunk % orders.size();
        }
        return sequence;
    }

    using Loads = std::vector<Time>;  // by dimension

    /// How long a chunk of the nominal size keeps each dimension busy: the bytes that its busiest rank sends
    /// there, over the bandwidth.
    [[nodiscard]] Loads loads(const Plan& plan, std::size_t dimensions) const {
        constexpr Bytes kNominal = 1_MiB;
        Loads loads(dimensions);  // also of size 1, which no phase has
        for (const Phase& phase : plan.phases()) {
            std::uint64_t busiest = 0;
            for (Position member = 0; member < phase.inner.ranks(); ++member) {
                std::uint64_t sent = 0;
                for (const Action& action : phase.inner.program(member).actions) {
                    sent += action.is_send() ? action.block_count : 0;
                }
                busiest = std::max(busiest, sent);
            }
            const std::uint64_t blocks = busiest * phase.blocks_per_inner_block();
            const bool is_share = plan.kind() != CollectiveKind::kAllGather;  // a block is, of the chunk
            const Bytes bytes = kNominal * blocks / (is_share ? plan.columns() : std::uint64_t{1});
            loads[phase.stage.dimension] += bytes / bandwidth(phase.stage.dimension);
        }
        return loads;
    }

    /// The order after which the busiest dimension has the smallest load, then the second, and so on;
    /// of equals the first.
    [[nodiscard]] static std::size_t least_loaded(const Loads& total, const std::vector<Loads>& added) {
        std::size_t best = 0;
        Loads best_after;
        for (std::size_t order = 0; order < added.size(); ++order) {
            Loads after = total;
            for (std::size_t dimension = 0; dimension < total.size(); ++dimension) {
                after[dimension] += added[order][dimension];
            }
            std::ranges::sort(after, std::ranges::greater());
            if (order == 0 || after < best_after) {
                best = order;
                best_after = std::move(after);
            }
        }
        return best;
    }

    HierarchicalOptions options_;
};

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

/// A list of algorithms, each a name or a mapping with its own keys.
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

ValidationErrors hierarchical_errors(const HierarchicalParameters& parameters) {
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

}  // namespace

}  // namespace astrolabe::system::hierarchical

namespace astrolabe::system {

AlgorithmPointer make_hierarchical(HierarchicalOptions options) {
    return std::make_shared<hierarchical::Hierarchical>(std::move(options));
}

void register_hierarchical(AlgorithmRegistry& registry) {
    using namespace hierarchical;
    // Inside one dimension there is nothing to divide further: of the algorithms before this one.
    const auto inner = std::make_shared<const AlgorithmRegistry>(registry);
    Schema<HierarchicalParameters> schema(
        "hierarchical",
        help_with_kinds(
            "phase by phase through the logical dimensions of the ranks, each with an algorithm of its own",
            *make_hierarchical()));
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
        .check(hierarchical_errors);
    registry.add<HierarchicalParameters>(schema, make_configured_hierarchical);
}

}  // namespace astrolabe::system
