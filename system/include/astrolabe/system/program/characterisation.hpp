/// The traffic of a Program, counted from its schedules alone: no time, no executor, nothing added
/// to the cost of a run.
///
/// Model. An operation of k chunks sends, in every group of its partition, the messages of its k schedules
/// (algorithm.hpp: variant_sequence). Chunk c of S bytes has part_size(S, k, c) of them, chunk c of a pair of
/// an uneven all_to_all part_size of the pair's, and a message has the bytes of its blocks (schedule.hpp). An
/// executor must send exactly this, so counts and run can be compared operation by operation.
/// Messages of an uneven all_to_all that would be empty are not sent and not counted.
///
/// Complexity: operations that move the same are counted once. Per kind of operation, group, variant and
/// chunk size: O(ranks + messages of one), where all send the same; else O(blocks of all messages). An uneven
/// all_to_all takes that for every chunk. The matrix takes O(messages) and has ranks² entries of 8 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system {

/// Numbers of messages by size: [0] empty ones, [i] those of 2^(i-1) to 2^i - 1 bytes.
using MessageSizes = std::array<std::uint64_t, 65>;

/// The traffic of the stages of one (dimension, kind) of an operation, over all groups and ranks.
struct StageTraffic {
    Stage stage;
    Bytes bytes;
    std::uint64_t messages = 0;
    MessageSizes sizes{};

    void add(const StageTraffic& other);
};

struct OperationTraffic {
    std::vector<StageTraffic> stages;  ///< in the order in which the first chunks reach them
    std::vector<Bytes> sent_by_rank;   ///< of the program's ranks
    std::uint32_t chunks = 0;          ///< 0 where nothing moves

    [[nodiscard]] Bytes bytes() const;
    [[nodiscard]] std::uint64_t messages() const;
};

/// The shape a group has under the options: that of `options.dimensions`, or one dimension.
[[nodiscard]] Shape group_shape(std::span<const RankId> group, const SystemOptions& options);

/// Every byte that every rank sends to every other.
class TrafficMatrix {
public:
    explicit TrafficMatrix(std::size_t ranks)
        : ranks_(ranks),
          bytes_(ranks * ranks) {}

    [[nodiscard]] std::size_t ranks() const { return ranks_; }
    [[nodiscard]] Bytes operator()(std::size_t source, std::size_t destination) const {
        return bytes_[source * ranks_ + destination];
    }
    void add(std::size_t source, std::size_t destination, Bytes bytes) {
        bytes_[source * ranks_ + destination] += bytes;
    }
    [[nodiscard]] Bytes sent(std::size_t source) const;
    [[nodiscard]] Bytes total() const;

private:
    std::size_t ranks_;
    std::vector<Bytes> bytes_;
};

/// A program's traffic, operation by operation. Requires that all algorithms support their collectives.
class ProgramTraffic {
public:
    ProgramTraffic() = default;  ///< of no operations
    ProgramTraffic(const Program& program, const SystemOptions& options);

    /// Of a compute operation: nothing.
    [[nodiscard]] const OperationTraffic& of(OperationId operation) const {
        return kinds_[kind_of_[operation]];
    }
    [[nodiscard]] Bytes bytes() const;
    [[nodiscard]] std::uint64_t messages() const;
    [[nodiscard]] std::vector<Bytes> sent_by_rank() const;

private:
    std::vector<OperationTraffic> kinds_;  ///< one of all operations that move the same; [0]: nothing
    IndexedVector<OperationId, std::uint32_t> kind_of_;
};

/// The traffic matrix of a whole program.
[[nodiscard]] TrafficMatrix traffic_matrix(const Program& program, const SystemOptions& options);

}  // namespace astrolabe::system
