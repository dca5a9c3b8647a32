/// What a rank asks of PyTorch's c10d, as every trace of it says: one call of a collective, a message or a
/// wait.
///
/// Sizes. `in` and `out` are bytes of the rank's input and output tensors. The bytes of a collective, as
/// system::CollectiveKind counts them, are those of the input. Splits are elements, or rows where they sum
/// to the rows of the tensor; here they are bytes.
///     gather    an uneven all_to_all in which each member has its input for the root, and nothing else
///     scatter   one in which the root has for each what that one receives
///     barrier   an all_reduce of 0 bytes
#pragma once

#include "../rank_graphs/rank_graphs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload::pytorch {

enum class CallKind : std::uint8_t { kCollective, kGather, kScatter, kSend, kReceive, kWait };

/// Ranks of a group in its order: a list, or ranks at equal distances, which take no memory however many a
/// file says they are.
class GroupRanks {
public:
    GroupRanks() = default;
    explicit GroupRanks(std::vector<std::uint32_t> list);
    /// `count` ranks from `first` on, each `stride`, from 1, after the one before.
    [[nodiscard]] static GroupRanks spaced(std::uint32_t first, std::uint32_t stride, std::size_t count);

    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] std::size_t size() const { return list_.empty() ? count_ : list_.size(); }
    [[nodiscard]] std::uint32_t operator[](std::size_t position) const {
        return list_.empty() ? first_ + static_cast<std::uint32_t>(position) * stride_ : list_[position];
    }
    /// Where a rank is, the first time; nothing: nowhere. O(log n).
    [[nodiscard]] std::optional<std::size_t> position_of(std::uint32_t rank) const;
    /// Of a group that is not empty.
    [[nodiscard]] std::uint32_t greatest() const {
        return list_.empty() ? (*this)[count_ - 1] : list_[by_rank_.back()];
    }
    /// A rank that is in it twice; nothing: there is none. O(n) of a list.
    [[nodiscard]] std::optional<std::uint32_t> repeated() const;

    /// First, stride and count; all 0: it is a list, or empty.
    using Spacing = std::tuple<std::uint32_t, std::uint32_t, std::size_t>;
    [[nodiscard]] Spacing spacing() const {
        return count_ == 0 ? Spacing() : Spacing(first_, stride_, count_);
    }

private:
    std::vector<std::uint32_t> list_;
    std::vector<std::uint32_t> by_rank_;  // positions in the list
    std::uint32_t first_ = 0;
    std::uint32_t stride_ = 1;
    std::size_t count_ = 0;
};

/// What an operation's name means.
struct CallMeaning {
    CallKind kind = CallKind::kCollective;
    system::CollectiveKind collective = system::CollectiveKind::kAllReduce;
};

struct CommCall {
    std::uint64_t id = 0;  ///< in the source, for messages
    int line = 0;
    std::string name;  ///< as the trace has it
    CallMeaning meaning;
    bool is_message = false;  ///< of a wait: for a send or receive
    bool is_barrier = false;
    /// Counts the calls of a group; a wait has that of the call it waits for.
    std::optional<std::int64_t> sequence = std::nullopt;
    /// As the trace names it; "" where it does not.
    std::string group;
    bool is_address = false;      ///< the group is an address, another one on every rank
    GroupRanks ranks;             ///< of the group, where the call itself says them
    std::int64_t group_size = 0;  ///< 0: not said
    std::int64_t root = 0;        ///< position in the group of the root, or of the peer
    Bytes in;
    Bytes out;
    std::vector<std::int64_t> in_splits;   ///< bytes by member; empty: even
    std::vector<std::int64_t> out_splits;  ///< likewise

    [[nodiscard]] bool is_wait() const { return meaning.kind == CallKind::kWait; }
    [[nodiscard]] bool has_splits() const { return !in_splits.empty() || !out_splits.empty(); }
};

/// "ALLTOALL_BASE", "allreduce_coalesced", "_allgather_base": only letters count, in either case. Nothing:
/// not known.
[[nodiscard]] std::optional<CallMeaning> meaning_of(std::string_view name);

/// Bytes of an element by any name that c10d, ATen, Kineto or PARAM give its type; nothing: not known.
[[nodiscard]] std::optional<std::int64_t> element_bytes(std::string_view type);

/// `elements` of `element` bytes; nothing where that is negative or more than 2^62.
[[nodiscard]] std::optional<Bytes> bytes_of(std::int64_t elements, std::int64_t element);

/// Splits of a tensor as bytes, or what is wrong with them.
struct Splits {
    std::vector<std::int64_t> bytes;
    std::string error;
};
/// The rows of the tensor are not known.
inline constexpr std::int64_t kAnyRows = -1;
/// `counts` of a tensor of `bytes` in elements of `element` bytes and `rows` rows (0: splits are elements).
/// No counts, no splits.
[[nodiscard]] Splits split_bytes(const std::vector<std::int64_t>& counts, Bytes bytes, std::int64_t element,
                                 std::int64_t rows, std::string_view which);

/// No job has more; more is a damaged trace.
inline constexpr std::int64_t kMostRanks = std::int64_t{1} << 24U;

/// A JSON list of whole numbers; nothing where it is anything else. Of a text: that which it holds.
[[nodiscard]] std::optional<std::vector<std::int64_t>> whole_numbers(const nlohmann::json& value);
/// A whole number of either sign within 64 bits, else nothing.
[[nodiscard]] std::optional<std::int64_t> whole_number(const nlohmann::json& value);

}  // namespace astrolabe::workload::pytorch
