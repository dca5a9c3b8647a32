/// Strong indices of the system layer.
#pragma once

#include <astrolabe/core/ids.hpp>

namespace astrolabe::system {

using RankId = Id<struct RankTag>;            ///< a device that computes and communicates
using OperationId = Id<struct OperationTag>;  ///< an operation of a Program
using PartitionId = Id<struct PartitionTag>;  ///< a way to cut the ranks into groups

}  // namespace astrolabe::system
