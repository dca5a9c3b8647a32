#include "embedding_kernels.hpp"

#include "../../integer_division.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

constexpr std::int64_t kOffsetBytes = 8;
constexpr std::int64_t kWeightBytes = 4;
constexpr std::int64_t kLeastColumns = 32;  // eight threads of four values
constexpr std::int64_t kWays = 32;          // of the row cache

/// State that a row has for each of its values, or for itself.
struct RowState {
    Bytes with_row;
    Bytes beside;
};

RowState state_access(const LookupFormat& format, std::int64_t columns) {
    if (!format.updates || !format.optimizer) {
        return {};
    }
    const Bytes all = state_access_of_row(*format.optimizer, columns);
    const Bytes beside = has_row_state(*format.optimizer) ? kMemorySector : Bytes(0);
    return {.with_row = all - beside, .beside = beside};
}

/// Of sizes and rates that make no sense together, so that their check can say so.
Time sum_of(Time a, Time b) {
    return a > Time::max() - b ? Time::max() : a + b;
}
template <class... More>
Time sum_of(Time a, Time b, More... more) {
    return sum_of(sum_of(a, b), more...);
}

std::int64_t slots(const LookupTraits& traits, std::int64_t rows) {
    const double wanted = std::ceil(traits.cache.load_factor * static_cast<double>(rows));
    return divide_up(static_cast<std::int64_t>(wanted), kWays) * kWays;
}

}  // namespace

std::int64_t sort_passes(std::int64_t keys) {
    constexpr std::int64_t kBitsOfPass = 8;
    const auto bits = static_cast<std::int64_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(keys, 2) - 1)));
    return divide_up(bits, kBitsOfPass);
}

LookupTimes shard_times(const Device& device, const LookupFormat& format, const LookupShard& shard,
                        std::int64_t passes) {
    const std::optional<Bandwidth> rows_rate = device.lookup_bandwidth(shard.columns);
    ASTROLABE_ASSERT(rows_rate && device.memory_bandwidth, "lookups need a memory bandwidth");
    const std::int64_t n = shard.lookups;
    const std::int64_t u = shard.unique_rows;
    const TableMemory memory = shard.memory;
    ASTROLABE_ASSERT(memory == TableMemory::kHbm || device.host_link, "rows of the host need its link");

    const Bytes indices = n * format.index + Bytes((shard.bags + 1) * kOffsetBytes);
    const Bytes row = in_sectors(shard.columns * format.element);
    const Bytes rows_read = n * in_sectors(std::max(shard.columns, kLeastColumns) * format.element);
    const Bytes weights = shard.weighted ? Bytes(kWeightBytes * n) : Bytes(0);
    const Bytes output = shard.bags * shard.columns * format.output;
    const Bytes gradients = std::min(n, shard.bags) * shard.columns * format.output;
    const RowState state = state_access(format, shard.columns);

    const auto over_link = [&](Bytes size) { return size == Bytes(0) ? Time(0) : size / *device.host_link; };
    const auto in_memory = [&](Bytes size) { return size / *device.memory_bandwidth; };
    const auto by_kernel = [&](Bytes size) { return size / *rows_rate; };

    LookupTimes times;
    const bool is_remote = memory == TableMemory::kHost;
    const Time rows_time = is_remote ? over_link(n * row) : by_kernel(rows_read);
    times.forward = sum_of(in_memory(2 * indices + weights), rows_time, by_kernel(output));
    if (memory == TableMemory::kCached) {
        const auto misses =
            static_cast<std::int64_t>(std::ceil((1 - shard.hit_rate) * static_cast<double>(u)));
        times.fetch = over_link(misses * row);
        times.forward = sum_of(times.forward, times.fetch);
    }

    const Bytes sorting = n * (format.index + Bytes(8 + 4)) + 24 * n * Bytes(passes) + Bytes(12 * (n + u));
    times.backward = sum_of(in_memory(sorting), by_kernel(gradients));
    if (shard.weighted) {
        times.backward = sum_of(times.backward, in_memory(weights), rows_time);
    }
    if (format.updates) {
        const Bytes local = (is_remote ? Bytes(0) : row) + state.beside +
                            (memory == TableMemory::kHbm ? state.with_row : Bytes(0));
        const Bytes remote =
            (is_remote ? row : Bytes(0)) + (memory == TableMemory::kHbm ? Bytes(0) : state.with_row);
        times.backward = sum_of(times.backward, by_kernel(2 * u * local), over_link(u * remote));
    } else {
        times.backward = sum_of(times.backward, by_kernel(u * row));
    }
    return times;
}

LookupTimes call_times(const Device& device, const LookupFormat& format,
                       std::span<const LookupShard> shards) {
    LookupTimes sum;
    if (shards.empty()) {
        return sum;
    }
    std::int64_t keys = 0;
    for (const LookupShard& shard : shards) {
        keys += shard.count * shard.rows;
    }
    for (const LookupShard& shard : shards) {
        const LookupTimes times = shard_times(device, format, shard, sort_passes(keys));
        const auto all = [&shard](Time time) {
            return Time(detail::multiply_divide_up(time.count(), shard.count, 1));
        };
        sum.forward = sum_of(sum.forward, all(times.forward));
        sum.fetch = sum_of(sum.fetch, all(times.fetch));
        sum.backward = sum_of(sum.backward, all(times.backward));
    }
    if (device.lookup) {
        sum.forward = sum_of(std::max(sum.forward - sum.fetch, device.lookup->floor), sum.fetch);
        sum.backward = std::max(sum.backward, device.lookup->backward_floor);
    }
    return sum;
}

LookupMemory memory_of_shard(const LookupFormat& format, const LookupTraits& traits, std::int64_t rows,
                             std::int64_t columns) {
    constexpr Bytes kRowOfMap = Bytes(4);
    constexpr Bytes kSlot = Bytes(16);
    const Bytes weights = columns * format.element;
    const Bytes state = format.optimizer ? state_of_row(*format.optimizer, columns) : Bytes(0);
    const Bytes beside = format.optimizer && has_row_state(*format.optimizer)
                             ? state_of_row(EmbeddingOptimizer::kRowWiseAdagrad, 1)
                             : Bytes(0);
    const Bytes with_row = weights + state - beside;
    switch (traits.memory) {
        case TableMemory::kHbm:
            return {.device = rows * (with_row + beside), .host = Bytes(0)};
        case TableMemory::kHost:
            return {.device = rows * beside, .host = rows * with_row};
        case TableMemory::kCached:
            return {.device = rows * (beside + kRowOfMap) + slots(traits, rows) * (weights + kSlot),
                    .host = rows * with_row};
    }
    ASTROLABE_ASSERT(false, "every table has its memory");
}

}  // namespace astrolabe::workload
