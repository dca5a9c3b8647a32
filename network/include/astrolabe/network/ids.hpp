/// Strong indices of the network layer.
#pragma once

#include <astrolabe/core/ids.hpp>

namespace astrolabe::network {

using NodeId = Id<struct NodeTag>;
using HostId = Id<struct HostTag>;
using LinkId = Id<struct LinkTag>;

}  // namespace astrolabe::network
