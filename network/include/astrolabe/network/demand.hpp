/// What a job asks of a topology, and how interfaces are divided between its two kinds of traffic.
///
/// Model. *Mutable* traffic: all-reduces of groups of servers, whose rings may go round the members in any
/// order. *Immutable* traffic: bytes from one server to another.
///
/// Degree split (section 4.2 of the paper). Of d interfaces
///
///     d_A = max(1, ⌈d · A / (A + M)⌉),   d_MP = d - d_A
///
/// where A and M are the bytes that mutable and immutable traffic put on the network: a ring all-reduce of S
/// bytes by k members sends 2(k - 1)·S in all. Without any traffic d_A = d.
///
/// Source: TopoOpt (NSDI 2023), sections 2 and 4.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <astrolabe/network/topoopt/strides.hpp>

namespace astrolabe::network::topoopt {

/// Most bytes of each kind of traffic: 2^57, so that 64 times as many are still an integer.
inline constexpr std::uint64_t kMaxTraffic = std::uint64_t{1} << 57;

/// Bytes from every server to every other: n² numbers.
class PairDemand {
public:
    PairDemand() = default;  ///< no servers
    explicit PairDemand(std::uint32_t servers)
        : servers_(servers),
          bytes_(std::size_t{servers} * servers) {}

    [[nodiscard]] std::uint32_t servers() const { return servers_; }
    [[nodiscard]] std::uint64_t at(Server source, Server destination) const {
        return bytes_[std::size_t{source} * servers_ + destination];
    }
    /// source != destination; the total stays below kMaxTraffic, or an invariant fails.
    void add(Server source, Server destination, std::uint64_t bytes);
    [[nodiscard]] std::uint64_t total() const { return total_; }

private:
    std::uint32_t servers_ = 0;
    std::uint64_t total_ = 0;
    std::vector<std::uint64_t> bytes_;
};

/// An all-reduce. Groups may be given several times: their bytes add up.
struct AllReduceGroup {
    std::vector<Server> members;  ///< two or more, equally spaced: a, a + n/k, …, in ascending order
    std::uint64_t bytes = 0;      ///< reduced, the same in every member
};

struct Demand {
    std::uint32_t servers = 0;
    std::vector<AllReduceGroup> groups;
    PairDemand point_to_point;  ///< of no servers: none
};

/// Bytes that mutable traffic puts on the network when it is reduced in rings; kMaxTraffic if there are as
/// many or more.
[[nodiscard]] std::uint64_t all_reduce_traffic(const Demand& demand);

struct DegreeSplit {
    std::uint32_t all_reduce = 0;      ///< d_A
    std::uint32_t point_to_point = 0;  ///< d_MP

    friend bool operator==(const DegreeSplit&, const DegreeSplit&) = default;
};

/// 1 <= degree <= 64; amounts up to kMaxTraffic.
[[nodiscard]] DegreeSplit split_degree(std::uint32_t degree, std::uint64_t mutable_traffic,
                                       std::uint64_t immutable_traffic);

}  // namespace astrolabe::network::topoopt
