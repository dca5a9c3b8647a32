/// Operations that move the same, and how many there are of each.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

struct Kinds {
    std::vector<const CollectiveOperation*> examples;
    std::vector<std::int64_t> operations;
    IndexedVector<OperationId, std::uint32_t> kind_of;  ///< 1 + index; 0 for all but collectives
};

[[nodiscard]] Kinds kinds_of(const Program& program);

}  // namespace astrolabe::system
