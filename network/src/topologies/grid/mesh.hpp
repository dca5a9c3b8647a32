/// Mesh and hypercube: hosts on a grid whose lines are not closed; hosts forward.
///
/// Dimension 0 varies fastest: in a mesh of sizes n_0 × n_1 × …, host h has the coordinates
///
///     x_d = floor(h / (n_0 · … · n_{d-1})) mod n_d
///
/// and a full-duplex cable to its neighbours at x_d ± 1 where these exist, so that two hosts are
/// Σ_d |Δ_d| links apart and the diameter is Σ_d (n_d - 1). Halving an even dimension cuts
/// (hosts / n_d)·rate each way. A hypercube of n dimensions is the mesh of n sizes of 2: 2^n hosts, those a
/// bit apart are neighbours.
///
/// Routing (grid_routing.hpp): all shortest paths, one by hash or evenly; one of them in the order of
/// dimensions; or Valiant's two phases over a random host.
///
/// Sources: Dally and Towles, "Principles and Practices of Interconnection Networks" (2004), chapters 5 and
/// 8; Valiant and Brebner, "Universal schemes for parallel communication" (STOC 1981).
#pragma once

#include "grid_parameters.hpp"
#include "grid_routing.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

struct MeshParameters {
    std::vector<std::int64_t> sizes;  ///< must be given, each >= 1; dimension 0 first
    GridLinkParameters link;
    GridRule routing = GridRule::kMinimal;
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t seed = 1;  ///< of the flow hash and of intermediate hosts
};

struct HypercubeParameters {
    std::int64_t dimensions = 0;  ///< must be given, 0 to 20
    HostLinkParameters link;
    GridRule routing = GridRule::kMinimal;
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t seed = 1;
};

[[nodiscard]] ValidationErrors validation_errors(const MeshParameters& parameters);
[[nodiscard]] ValidationErrors validation_errors(const HypercubeParameters& parameters);
/// Precondition of both: no problems.
[[nodiscard]] std::shared_ptr<const Fabric> build_mesh(const MeshParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_hypercube(const HypercubeParameters& parameters);

}  // namespace astrolabe::network
