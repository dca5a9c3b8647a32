/// The phases of a hierarchical collective and the schedule that they make (hierarchical.hpp).
///
/// Which blocks a phase moves. Blocks are numbered like positions, digit d of a block belonging to dimension
/// d. The phases before have narrowed the blocks of a rank: of their digits some are the rank's own
/// coordinates ("own"), the others run over all values ("free"). Inner block j of a phase in dimension d
/// represents all blocks whose digit d is j, with the other digits own or free as they are; they are the same
/// on the whole line, whose ranks differ in coordinate d only.
///
///   reduce_scatter  makes digit d own; a reduce_scatter starts with all digits free and ends with none free
///   all_gather      makes it free again; an all_gather starts with all digits own
///   all_reduce      leaves the digits as they are; digit d counts the inner algorithm's own blocks
///   all_to_all      rank r starts with its own source digits and free destination digits. The phase gives
///                   those with digit d of the destination p_d to the neighbour p, so afterwards the source
///                   digit d is free and the destination digit d is r's own
///
/// Where all inner schedules share a symmetry that the grid has too, so does the whole, and one program
/// suffices for all ranks: any symmetry for one dimension of more than one position, exclusive or for any
/// number of them.
#pragma once

#include "hierarchical.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system::hierarchical {

/// Dimensions of more than one position, in the order in which a collective first works in them.
using Order = std::vector<std::uint32_t>;

/// Every order a collective may use.
[[nodiscard]] std::vector<Order> orders_of(const Shape& shape, DimensionOrder rule);

/// The stages of a collective that works in the dimensions in this order.
[[nodiscard]] std::vector<Stage> stages_of(CollectiveKind kind, const Order& order,
                                           HierarchicalOptimisation optimisation);

/// The blocks that one digit of an inner block represents: weight · digit + the rank's own digits + each of
/// `offsets`.
struct Expansion {
    std::uint32_t weight = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> own;  // (dimension, weight)
    std::vector<std::uint32_t> offsets{0};

    [[nodiscard]] std::uint32_t base(const Shape& shape, Position rank) const;
};

/// A phase: an inner schedule and what its blocks represent.
struct Phase {
    Stage stage;
    CollectiveSchedule inner;
    Expansion sources{};  // all_to_all only
    Expansion columns{};

    [[nodiscard]] std::uint64_t blocks_per_inner_block() const {
        return std::uint64_t{sources.offsets.size()} * columns.offsets.size();
    }
};

/// Of a plan at most: blocks of one rank's vector.
inline constexpr std::uint64_t kMaxColumns = std::uint64_t{1} << 24;

/// How many values digit d of a block has: positions, or the blocks of the all_reduce in dimension d.
[[nodiscard]] std::vector<std::uint32_t> column_radices(const Shape& shape, const std::vector<Phase>& phases);
/// Blocks of one rank's vector; kMaxColumns means that many or more.
[[nodiscard]] std::uint64_t count_columns(const std::vector<std::uint32_t>& radices);

/// The phases of one schedule, every one with what its blocks represent.
class Plan {
public:
    /// Precondition: fewer than kMaxColumns columns.
    Plan(CollectiveKind kind, const Shape& shape, std::vector<Phase> phases);

    [[nodiscard]] CollectiveKind kind() const { return kind_; }
    [[nodiscard]] const std::vector<Phase>& phases() const { return phases_; }
    /// Blocks of one rank's vector.
    [[nodiscard]] std::uint64_t columns() const { return columns_; }
    [[nodiscard]] std::uint64_t block_count() const {
        return kind_ == CollectiveKind::kAllToAll ? columns_ * shape_.ranks() : columns_;
    }
    [[nodiscard]] Symmetry symmetry() const;
    [[nodiscard]] CollectiveSchedule write() const;

private:
    /// The actions of `rank` in a phase, the first of which is number `first`; returns how many they are.
    ActionIndex write_phase(ScheduleBuilder& builder, const Phase& phase, Position rank,
                            ActionIndex first) const;

    CollectiveKind kind_;
    Shape shape_;
    std::vector<Phase> phases_;
    std::uint64_t columns_ = 0;
};

}  // namespace astrolabe::system::hierarchical
