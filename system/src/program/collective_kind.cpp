#include <string_view>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

std::string_view to_string(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::kAllReduce:
            return "all_reduce";
        case CollectiveKind::kReduceScatter:
            return "reduce_scatter";
        case CollectiveKind::kAllGather:
            return "all_gather";
        case CollectiveKind::kAllToAll:
            return "all_to_all";
        case CollectiveKind::kBroadcast:
            return "broadcast";
        case CollectiveKind::kReduce:
            return "reduce";
        case CollectiveKind::kPointToPoint:
            return "point_to_point";
    }
    ASTROLABE_ASSERT(false, "every collective kind has a name");
}

}  // namespace astrolabe::system
