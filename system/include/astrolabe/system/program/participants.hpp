/// Which ranks take part in which operations of a program (program.hpp).
///
/// Complexity: O(operations + ranks of all partitions and sets) to build; a question costs O(log ranks of the
/// operation), and O(1) where all ranks take part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/system/ids.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

class Participants {
public:
    /// `program` must outlive it. What it names exists.
    explicit Participants(const Program& program);

    /// All ranks take part in all operations.
    [[nodiscard]] bool is_spmd() const { return is_spmd_; }
    [[nodiscard]] bool are_all(OperationId operation) const { return list_of_[operation] == kAll; }
    [[nodiscard]] bool include(OperationId operation, RankId rank) const {
        return place(operation, rank).has_value();
    }
    /// Of `rank` among those that take part, in ascending order; none: it does not.
    [[nodiscard]] std::optional<std::size_t> place(OperationId operation, RankId rank) const;
    [[nodiscard]] std::size_t count(OperationId operation) const {
        return are_all(operation) ? ranks_ : list(operation).size();
    }
    /// Ascending.
    template <class Visit>
    void for_each(OperationId operation, const Visit& visit) const {
        if (are_all(operation)) {
            for (std::size_t rank = 0; rank < ranks_; ++rank) {
                visit(RankId(rank));
            }
            return;
        }
        for (const RankId rank : list(operation)) {
            visit(rank);
        }
    }
    /// Whether some rank takes part in both.
    [[nodiscard]] bool overlap(OperationId first, OperationId second) const;
    /// Over all operations.
    [[nodiscard]] std::size_t total() const { return total_; }

private:
    static constexpr std::uint32_t kAll = 0xffffffffU;

    /// Precondition: not all.
    [[nodiscard]] const std::vector<RankId>& list(OperationId operation) const {
        return lists_[list_of_[operation]];
    }

    std::size_t ranks_;
    std::vector<std::vector<RankId>> lists_;
    IndexedVector<OperationId, std::uint32_t> list_of_;  // kAll: all ranks
    bool is_spmd_ = true;
    std::size_t total_ = 0;
};

}  // namespace astrolabe::system
