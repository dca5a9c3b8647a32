/// A collective algorithm: a pure function from (kind, number of ranks, variant) to a schedule.
///
/// Chunk c of a collective uses variant c mod variants(): the double binary tree alternates its two trees so,
/// a bidirectional ring its two directions. Algorithms are stateless; one object serves all threads and runs.
#pragma once

#include <optional>
#include <string>

#include <astrolabe/system/schedule.hpp>

namespace astrolabe::system {

class CollectiveAlgorithm {
public:
    virtual ~CollectiveAlgorithm() = default;

    /// Why the algorithm cannot do `kind` over `ranks` ranks ("needs a power of two"), or nothing if it can.
    [[nodiscard]] virtual std::optional<std::string> refusal(CollectiveKind kind, Position ranks) const = 0;

    [[nodiscard]] virtual unsigned variants(CollectiveKind kind, Position ranks) const = 0;

    /// Precondition: no refusal, ranks >= 2, variant < variants().
    [[nodiscard]] virtual CollectiveSchedule schedule(CollectiveKind kind, Position ranks,
                                                      unsigned variant) const = 0;
};

}  // namespace astrolabe::system
