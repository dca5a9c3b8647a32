// SPDX-License-Identifier: GPL-2.0-only
/// The keys of the tcp backend.
#pragma once

#include "tcp/tcp_options.hpp"

#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::ns3 {

/// The `ns3` section: what reaches past our keys into ns-3.
struct Ns3Keys {
    std::vector<std::pair<std::string, std::string>> attributes;
};

struct TcpKeys : TcpOptions {
    Ns3Keys ns3;
};

[[nodiscard]] Schema<TcpKeys> tcp_schema();

}  // namespace astrolabe::ns3
