// Hierarchical: a collective over a grid as a sequence of collectives inside its dimensions
// (docs/theory/collectives-and-costs.md, "Hierarchical phases"; "baseline" and "localBWAware" of ASTRA-sim).
// Every phase is a stage of the schedule and copies the inner algorithm's schedule for the n_d ranks of a
// line of the grid onto every line of dimension d.
//
// Which blocks a phase moves. Blocks are numbered like positions, digit d of a block belonging to dimension
// d. The phases before have narrowed the blocks of a rank: of their digits some are the rank's own
// coordinates ("own"), the others run over all values ("free"). Inner block j of a phase in dimension d
// represents all blocks whose digit d is j, with the other digits own or free as they are; they are the same
// on the whole line, whose ranks differ in coordinate d only.
//
//   reduce_scatter  makes digit d own; a reduce_scatter starts with all digits free and ends with none free
//   all_gather      makes it free again; an all_gather starts with all digits own
//   all_reduce      leaves the digits as they are; digit d counts the inner algorithm's own blocks
//   all_to_all      rank r starts with its own source digits and free destination digits. The phase gives
//                   those with digit d of the destination p_d to the neighbour p, so afterwards the source
//                   digit d is free and the destination digit d is r's own
//
// Where all inner schedules share a symmetry that the grid has too, so does the whole, and one program
// suffices for all ranks: any symmetry for one dimension of more than one position, exclusive or for any
// number of them.

#include "hierarchical.hpp"

#include "ring.hpp"
#include "simple_algorithm.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
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

namespace astrolabe::system {

namespace {

/// Dimensions of more than one position, in the order in which a collective first works in them.
using Order = std::vector<std::uint32_t>;

/// Every order a collective may use.
std::vector<Order> orders_of(const Shape& shape, DimensionOrder rule) {
    Order ascending;
    for (std::uint32_t dimension = 0; dimension < shape.size(); ++dimension) {
        if (shape[dimension] > 1) {
            ascending.push_back(dimension);
        }
    }
    std::vector<Order> orders{ascending};
    constexpr std::size_t kAllPermutations = 4;  // dimensions; 4! = 24 orders
    if (rule == DimensionOrder::kThemis && ascending.size() <= kAllPermutations) {
        for (Order next = ascending; std::ranges::next_permutation(next).found;) {
            orders.push_back(next);
        }
    } else if (rule != DimensionOrder::kAscending) {
        for (std::size_t start = 1; start < ascending.size(); ++start) {
            Order rotated = ascending;
            std::ranges::rotate(rotated, rotated.begin() + static_cast<std::ptrdiff_t>(start));
            orders.push_back(std::move(rotated));
        }
    }
    return orders;
}

std::vector<Stage> stages_of(CollectiveKind kind, const Order& order, HierarchicalOptimisation optimisation) {
    const bool narrows =
        kind == CollectiveKind::kAllReduce && optimisation == HierarchicalOptimisation::kLocalBandwidthAware;
    std::vector<Stage> stages;
    if (order.empty()) {
        return stages;
    }
    for (const std::uint32_t dimension : order) {
        stages.push_back({dimension, narrows ? CollectiveKind::kReduceScatter : kind});
    }
    if (kind == CollectiveKind::kAllGather) {
        std::ranges::reverse(stages);
    } else if (narrows) {
        stages.back().kind = CollectiveKind::kAllReduce;
        for (std::size_t outer = order.size() - 1; outer-- > 0;) {
            stages.push_back({order[outer], CollectiveKind::kAllGather});
        }
    }
    return stages;
}

/// The digits of block numbers, or of one half of them: the sources or the destinations of an all_to_all.
struct Digits {
    std::vector<std::uint32_t> radices;
    std::vector<std::uint32_t> weights;  // of one in a digit
    std::vector<bool> own;               // else free

    Digits(std::vector<std::uint32_t> digit_radices, bool starts_own)
        : radices(std::move(digit_radices)),
          weights(radices.size()),
          own(radices.size(), starts_own) {
        std::exclusive_scan(radices.begin(), radices.end(), weights.begin(), std::uint32_t{1},
                            std::multiplies<>());
    }
};

/// The blocks that one digit of an inner block represents: weight · digit + the rank's own digits + each of
/// `offsets`.
struct Expansion {
    std::uint32_t weight = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> own;  // (dimension, weight)
    std::vector<std::uint32_t> offsets{0};

    Expansion() = default;
    Expansion(const Digits& digits, std::uint32_t stage_dimension)
        : weight(digits.weights[stage_dimension]) {
        for (std::uint32_t dimension = 0; dimension < digits.radices.size(); ++dimension) {
            if (dimension == stage_dimension) {
                continue;
            }
            if (digits.own[dimension]) {
                own.emplace_back(dimension, digits.weights[dimension]);
                continue;
            }
            const std::size_t before = offsets.size();
            for (std::uint32_t digit = 1; digit < digits.radices[dimension]; ++digit) {
                for (std::size_t i = 0; i < before; ++i) {
                    offsets.push_back(offsets[i] + digit * digits.weights[dimension]);
                }
            }
        }
    }

    [[nodiscard]] std::uint32_t base(const Shape& shape, Position rank) const {
        std::uint32_t sum = 0;
        for (const auto& [dimension, dimension_weight] : own) {
            sum += shape.coordinate(rank, dimension) * dimension_weight;
        }
        return sum;
    }
};

/// A phase: an inner schedule and what its blocks represent.
struct Phase {
    Stage stage;
    CollectiveSchedule inner;
    Expansion sources{};  // all_to_all only
    Expansion columns{};

    [[nodiscard]] std::uint64_t blocks_per_inner_block() const {
        return std::uint64_t{sources.offsets.size()} * columns.offsets.size();
    }
};

/// Digit d of a block counts positions, or the blocks of the all_reduce in dimension d.
std::vector<std::uint32_t> column_radices(const Shape& shape, const std::vector<Phase>& phases) {
    std::vector<std::uint32_t> radices(shape.dimensions().begin(), shape.dimensions().end());
    for (const Phase& phase : phases) {
        if (phase.stage.kind == CollectiveKind::kAllReduce) {
            radices[phase.stage.dimension] = static_cast<std::uint32_t>(phase.inner.block_count());
        }
    }
    return radices;
}

/// Blocks of one rank's vector; at most kMaxColumns, which means that many or more.
constexpr std::uint64_t kMaxColumns = std::uint64_t{1} << 24;
std::uint64_t count_columns(const std::vector<std::uint32_t>& radices) {
    std::uint64_t columns = 1;
    for (const std::uint32_t radix : radices) {
        columns = std::min(columns * radix, kMaxColumns);
    }
    return columns;
}

/// The phases of one schedule, every one with what its blocks represent.
class Plan {
public:
    Plan(CollectiveKind kind, const Shape& shape, std::vector<Phase> phases)
        : kind_(kind),
          shape_(shape),
          phases_(std::move(phases)) {
        Digits sources({shape.dimensions().begin(), shape.dimensions().end()}, true);
        Digits columns(column_radices(shape, phases_), kind == CollectiveKind::kAllGather);
        columns_ = count_columns(columns.radices);
        ASTROLABE_ASSERT(columns_ < kMaxColumns, "a plan with too many blocks is unsupported");
        for (Phase& phase : phases_) {
            const std::uint32_t dimension = phase.stage.dimension;
            phase.columns = Expansion(columns, dimension);
            if (kind == CollectiveKind::kAllToAll) {
                phase.sources = Expansion(sources, dimension);
                sources.own[dimension] = false;
                columns.own[dimension] = true;
            } else if (phase.stage.kind != CollectiveKind::kAllReduce) {
                columns.own[dimension] = phase.stage.kind == CollectiveKind::kReduceScatter;
            }
        }
    }

    [[nodiscard]] CollectiveKind kind() const { return kind_; }
    [[nodiscard]] const std::vector<Phase>& phases() const { return phases_; }
    /// Blocks of one rank's vector.
    [[nodiscard]] std::uint64_t columns() const { return columns_; }
    [[nodiscard]] std::uint64_t block_count() const {
        return kind_ == CollectiveKind::kAllToAll ? columns_ * shape_.ranks() : columns_;
    }

    [[nodiscard]] Symmetry symmetry() const {
        const Symmetry common = phases_.front().inner.symmetry();
        const bool is_shared = std::ranges::all_of(
            phases_, [&](const Phase& phase) { return phase.inner.symmetry() == common; });
        const bool is_of_grid = common == Symmetry::kExclusiveOr || phases_.size() == 1;
        return is_shared && is_of_grid && columns_ == shape_.ranks() ? common : Symmetry::kNone;
    }

    [[nodiscard]] CollectiveSchedule write() const {
        std::vector<Stage> stages;
        for (const Phase& phase : phases_) {
            stages.push_back(phase.stage);
        }
        const Symmetry common = symmetry();
        ScheduleBuilder builder(kind_, shape_.ranks(), block_count(), common, std::move(stages));
        std::vector<ActionIndex> written(common == Symmetry::kNone ? shape_.ranks() : 1);
        for (std::size_t stage = 0; stage < phases_.size(); ++stage) {
            builder.begin_stage(stage);
            for (Position rank = 0; rank < written.size(); ++rank) {
                written[rank] += write_phase(builder, phases_[stage], rank, written[rank]);
            }
        }
        return std::move(builder).build();
    }

private:
    /// The actions of `rank` in a phase, the first of which is number `first`; returns how many they are.
    ActionIndex write_phase(ScheduleBuilder& builder, const Phase& phase, Position rank,
                            ActionIndex first) const {
        const CollectiveSchedule& inner = phase.inner;
        const std::size_t dimension = phase.stage.dimension;
        const Position member = shape_.coordinate(rank, dimension);
        const RankProgram& program = inner.program(member);
        const std::uint32_t source_base = phase.sources.base(shape_, rank);
        const std::uint32_t column_base = phase.columns.base(shape_, rank);
        std::vector<BlockReference> blocks;
        std::vector<ActionIndex> after;
        for (const Action& action : program.actions) {
            blocks.clear();
            for (const BlockReference reference : program.blocks_of(action)) {
                const std::uint64_t block = inner.resolve(member, reference);
                const bool has_source = kind_ == CollectiveKind::kAllToAll;
                const auto row = static_cast<std::uint32_t>(has_source ? block / inner.ranks() : 0);
                const auto column = static_cast<std::uint32_t>(has_source ? block % inner.ranks() : block);
                const std::uint32_t first_source = source_base + row * phase.sources.weight;
                const std::uint32_t first_column = column_base + column * phase.columns.weight;
                for (const std::uint32_t source : phase.sources.offsets) {
                    for (const std::uint32_t offset : phase.columns.offsets) {
                        blocks.push_back({.source = first_source + source, .block = first_column + offset});
                    }
                }
            }
            after.clear();
            for (const ActionIndex dependency : program.dependencies_of(action)) {
                after.push_back(first + dependency);
            }
            const Position peer = shape_.with_coordinate(rank, dimension, inner.resolve(member, action.peer));
            if (action.is_send()) {
                builder.send(rank, peer, blocks, after);
            } else {
                builder.receive(rank, peer, blocks, after, action.kind == Action::Kind::kReceiveReduce);
            }
        }
        return static_cast<ActionIndex>(program.actions.size());
    }

    CollectiveKind kind_;
    Shape shape_;
    std::vector<Phase> phases_;
    std::uint64_t columns_ = 0;
};

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

AlgorithmPointer make_hierarchical(HierarchicalOptions options) {
    return std::make_shared<Hierarchical>(std::move(options));
}

void register_hierarchical(AlgorithmRegistry& registry) {
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
