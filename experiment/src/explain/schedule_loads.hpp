/// What the chosen schedules put on ranks and links, per byte: counted once for all operations that differ in
/// size only.
///
/// Model. Chunk c of S bytes is cut in B blocks of at least ⌊s_c/B⌋ bytes each (schedule.hpp), so what an
/// operation puts on a link is at least
///     load(l) ≥ Σ_v u_v · w_v(l),   u_v = Σ_{chunks c of variant v} ⌊s_c/B_v⌋,
/// with w_v(l) the blocks of variant v that cross the link, each weighted with the share of its route. w_v is
/// a property of kind, partition and algorithm: a *load*; u_v are the *units* of an operation. An uneven
/// all_to_all has loads of its own, in bytes. Blocks that are a byte longer are left out: an error of less
/// than B bytes a link, on the safe side for a lower bound.
///
/// Doubles: sums of up to 2^21 positive terms are right to 2^-32, which `kSafety` takes off.
///
/// Limits: where schedules send between more than kMostPairs pairs of ranks in all, links are left out and
/// only what ranks send and receive is counted. Where paths are sprayed, or hosts hang on one switch, and
/// every rank of a group sends every other one its own block, of one size or as much as the source has for
/// all or the destination gets from all, pairs of places (route_load.hpp) count instead, each as 16 of ranks:
/// up to 512 switches.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/experiment/file/placement.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/characterisation.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::experiment {

inline constexpr double kSafety = 1.0 - 1.0 / (std::uint64_t{1} << 32);
inline constexpr std::uint64_t kMostPairs = std::uint64_t{1} << 22;
/// Why something is left out where there are more.
[[nodiscard]] std::string too_many_pairs();

/// How long `bytes` take at `rate`, rounded down; at most Time::max().
[[nodiscard]] Time carrying_time(double bytes, double bytes_per_second);
[[nodiscard]] Time carrying_time(double bytes, Bandwidth rate);

/// What one unit puts where; in blocks, or in bytes of an uneven all_to_all.
struct UnitLoad {
    std::vector<double> sent;      ///< by rank
    std::vector<double> received;  ///< by rank
    /// Empty where links are left out.
    IndexedVector<network::LinkId, double> links;
    std::vector<network::PlaceTraffic> places;
};

/// How the first chunk of a collective goes.
struct ChunkSchedule {
    const system::CollectiveSchedule* steps;
    std::size_t chunks;
    std::size_t alike;  ///< chunks that go the same way; others have another variant of the schedule
    /// Of a block; 0 of an uneven all_to_all.
    double block_bytes;
};

class ScheduleLoads {
public:
    /// On the routes of the fabric, or as if it chose among equal paths by `load_balancing`.
    ScheduleLoads(const system::Program& program, const system::SystemOptions& options,
                  const network::Fabric& fabric, const Placement& placement,
                  std::optional<network::LoadBalancing> load_balancing = std::nullopt);

    /// Where this is not empty, no links and places are known, and this is why.
    [[nodiscard]] const std::string& omission() const { return omission_; }

    /// Pairs of ranks that send, once for every schedule that makes them.
    [[nodiscard]] std::uint64_t pairs() const { return pairs_; }

    struct Part {
        const UnitLoad* load;
        double units;
    };
    /// Of a collective; of a computation, and where nothing moves, none.
    [[nodiscard]] const std::vector<Part>& of(system::OperationId operation) const {
        return parts_[operation];
    }
    /// Nothing where nothing moves. Valid as long as this.
    [[nodiscard]] std::optional<ChunkSchedule> first_chunk(system::OperationId operation) const;
    /// The heaviest chain of actions of its first chunk: a send weighs `per_message` and `per_byte` for every
    /// byte, a receive that adds up `per_added_byte`. What waits for a send only, as in a window, does not
    /// wait for the addition. Schedules with more than 2^16 actions of their own count no bytes.
    [[nodiscard]] Time chain(system::OperationId operation, Time per_message, double per_byte,
                             double per_added_byte) const;

    /// Of a schedule in which position s sends `from[s]·to[d]` to every other position d.
    struct Products {
        std::vector<double> from;
        std::vector<double> to;
    };

private:
    struct Key {
        system::CollectiveKind kind;
        system::PartitionId partition;
        const void* pair_sizes;
        const system::CollectiveAlgorithm* algorithm;
        std::uint32_t variant;
        std::uint32_t chunks;  ///< of an uneven all_to_all; else 0
        friend auto operator<=>(const Key&, const Key&) = default;
    };

    /// How a collective is cut and carried out in the groups where it moves something.
    struct Plan {
        const system::CollectiveAlgorithm* algorithm;
        system::Shape shape;
        std::vector<unsigned> variants;  ///< by chunk
    };

    /// Nothing where nothing moves.
    [[nodiscard]] std::optional<Plan> plan_of(const system::CollectiveOperation& collective) const;
    void add_operation(system::OperationId id);
    [[nodiscard]] const UnitLoad& load_of(const system::CollectiveOperation& collective, unsigned variant,
                                          const Plan& plan);
    /// Of the places of their hosts.
    [[nodiscard]] std::uint64_t pairs_of_places(const std::vector<system::RankId>& ranks) const;
    void add_products(const Products& products, const std::vector<system::RankId>& ranks, UnitLoad& load,
                      network::RouteLoad& routes) const;
    [[nodiscard]] const system::CollectiveSchedule& schedule(system::CollectiveKind kind, const Plan& plan,
                                                             const system::Shape& shape,
                                                             unsigned variant) const;

    const system::Program& program_;
    const system::SystemOptions& options_;
    const network::Fabric& fabric_;
    const Placement& placement_;
    network::LoadBalancing load_balancing_;
    std::string omission_;
    std::uint64_t pairs_ = 0;
    std::uint64_t looks_ = 0;  // at pairs of ranks or places
    std::map<Key, UnitLoad> loads_;
    IndexedVector<system::OperationId, std::vector<Part>> parts_;
    using ScheduleKey =
        std::tuple<system::CollectiveKind, const system::CollectiveAlgorithm*, system::Shape, unsigned>;
    mutable std::map<ScheduleKey, system::CollectiveSchedule> schedules_;
};

}  // namespace astrolabe::experiment
