/// Strong indices of the system layer.
#pragma once

#include <astrolabe/core/ids.hpp>

namespace astrolabe::system {

using RankId = Id<struct RankTag>;            ///< a device that computes and communicates
using OperationId = Id<struct OperationTag>;  ///< an operation of a Program
using PartitionId = Id<struct PartitionTag>;  ///< a way to cut ranks into groups
using RankSetId = Id<struct RankSetTag>;      ///< some of the ranks of a Program

}  // namespace astrolabe::system
