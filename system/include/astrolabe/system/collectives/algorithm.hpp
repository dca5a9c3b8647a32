/// A collective algorithm: a pure function from (kind, shape of the group, variant) to a schedule.
///
/// The chunks of a collective use variants in the order of `variant_sequence`; by default chunk c uses
/// variant c mod variants(): the double binary tree alternates its two trees so, a bidirectional ring its two
/// directions. Algorithms are stateless; one object serves all threads and runs. Most look at the number of
/// ranks of a shape only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system {

/// How an algorithm uses a network whose circuits come and go (network/circuit_windows.hpp).
enum class CircuitUse : std::uint8_t {
    kNone,    ///< messages are sent when they are ready
    kDirect,  ///< messages are sent just before the circuits they can leave on (executor.hpp)
    kInOrder  ///< and ranks get positions in circuit order (circuit_order.hpp)
};

/// The rings that a network was built of: by number of ranks N of a group, the strides p of its rings, which
/// go from position i to i+p (mod N). Several rings may have the same stride, on links of their own.
using RingStrides = std::map<Position, std::vector<Position>>;

class CollectiveAlgorithm {
public:
    virtual ~CollectiveAlgorithm() = default;

    /// Why the algorithm does not support `kind` over `shape` ("needs a power of two"), or nothing if it
    /// does.
    [[nodiscard]] virtual std::optional<std::string> unsupported(CollectiveKind kind,
                                                                 const Shape& shape) const = 0;

    /// Why it does not support an all_to_all whose sizes differ by pair, or nothing if it does where it
    /// supports the kind at all.
    [[nodiscard]] virtual std::optional<std::string> unsupported_uneven() const { return std::nullopt; }

    /// How many dimensions the algorithm's parameters name; those beyond the dimensions of the ranks would be
    /// without effect.
    [[nodiscard]] virtual std::size_t dimensions_named() const { return 0; }

    /// Needs a network that has circuit windows, unless it is kNone.
    [[nodiscard]] virtual CircuitUse circuit_use() const { return CircuitUse::kNone; }

    /// Chunks to cut a collective in where the file gives no number, so that all variants carry the same.
    [[nodiscard]] virtual std::uint32_t default_chunks() const { return 1; }

    /// Whether it runs on the rings that a network was built of, which `on_rings` passes.
    [[nodiscard]] virtual bool needs_rings() const { return false; }
    /// The algorithm on these rings; null where it needs none.
    [[nodiscard]] virtual std::shared_ptr<const CollectiveAlgorithm> on_rings(
        const RingStrides& /*rings*/) const {
        return nullptr;
    }

    /// Whether no rank starts a stage of a schedule before all ranks have finished the one before. Such a
    /// barrier costs nothing by itself.
    [[nodiscard]] virtual bool has_barriers() const { return false; }

    // The rest requires that the kind is supported.

    [[nodiscard]] virtual unsigned variants(CollectiveKind kind, const Shape& shape) const = 0;

    /// The variants of chunks 0 … chunks-1.
    [[nodiscard]] virtual std::vector<unsigned> variant_sequence(CollectiveKind kind, const Shape& shape,
                                                                 std::uint32_t chunks) const;

    /// Precondition: shape.ranks() >= 2, variant < variants(). The stages of a schedule name dimensions of
    /// `shape`.
    [[nodiscard]] virtual CollectiveSchedule schedule(CollectiveKind kind, const Shape& shape,
                                                      unsigned variant) const = 0;
};

}  // namespace astrolabe::system
