#include "simple_algorithm.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::system {

namespace {

/// "all_reduce", "broadcast and reduce", "all_reduce, broadcast and reduce"
std::string names_of(const std::vector<CollectiveKind>& kinds) {
    std::string text;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const std::string_view separator = i == 0 ? "" : i + 1 == kinds.size() ? " and " : ", ";
        text += fmt::format("{}{}", separator, to_string(kinds[i]));
    }
    return text;
}

class Simple final : public CollectiveAlgorithm {
public:
    explicit Simple(SimpleAlgorithm algorithm)
        : algorithm_(std::move(algorithm)) {}

    [[nodiscard]] std::optional<std::string> unsupported(CollectiveKind kind,
                                                         const Shape& shape) const override {
        const std::vector<CollectiveKind>& kinds = algorithm_.kinds;
        if (!kinds.empty() && std::ranges::find(kinds, kind) == kinds.end()) {
            return fmt::format("{} does {} only", algorithm_.name, names_of(kinds));
        }
        return algorithm_.limit ? algorithm_.limit(kind, shape.ranks()) : std::nullopt;
    }
    [[nodiscard]] CircuitUse circuit_use() const override { return algorithm_.circuit_use; }
    [[nodiscard]] bool has_barriers() const override { return algorithm_.has_barriers; }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const Shape& /*shape*/) const override {
        return algorithm_.variants;
    }
    [[nodiscard]] CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                              unsigned variant) const override {
        return algorithm_.schedule(kind, shape.ranks(), variant);
    }

private:
    SimpleAlgorithm algorithm_;
};

struct NoParameters {};

}  // namespace

std::vector<unsigned> CollectiveAlgorithm::variant_sequence(CollectiveKind kind, const Shape& shape,
                                                            std::uint32_t chunks) const {
    const unsigned count = variants(kind, shape);
    std::vector<unsigned> sequence(chunks);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        sequence[chunk] = chunk % count;
    }
    return sequence;
}

bool takes_kind(const CollectiveAlgorithm& algorithm, CollectiveKind kind, Position max_ranks) {
    for (Position ranks = 2; ranks <= std::max<Position>(max_ranks, 2); ++ranks) {
        if (!algorithm.unsupported(kind, ranks)) {
            return true;
        }
    }
    return false;
}

AlgorithmPointer make_simple(SimpleAlgorithm algorithm) {
    return std::make_shared<Simple>(std::move(algorithm));
}

std::string help_with_kinds(const std::string& help, const CollectiveAlgorithm& algorithm) {
    constexpr Position kProbedRanks = 4;  // groups of so many show which kinds an algorithm takes at all
    std::string kinds;
    for (std::size_t i = 0; i < kCollectiveKinds; ++i) {
        const auto kind = static_cast<CollectiveKind>(i);
        if (takes_kind(algorithm, kind, kProbedRanks)) {
            kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", to_string(kind));
        }
    }
    return fmt::format("{} ({})", help, kinds);
}

void register_plain(AlgorithmRegistry& registry, const std::string& name, const std::string& help,
                    AlgorithmPointer algorithm) {
    registry.add<NoParameters>(Schema<NoParameters>(name, help_with_kinds(help, *algorithm)),
                               [algorithm](const NoParameters&) { return algorithm; });
}

void register_simple(AlgorithmRegistry& registry, const std::string& help, SimpleAlgorithm algorithm) {
    const std::string name = algorithm.name;
    register_plain(registry, name, help, make_simple(std::move(algorithm)));
}

}  // namespace astrolabe::system
