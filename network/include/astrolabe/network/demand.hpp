/// What a job asks of a network that is built for it.
///
/// Model. *Mutable* traffic: all-reduces of groups of servers, whose rings may go round the members in any
/// order, so that the network chooses them. *Immutable* traffic: bytes from one server to another.
///
/// Example. 4 servers that all-reduce 6 MB in one group, of which server 0 also sends 1 MB to server 2, are
/// one AllReduceGroup {0, 1, 2, 3} of 6 MB, which puts 2 · 3 · 6 = 36 MB on the network when it is reduced in
/// rings, and a PairDemand whose only entry is 1 MB from 0 to 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace astrolabe::network {

using Server = std::uint32_t;

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
    std::vector<Server> members;   ///< two or more, equally spaced: a, a + n/k, …, in ascending order
    std::uint64_t bytes = 0;       ///< reduced, the same in every member
    std::uint64_t operations = 0;  ///< that these bytes are of, for what latency costs; 0: unknown
};

struct Demand {
    std::uint32_t servers = 0;
    std::vector<AllReduceGroup> groups;
    PairDemand point_to_point;    ///< of no servers: none
    std::uint64_t exchanges = 0;  ///< operations that the traffic between pairs is of; 0: unknown
};

/// Bytes that mutable traffic puts on the network when it is reduced in rings; kMaxTraffic if there are as
/// many or more.
[[nodiscard]] std::uint64_t all_reduce_traffic(const Demand& demand);

}  // namespace astrolabe::network
