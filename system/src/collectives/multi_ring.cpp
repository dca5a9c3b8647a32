// Several rings: chunk c goes round ring c mod k, so k rings carry load at a time
// (docs/theory/collectives-and-costs.md, "Start order and window", the queues of a dimension; TopoOpt, NSDI
// 2023, section 4.2, whose regular rings have strides coprime to N).
//
// Strides are the k smallest numbers that have no common divisor with N, fewer where N has fewer: no two
// rings use the same link from one rank to another: 1, 3, 5 and 7 for four rings of 8 ranks. Or they are
// given; or they are those that a network was built of, which differ by the size of the group. With k chunks,
// the default, every ring carries S/k, and on links of rate 1/β for every stride
//
//     all_reduce      2(N-1)(α + Sβ/(kN))
//
// With barriers each ring has its own, of all its ranks after every step, as in the replay of the EuroMLSys
// 2024 study (docs/theory/opera-dlrm-study.md, "All-reduces of the replay").

#include "ring.hpp"
#include "simple_algorithm.hpp"

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system {

namespace {

constexpr unsigned kDefaultRings = 2;
constexpr std::string_view kRingsOfNetwork = "network";
constexpr Range<Position> kStrides{1, 1U << 20};

struct MultiRingParameters {
    std::optional<unsigned> rings;
    std::vector<Position> strides;  // counted modulo N
    bool of_network = false;
    bool barrier = false;
};

class MultiRing final : public CollectiveAlgorithm {
public:
    /// `network_rings` are those of the network, for parameters that ask for them.
    explicit MultiRing(MultiRingParameters parameters, RingStrides network_rings = {})
        : parameters_(std::move(parameters)),
          network_rings_(std::move(network_rings)) {
        for (const auto& [ranks, strides] : network_rings_) {
            ASTROLABE_ASSERT(!strides.empty(), "a group that is named has a ring");
        }
    }

    [[nodiscard]] std::optional<std::string> unsupported(CollectiveKind kind,
                                                         const Shape& shape) const override {
        const Position ranks = shape.ranks();
        for (const Position stride : parameters_.strides) {
            if (const Position divisor = std::gcd(stride, ranks); divisor > 1) {
                return fmt::format(
                    "a ring of stride {} does not visit all of {} ranks: both are multiples of {}", stride,
                    ranks, divisor);
            }
        }
        std::optional<std::string> reason = detail::ring_unsupported("multi_ring", kind, ranks);
        return reason || !parameters_.barrier ? reason
                                              : detail::stages_unsupported("multi_ring", kind, ranks);
    }
    [[nodiscard]] bool has_barriers() const override { return parameters_.barrier; }
    [[nodiscard]] std::uint32_t default_chunks() const override {
        if (!parameters_.of_network) {
            return parameters_.strides.empty() ? parameters_.rings.value_or(kDefaultRings)
                                               : static_cast<std::uint32_t>(parameters_.strides.size());
        }
        std::uint32_t chunks = 1;
        for (const auto& [ranks, strides] : network_rings_) {
            chunks = std::lcm(chunks, static_cast<std::uint32_t>(strides.size()));
        }
        return chunks;
    }
    [[nodiscard]] bool needs_rings() const override { return parameters_.of_network; }
    [[nodiscard]] AlgorithmPointer on_rings(const RingStrides& rings) const override {
        return parameters_.of_network ? std::make_shared<MultiRing>(parameters_, rings) : nullptr;
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& shape) const override {
        return static_cast<unsigned>(strides(shape.ranks()).size());
    }
    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned variant) const override {
        const Position ranks = shape.ranks();
        return detail::ring_schedule(
            kind, ranks, strides(ranks)[variant],
            parameters_.barrier ? detail::RingSteps::kStages : detail::RingSteps::kFree);
    }

private:
    [[nodiscard]] std::vector<Position> strides(Position ranks) const {
        if (parameters_.of_network) {
            // A group of a size without rings in the network has one ring, in the order of the group.
            const auto own = network_rings_.find(ranks);
            return own == network_rings_.end() ? std::vector<Position>{1} : own->second;
        }
        std::vector<Position> strides;
        for (const Position stride : parameters_.strides) {
            strides.push_back(stride % ranks);
        }
        if (strides.empty()) {
            strides.push_back(1);
            const unsigned rings = parameters_.rings.value_or(kDefaultRings);
            for (Position stride = 2; stride < ranks && strides.size() < rings; ++stride) {
                if (std::gcd(stride, ranks) == 1) {
                    strides.push_back(stride);
                }
            }
        }
        return strides;
    }

    MultiRingParameters parameters_;
    RingStrides network_rings_;
};

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

ValidationErrors multi_ring_errors(const MultiRingParameters& parameters) {
    if (parameters.rings && (parameters.of_network || !parameters.strides.empty())) {
        return {{"rings", "'strides' gives one ring for each", "leave 'rings' out, or 'strides'"}};
    }
    return {};
}

}  // namespace

void register_multi_ring(AlgorithmRegistry& registry) {
    Schema<MultiRingParameters> schema(
        "multi_ring",
        help_with_kinds(
            "as ring, but chunks go round several rings of different strides round-robin: as many links "
            "of a rank carry load; in as many chunks as there are rings, unless 'chunks' is given",
            MultiRing({})));
    schema
        .optional("rings", &MultiRingParameters::rings,
                  "rings, of the smallest strides without a common divisor with the number of ranks; all "
                  "there are where these are fewer; unset: " +
                      std::to_string(kDefaultRings) + ", or those of 'strides'",
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
        .optional(
            "barrier", &MultiRingParameters::barrier,
            "whether no rank starts a step of a ring before all ranks have completed the one before; of "
            "all_reduce, reduce_scatter and all_gather")
        .check(multi_ring_errors);
    registry.add<MultiRingParameters>(schema, [](const MultiRingParameters& parameters) {
        return std::make_shared<MultiRing>(parameters);
    });
}

}  // namespace astrolabe::system
