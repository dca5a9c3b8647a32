#include "comm_call.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/json_text.hpp>

namespace astrolabe::workload::pytorch {

using system::CollectiveKind;

GroupRanks::GroupRanks(std::vector<std::uint32_t> list)
    : list_(std::move(list)),
      by_rank_(list_.size()) {
    std::iota(by_rank_.begin(), by_rank_.end(), 0U);
    std::stable_sort(by_rank_.begin(), by_rank_.end(),
                     [this](std::uint32_t one, std::uint32_t other) { return list_[one] < list_[other]; });
}

GroupRanks GroupRanks::spaced(std::uint32_t first, std::uint32_t stride, std::size_t count) {
    GroupRanks ranks;
    ranks.first_ = first;
    ranks.stride_ = stride;
    ranks.count_ = count;
    return ranks;
}

std::optional<std::size_t> GroupRanks::position_of(std::uint32_t rank) const {
    if (list_.empty()) {
        const std::size_t position = rank < first_ ? count_ : (rank - first_) / stride_;
        return position < count_ && (*this)[position] == rank ? std::optional(position) : std::nullopt;
    }
    const auto found = std::lower_bound(
        by_rank_.begin(), by_rank_.end(), rank,
        [this](std::uint32_t position, std::uint32_t value) { return list_[position] < value; });
    return found != by_rank_.end() && list_[*found] == rank ? std::optional<std::size_t>(*found)
                                                            : std::nullopt;
}

std::optional<std::uint32_t> GroupRanks::repeated() const {
    const auto twice = std::adjacent_find(
        by_rank_.begin(), by_rank_.end(),
        [this](std::uint32_t one, std::uint32_t other) { return list_[one] == list_[other]; });
    return twice == by_rank_.end() ? std::nullopt : std::optional(list_[*twice]);
}

std::optional<CallMeaning> meaning_of(std::string_view name) {
    static constexpr auto kMeanings = std::to_array<std::pair<std::string_view, CallMeaning>>({
        {"allreduce", {CallKind::kCollective, CollectiveKind::kAllReduce}},
        {"allreducecoalesced", {CallKind::kCollective, CollectiveKind::kAllReduce}},
        {"allreducesparse", {CallKind::kCollective, CollectiveKind::kAllReduce}},
        {"barrier", {CallKind::kCollective, CollectiveKind::kAllReduce}},
        {"reduce", {CallKind::kCollective, CollectiveKind::kReduce}},
        {"broadcast", {CallKind::kCollective, CollectiveKind::kBroadcast}},
        {"broadcastoop", {CallKind::kCollective, CollectiveKind::kBroadcast}},
        {"allgather", {CallKind::kCollective, CollectiveKind::kAllGather}},
        {"allgatherbase", {CallKind::kCollective, CollectiveKind::kAllGather}},
        {"allgatherv", {CallKind::kCollective, CollectiveKind::kAllGather}},
        {"allgatherintotensor", {CallKind::kCollective, CollectiveKind::kAllGather}},
        {"allgatherintotensorcoalesced", {CallKind::kCollective, CollectiveKind::kAllGather}},
        {"allgathercoalesced", {CallKind::kCollective, CollectiveKind::kAllGather}},
        {"reducescatter", {CallKind::kCollective, CollectiveKind::kReduceScatter}},
        {"reducescatterbase", {CallKind::kCollective, CollectiveKind::kReduceScatter}},
        {"reducescatterv", {CallKind::kCollective, CollectiveKind::kReduceScatter}},
        {"reducescattertensor", {CallKind::kCollective, CollectiveKind::kReduceScatter}},
        {"reducescattertensorcoalesced", {CallKind::kCollective, CollectiveKind::kReduceScatter}},
        {"alltoall", {CallKind::kCollective, CollectiveKind::kAllToAll}},
        {"alltoallv", {CallKind::kCollective, CollectiveKind::kAllToAll}},
        {"alltoallbase", {CallKind::kCollective, CollectiveKind::kAllToAll}},
        {"alltoallsingle", {CallKind::kCollective, CollectiveKind::kAllToAll}},
        {"gather", {CallKind::kGather, CollectiveKind::kAllToAll}},
        {"scatter", {CallKind::kScatter, CollectiveKind::kAllToAll}},
        {"send", {CallKind::kSend, CollectiveKind::kPointToPoint}},
        {"isend", {CallKind::kSend, CollectiveKind::kPointToPoint}},
        {"recv", {CallKind::kReceive, CollectiveKind::kPointToPoint}},
        {"irecv", {CallKind::kReceive, CollectiveKind::kPointToPoint}},
        {"recvanysource", {CallKind::kReceive, CollectiveKind::kPointToPoint}},
        {"wait", {CallKind::kWait, CollectiveKind::kAllReduce}},
    });
    std::string letters;
    for (const char c : name) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    const auto* const found = std::find_if(kMeanings.begin(), kMeanings.end(), [&](const auto& one) {
        return !letters.empty() && one.first == letters;
    });
    return found == kMeanings.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> element_bytes(std::string_view type) {
    static constexpr auto kSizes = std::to_array<std::pair<std::string_view, std::int64_t>>({
        {"float", 4},          {"float32", 4},        {"int", 4},
        {"int32", 4},          {"uint32", 4},         {"double", 8},
        {"float64", 8},        {"long", 8},           {"int64", 8},
        {"uint64", 8},         {"longint", 8},        {"complexfloat", 8},
        {"half", 2},           {"float16", 2},        {"bfloat16", 2},
        {"short", 2},          {"shortint", 2},       {"int16", 2},
        {"uint16", 2},         {"byte", 1},           {"uint8", 1},
        {"int8", 1},           {"char", 1},           {"signedchar", 1},
        {"unsignedchar", 1},   {"bool", 1},           {"float8e4m3fn", 1},
        {"float8e5m2", 1},     {"float8e4m3fnuz", 1}, {"float8e5m2fnuz", 1},
        {"complexdouble", 16}, {"qint8", 1},          {"quint8", 1},
        {"qint32", 4},
    });
    std::string plain;
    if (const std::size_t scope = type.rfind(':'); scope != std::string_view::npos) {
        type.remove_prefix(scope + 1);
    }
    for (const char c : type) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    const auto* const found = std::find_if(
        kSizes.begin(), kSizes.end(), [&](const auto& one) { return !plain.empty() && one.first == plain; });
    return found == kSizes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Bytes> bytes_of(std::int64_t elements, std::int64_t element) {
    constexpr std::int64_t kMost = std::int64_t{1} << 62U;
    if (elements < 0 || element < 0 || (element > 0 && elements > kMost / element)) {
        return std::nullopt;
    }
    return Bytes(elements * element);
}

Splits split_bytes(const std::vector<std::int64_t>& counts, Bytes bytes, std::int64_t element,
                   std::int64_t rows, std::string_view which) {
    Splits splits;
    if (counts.empty()) {
        return splits;
    }
    std::int64_t sum = 0;
    for (const std::int64_t count : counts) {
        if (count < 0 || count > std::numeric_limits<std::int64_t>::max() - sum) {
            splits.error = fmt::format("one of the {} splits is {}", which, count);
            return splits;
        }
        sum += count;
    }
    const std::int64_t elements = element > 0 ? bytes.count() / element : 0;
    const bool are_elements = sum == elements;
    const bool are_rows = sum > 0 && (rows == kAnyRows || rows == sum) && elements % sum == 0;
    if (!are_elements && !are_rows) {
        splits.error =
            fmt::format("the {} splits sum to {}, and the tensor has {} elements", which, sum, elements);
        return splits;
    }
    const std::int64_t row = are_elements ? element : elements / sum * element;
    for (const std::int64_t count : counts) {
        splits.bytes.push_back(count * row);
    }
    return splits;
}

std::optional<std::int64_t> whole_number(const nlohmann::json& value) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        return std::in_range<std::int64_t>(number) ? std::optional(static_cast<std::int64_t>(number))
                                                   : std::nullopt;
    }
    return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> whole_numbers(const nlohmann::json& value) {
    if (value.is_string()) {
        const nlohmann::json inner = parse_json<nlohmann::json>(value.get_ref<const std::string&>());
        return inner.is_array() ? whole_numbers(inner) : std::nullopt;
    }
    if (!value.is_array()) {
        return std::nullopt;
    }
    std::vector<std::int64_t> numbers;
    for (const nlohmann::json& one : value) {
        const std::optional<std::int64_t> number = whole_number(one);
        if (!number) {
            return std::nullopt;
        }
        numbers.push_back(*number);
    }
    return numbers;
}

}  // namespace astrolabe::workload::pytorch
