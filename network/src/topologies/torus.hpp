/// Torus: hosts on a grid of any number of dimensions, every line of the grid closed to a ring; hosts
/// forward.
///
/// Dimension 0 varies fastest: in a torus of sizes n_0 × n_1 × …, host h stands at
///
///     x_d = floor(h / (n_0 · … · n_{d-1})) mod n_d
///
/// and has a full-duplex cable to its neighbours at x_d ± 1 mod n_d. Two hosts are the sum over d of
/// min(|Δ_d|, n_d - |Δ_d|) links apart. A dimension of 1 has no cables. In a dimension of 2 both neighbours
/// are the same host: it is joined by one cable, by two with `double_links`, for machines whose hosts have
/// two ports in every dimension.
///
/// A link (one direction of one cable) of dimension d has link.rate[d] and link.latency[d]. A host has two
/// links out in a dimension of more than 2 and sends 2·rate there in all; a ring algorithm that goes one way
/// round uses one of them and runs at `rate`. Halving such a dimension cuts 2·(hosts / n_d)·rate each way.
///
/// Routing is shortest-path with equal-cost multipath like everywhere (shortest_path_routing.hpp): a flow
/// takes one of the orders in which its steps can be made, picked hop by hop by hash (`flow_hash`), or
/// spreads over all of them (`spray`). Or it is in the order of dimensions, as on machines whose routers know
/// coordinates, or Valiant's (grid_routing.hpp). Deadlock avoidance and virtual channels are not modelled.
/// The metric is the number of links, so a slow dimension is not avoided.
#pragma once

#include "grid/grid_parameters.hpp"
#include "grid/grid_routing.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

inline constexpr std::size_t kMaxTorusDimensions = kMaxGridDimensions;

struct TorusParameters {
    std::vector<std::int64_t> sizes;  ///< must be given, each >= 1; dimension 0 first
    bool double_links = false;        ///< two cables instead of one in dimensions of 2
    GridLinkParameters link;
    GridRule routing = GridRule::kMinimal;
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t seed = 1;  ///< of the flow hash and of intermediate hosts
};

[[nodiscard]] ValidationErrors validation_errors(const TorusParameters& parameters);
/// Precondition: no problems.
[[nodiscard]] HostLinkParameters dimension_link(const TorusParameters& parameters, std::size_t dimension);
[[nodiscard]] std::shared_ptr<const Fabric> build_torus(const TorusParameters& parameters);

}  // namespace astrolabe::network
