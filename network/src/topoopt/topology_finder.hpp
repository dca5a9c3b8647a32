/// TopologyFinder: which links n servers of d interfaces each should have for a job.
///
/// Model. Interface i of every server is wired to optical plane i, so that a plane holds one link of a server
/// at most. Steps of mode `paper`:
///
///   1. Split the degree between all-reduces and the rest:
///          d_A = max(1, ⌈d · A / (A + M)⌉),   d_MP = d - d_A
///      where A and M are the bytes that mutable and immutable traffic (demand.hpp) put on the network: a
///      ring all-reduce of S bytes by k members sends 2(k - 1)·S in all. Without any traffic d_A = d.
///   2. Groups of k members, in the order they first come: r_k = ⌈R·S_k / ΣS⌉ of the R rings that d_A
///      interfaces make, until none is left; S_k is what one group reduces, the most of all groups of k.
///      Their strides are chosen among the totients of k and serve all n/k shifted groups (strides.hpp).
///   3. d_MP matchings of greatest demand, halved each time (demand_matching.hpp).
///   4. The union. Some ring joins all servers always: if no group of all got one, the last group that has a
///      ring gives one up. So the union is strongly connected.
///
/// Mode `released` does what the published code does, which differs from the paper: d_A = d and no matchings;
/// full-duplex rings; the first group gets all rings, as shares are inverted and then cut; strides by
/// `at_least` (strides.hpp).
///
/// Mode `best` compares many designs, those of the two other modes among them (best_design.hpp); what a
/// design is, and how it is wired, is here.
///
/// Wiring:
///   separate_fibres   an interface's fibre out and fibre in are patched separately, so that a plane is any
///                     permutation of directed links. A one-way ring takes one plane, a ring that goes both
///                     ways two, a matching one.
///   duplex            an interface is wired to one other, both ways, so that a plane is a matching. A ring
///                     takes two planes, whose links alternate around it: it must have an even length.
///   panel             as duplex, but all planes are one panel that joins any two ports: a ring leaves each
///                     server by one interface and enters by the next.
/// Only with separate_fibres in mode paper do rings go one way; otherwise a ring takes two interfaces and d_A
/// is rounded up to an even number, or down if d itself is odd.
///
/// Complexity: the matchings, see there; the rest O(n·d + groups·k).
///
/// Source: TopoOpt (NSDI 2023), section 4; the authors' FlexFlow fork for `released`.
/// C++17, for the ns-3 module; what it refuses and what a file calls things is in finder_checks.hpp.
#pragma once

#include "demand_matching.hpp"
#include "strides.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <astrolabe/core/containers/span.hpp>
#include <astrolabe/network/demand.hpp>

namespace astrolabe::network::topoopt {

inline constexpr std::uint32_t kMaxServers = 4'096;
inline constexpr std::uint32_t kMaxDegree = 64;

enum class Mode : std::uint8_t { kBest, kPaper, kReleased };

enum class Wiring : std::uint8_t { kSeparateFibres, kDuplex, kPanel };

struct FinderOptions {
    std::uint32_t degree = 0;  ///< d, must be given
    Mode mode = Mode::kPaper;
    Wiring wiring = Wiring::kSeparateFibres;
    Candidates candidates = Candidates::kAll;
    bool repeat_strides = false;    ///< released: as the fork of 2024
    bool perfect_matching = false;  ///< refuse an odd number of servers, of which a matching leaves one out
};

/// Must every ring take two interfaces of a server?
[[nodiscard]] inline bool rings_go_both_ways(const FinderOptions& options) {
    return options.mode == Mode::kReleased || options.wiring != Wiring::kSeparateFibres;
}

/// From one server to another. With duplex and panel wiring every link but its reverse follows it at once.
struct PlannedLink {
    Server from = 0;
    Server to = 0;
    std::uint32_t from_interface = 0;
    std::uint32_t to_interface = 0;  ///< differs on a panel alone

    friend bool operator==(const PlannedLink& a, const PlannedLink& b) {
        return a.from == b.from && a.to == b.to && a.from_interface == b.from_interface &&
               a.to_interface == b.to_interface;
    }
};

/// How interfaces are divided between the two kinds of traffic.
struct DegreeSplit {
    std::uint32_t all_reduce = 0;      ///< d_A
    std::uint32_t point_to_point = 0;  ///< d_MP

    friend bool operator==(const DegreeSplit& a, const DegreeSplit& b) {
        return a.all_reduce == b.all_reduce && a.point_to_point == b.point_to_point;
    }
};

/// Which groups get the rings.
enum class RingShares : std::uint8_t {
    kByTraffic,  ///< ⌈R·S_k/ΣS⌉ of R, in the order of the groups
    kFirst,      ///< all to the groups that come first
    kWhole       ///< all to rings of all servers
};

/// What find_topology is to wire.
struct Design {
    DegreeSplit split;
    Selection selection = Selection::kNearest;
    RingShares shares = RingShares::kByTraffic;
    bool full_duplex_rings = false;  ///< a ring takes two interfaces

    friend bool operator==(const Design& a, const Design& b) {
        return a.split == b.split && a.selection == b.selection && a.shares == b.shares &&
               a.full_duplex_rings == b.full_duplex_rings;
    }
};

/// 1 <= degree <= 64; amounts up to kMaxTraffic.
[[nodiscard]] DegreeSplit split_degree(std::uint32_t degree, std::uint64_t mutable_traffic,
                                       std::uint64_t immutable_traffic);

/// What all-reduces of groups of one size got.
struct GroupRings {
    std::uint32_t members = 0;           ///< k
    std::uint64_t bytes = 0;             ///< S_k; 0 for the ring that is there to connect
    std::vector<std::uint32_t> strides;  ///< ascending, of the ring's forward direction; may be none

    friend bool operator==(const GroupRings& a, const GroupRings& b) {
        return a.members == b.members && a.bytes == b.bytes && a.strides == b.strides;
    }
};

struct Topology {
    std::uint32_t servers = 0;
    std::uint32_t degree = 0;
    Wiring wiring = Wiring::kSeparateFibres;
    bool full_duplex_rings = false;  ///< stride s comes with n - s
    DegreeSplit split;               ///< d_A and d_MP; below the degree where one interface stays unused
    std::vector<GroupRings> rings;   ///< by group size, in the order of the demand
    std::vector<MatchingRound> matchings;
    std::vector<PlannedLink> links;  ///< those of rings, then those of matchings, by interface
};

/// Every stride of every ring, n - s too where rings go both ways: what the coins of coin_change.hpp are.
[[nodiscard]] std::vector<std::uint32_t> directed_strides(const Topology& topology);

/// What mode paper or released takes. Precondition of all below: no problems (finder_checks.hpp).
[[nodiscard]] Design design_of_mode(const Demand& demand, const FinderOptions& options);

/// That of a design with a ring at least, and of the first of `matchings`, which are as many as
/// split.point_to_point or more (match_demand).
[[nodiscard]] Topology wire_design(const Demand& demand, const FinderOptions& options, const Design& design,
                                   Span<const MatchingRound> matchings);

}  // namespace astrolabe::network::topoopt
