// SPDX-License-Identifier: GPL-2.0-only
/// What ns-3 offers to experiment files.
#pragma once

#include <astrolabe/network/components.hpp>

namespace astrolabe::ns3 {

void register_backends(Registry<network::BackendMaker>& registry);

}  // namespace astrolabe::ns3
