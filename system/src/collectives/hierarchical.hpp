/// The options of the hierarchical algorithm.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/system/components.hpp>

namespace astrolabe::system {

/// How a hierarchical all_reduce divides its work among dimensions of n_0, …, n_{D-1} ranks.
enum class HierarchicalOptimisation : std::uint8_t {
    kBaseline,             ///< an all_reduce of all S bytes in every dimension, one after another
    kLocalBandwidthAware,  ///< reduce_scatters, one all_reduce, all_gathers: each phase on what is left
};

/// The order in which a chunk goes through the dimensions. An all_gather goes through them backwards.
enum class DimensionOrder : std::uint8_t {
    kAscending,   ///< 0, 1, …
    kRoundRobin,  ///< chunk c starts at the (c mod D)-th and goes on cyclically
    kThemis,      ///< chosen chunk by chunk so that the busiest dimension gets the smallest load
};

struct HierarchicalOptions {
    HierarchicalOptimisation optimisation = HierarchicalOptimisation::kLocalBandwidthAware;
    /// By dimension of the group's shape, the last for all beyond; none: ring.
    std::vector<AlgorithmPointer> per_dimension{};
    DimensionOrder order = DimensionOrder::kAscending;
    /// > 0, of a rank in each dimension, the last for all beyond; kThemis only. None: all alike.
    std::vector<Bandwidth> bandwidths{};
};

/// All kinds without a root over a grid of any number of dimensions, as a sequence of collectives inside its
/// dimensions (docs/theory/collectives-and-costs.md, "Hierarchical phases"), each by the algorithm of its
/// dimension:
///
///     all_reduce      baseline               AR(0), AR(1), …, AR(D-1)
///                     local_bandwidth_aware  RS(0) … RS(D-2), AR(D-1), AG(D-2) … AG(0)
///     reduce_scatter                         RS(0) … RS(D-1)
///     all_gather                             AG(D-1) … AG(0)
///     all_to_all                             A2A(0) … A2A(D-1)
///
/// Bytes sent per rank, with inner algorithms of minimum traffic and dimensions in ascending order:
///     baseline               Σ_d 2S(n_d-1)/n_d
///     local_bandwidth_aware  2S(N-1)/N, of which dimension d carries 2S(n_d-1)/(n_0·…·n_d)
///     all_to_all             Σ_d S(n_d-1)/n_d
/// Dimensions of one rank have no phase. Stages carry (dimension, kind of the phase).
///
/// Orders. kThemis is the greedy rule of Rashidi et al., "Themis: a network bandwidth-aware collective
/// scheduling policy for distributed training of DL models" (ISCA 2022): every chunk takes the order, of all
/// D! for D <= 4 and of the D rotations beyond, after which the largest load of a dimension is smallest (of
/// equals the second largest, and so on); the load of a phase is the bytes its busiest rank sends in it over
/// the dimension's bandwidth. Loads count this collective alone and include neither latency nor what is in
/// flight. Variants are the orders times the inner algorithms' variants in each dimension.
///
/// Limits: 2^20 ranks, 2^24 actions and 2^26 blocks named in messages. Where all inner schedules share the
/// exclusive or, or only one dimension has more than one rank, one program serves all ranks; otherwise every
/// rank has its own: a schedule of 8 x 128 ranks takes about 50 MB with inner rings.
[[nodiscard]] AlgorithmPointer make_hierarchical(HierarchicalOptions options = {});

}  // namespace astrolabe::system
