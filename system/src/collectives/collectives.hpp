/// The collective algorithms that come with the project, each in its own file under src/collectives/.
///
/// Model (N ranks, S bytes per rank, one chunk; docs/theory/collectives-and-costs.md, "Algorithms" and
/// "Closed forms"). On full-duplex ports of rate 1/β, a non-blocking crossbar and α per message they take,
/// exactly:
///
///     ring                reduce_scatter, all_gather (S: the result)   (N-1)(α + Sβ/N)
///                         all_reduce                                  2(N-1)(α + Sβ/N)
///                         all_to_all, forwarded by software           N(N-1)/2 · (α + Sβ/N)
///                         broadcast, reduce                           2(N-1)(α + Sβ/N)
///     bidirectional_ring  as ring; all_to_all, H = ⌊N/2⌋:
///                         every direction with a port of its own      H(H+1)/2 · (α + Sβ/N)
///     direct              reduce_scatter, all_to_all                  α + (N-1)Sβ/N
///                         all_gather (S: the result)                  α + (N-1)Sβ/N
///                         all_reduce                                  2[α + (N-1)Sβ/N]
///                         broadcast, reduce                           α + (N-1)Sβ
///     barrier_direct      all_reduce                                  as direct
///     windowed_direct     as direct, with ⌈(N-1)/W⌉α for every α
///     pairwise            all_to_all                                  (N-1)(α + Sβ/N)
///     bruck               all_to_all, N = 2^k                         k(α + Sβ/2)
///                         all_gather (S: the result)                  ⌈log2 N⌉α + (N-1)Sβ/N
///     halving_doubling    reduce_scatter, all_gather (S: the result), N = 2^k
///                                                                     kα + (N-1)Sβ/N
///                         all_reduce, N = 2^k                         2[kα + (N-1)Sβ/N]
///                         broadcast, N = 2^k                          2[kα + (N-1)Sβ/N]
///                         reduce, N = 2^k                             (2k-1)α + 2(N-1)Sβ/N
///     recursive_doubling  all_reduce, N = 2^k                         k(α + Sβ)
///     double_binary_tree  all_reduce, N = 2^k: contention-free        2k(α + Sβ)
///     binomial_tree       broadcast; reduce, N = 2^k                  ⌈log2 N⌉(α + Sβ)
///
/// Folding to the P = 2^⌊log2 N⌋ < N first ranks adds, contention-free, 2(α + Sβ) to an all_reduce over P.
///
///     rotor_direct        as direct, rotor_ring as ring, but for the wait for circuits
///
/// Limits: what end points cost is not in these times (docs/models/end-points.md); algorithms do not know the
/// fabric under them, but for those that use circuits, which know when hosts are joined.
/// Complexity: one program for all ranks, except that trees, kinds with a root and what is folded have one
/// per rank. Actions of a program: N (ring, direct, pairwise), N² (the rings' all_to_all), log N (the
/// others). Blocks it names: of the order of N, N² for the rings' all_to_all, N log N for bruck's all_to_all
/// and recursive_doubling.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/collectives/algorithm.hpp>

namespace astrolabe::system {

struct AlgorithmEntry {
    std::string name;  ///< as files name it
    std::shared_ptr<const CollectiveAlgorithm> algorithm;
};

/// All of them by name, with the defaults of their options. Every one passes the proof of proof.hpp for every
/// kind it does not refuse.
[[nodiscard]] std::vector<AlgorithmEntry> builtin_algorithms();

/// All kinds but point_to_point: neighbours on a ring, one message at a time, each step waiting for the one
/// before. A broadcast is a pipelined chain of N blocks that ends at rank N-1, a reduce the chain back. At
/// most 4,096 ranks for an all_to_all, 2,048 with a root.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_ring();

/// As ring, but even chunks go round one way, odd chunks the other. An all_to_all sends every block the
/// shorter way; only the block for the rank opposite (even N) alternates.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_bidirectional_ring();

/// Which rings there are over N ranks.
struct MultiRingOptions {
    unsigned rings = 2;  ///< k >= 1: of the k smallest strides
    /// One ring for each of these instead, each >= 1 and counted modulo N. Groups of which one has a common
    /// divisor with N are refused.
    std::vector<Position> strides{};
    /// No rank begins a step of a ring before all ranks have done the one before: all_reduce, reduce_scatter
    /// and all_gather only, of at most 32,768 ranks.
    bool barrier = false;
};

/// As ring, but chunk c goes round ring c mod k of k rings; ring j goes from rank i to i + p_j (mod N). With
/// k chunks, the default, every ring carries S/k, and an all_reduce on links of rate 1/β for every stride
/// takes
///     2(N-1)(α + Sβ/(kN))
/// (TopoOpt, NSDI 2023, section 4.2).
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_multi_ring(MultiRingOptions options = {});

/// The same on the rings of the network, which `on_rings` tells: in groups of a size of which there are none,
/// one ring in the order of the group. `barrier` as in MultiRingOptions.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_multi_ring_of_network(bool barrier = false);

/// p_0, p_1, …: the k = `rings` smallest strides without a common divisor with N = `ranks` >= 2, all where
/// N has fewer. 1 is always the first.
[[nodiscard]] std::vector<Position> multi_ring_strides(Position ranks, unsigned rings);

/// All kinds, point_to_point between two ranks only: every rank sends to every other at once, to rank i+1,
/// i+2, … in this order. With a root: the root to or from every other.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_direct();

/// all_reduce: as direct, but no rank sends its result before all ranks have theirs.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_barrier_direct();

/// W of the registered windowed_direct.
inline constexpr Position kDefaultSendWindow = 8;

/// All kinds without a root: as direct, with at most `window` >= 1 sends of a rank under way; the k-th
/// waits until the (k - window)-th has been delivered.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_windowed_direct(
    Position window = kDefaultSendWindow);

/// all_to_all, one partner at a time: i xor k where N is a power of two, else to i+k and from i-k. A step
/// waits for the send and the receive of the one before.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_pairwise();

/// all_to_all and all_gather in ⌈log2 N⌉ steps for any N; the all_to_all forwards blocks.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_bruck();

/// All kinds but all_to_all and point_to_point: halves what is exchanged with i xor 1, 2, 4, …, and doubles
/// it on the way back. A broadcast is a scatter and an all_gather, a reduce a reduce_scatter and a gather.
/// Any N: ranks beyond the largest power of two hand over first and get their result last.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_halving_doubling();

/// all_reduce: exchanges the whole vector with i xor 1, 2, 4, …; any N as halving_doubling.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_recursive_doubling();

/// all_reduce for any N: reduce up and broadcast down a binary tree; odd chunks use a second tree in which
/// the leaves of the first are interior, so two chunks load every rank equally.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_double_binary_tree();

/// How a hierarchical all_reduce divides its work among dimensions of n_0, …, n_{D-1} ranks.
enum class HierarchicalOptimisation : std::uint8_t {
    kBaseline,             ///< an all_reduce of all S bytes in every dimension, one after another
    kLocalBandwidthAware,  ///< reduce_scatters, one all_reduce, all_gathers: each phase on what is left
};

/// The order in which a chunk goes through the dimensions. An all_gather goes through them backwards.
enum class DimensionOrder : std::uint8_t {
    kAscending,   ///< 0, 1, …
    kRoundRobin,  ///< chunk c starts at the (c mod D)-th and goes on cyclically
    kThemis,      ///< chosen chunk by chunk so that the most loaded dimension gets least
};

struct HierarchicalOptions {
    HierarchicalOptimisation optimisation = HierarchicalOptimisation::kLocalBandwidthAware;
    /// By dimension of the group's shape, the last for all beyond; none: ring.
    std::vector<std::shared_ptr<const CollectiveAlgorithm>> per_dimension{};
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
/// Bytes sent per rank, with inner algorithms of least traffic and dimensions in ascending order:
///     baseline               Σ_d 2S(n_d-1)/n_d
///     local_bandwidth_aware  2S(N-1)/N, of which dimension d carries 2S(n_d-1)/(n_0·…·n_d)
///     all_to_all             Σ_d S(n_d-1)/n_d
/// Dimensions of one rank have no phase. Stages carry (dimension, kind of the phase).
///
/// Orders. kThemis is the greedy rule of Rashidi et al., "Themis: a network bandwidth-aware collective
/// scheduling policy for distributed training of DL models" (ISCA 2022): every chunk takes the order, of all
/// D! for D <= 4 and of the D rotations beyond, after which the largest load of a dimension is least (of
/// equals the second largest, and so on); the load of a phase is the bytes its busiest rank sends in it over
/// the dimension's bandwidth. Loads count this collective alone and know neither latency nor what is under
/// way.
/// Variants are the orders times the inner algorithms' variants in each dimension.
///
/// Limits: 2^20 ranks, 2^24 actions and 2^26 blocks named in messages. Where all inner schedules share the
/// exclusive or, or only one dimension has more than one rank, one program serves all ranks; otherwise every
/// rank has its own: a schedule of 8 x 128 ranks takes about 50 MB with inner rings.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_hierarchical(HierarchicalOptions options = {});

/// broadcast and reduce for any N: the whole chunk, to one child at a time, down a tree in which N/2 ranks
/// have nothing to pass on.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_binomial_tree();

/// all_reduce, reduce_scatter, all_gather and all_to_all: the messages of direct, each handed over when the
/// circuit between its ranks comes. Needs a network with direct opportunities.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_rotor_direct();

/// all_reduce, reduce_scatter and all_gather: the messages of ring, likewise, over ranks in the order of
/// circuits (meeting_order.hpp).
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_rotor_ring();

/// The parent of `rank` in tree `variant` (0 or 1) of the double binary tree over `ranks` >= 2; the root is
/// its own parent.
[[nodiscard]] Position double_binary_tree_parent(Position rank, Position ranks, unsigned variant);

}  // namespace astrolabe::system
