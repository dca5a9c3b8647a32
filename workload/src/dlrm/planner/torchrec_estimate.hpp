/// What TorchRec's own planner expects a shard to take, to compare with.
///
/// Model (pytorch/torchrec, distributed/planner: shard estimators, constants and topology, as of version
/// 1.4). N ranks, h a host, m samples a rank, B = N·m, k = min(hosts, 2); a shard of R rows of D columns of e
/// bytes, P lookups a sample, w bytes of a pooled value, 8 bytes an index. GiB = 2^30 B. V the bandwidth of
/// the kernel, L that inside a host where N <= h, else across:
///
///     table_wise, column_wise, table_column_wise
///         forward    [B·P·8·(2 weighted) + B·P·max(D, 32)·e + B·D·w]·penalty / V,   B·D·w / L
///         backward   2 (weighted: 3.1) times the forward compute,                    B·D·w / L
///     penalty 1 for D >= 128, 1.15 for 64 <= D < 128, 1.75 below
///     row_wise        B·P/N lookups of D columns, B·D values out, no penalty;
///                     backward exchange further B·D·w·C / V with the copies C = 2.455
///     table_row_wise  as row_wise with h for N; B·D·w / L inside the host and (N/h)·m·D·w across, each way
///     data_parallel   forward of m samples as row_wise; all-reduce R·D·e·(2k - 1)/k / (12.5 GiB/s · h),
///     double
///                     beyond two hosts, and R·D·e·9.22 / V
///
/// A plan's cost is the sum of the most loaded device.
///
/// Left out by that planner: the exchange of indices, rows that are looked up several times, latency,
/// overlap, skew, size of messages. Grid is estimated as table_row_wise.
#pragma once

#include <cstddef>
#include <cstdint>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload::planner {

/// TorchRec's defaults, in bytes a second.
struct TorchRecTopology {
    std::size_t ranks = 1;
    std::size_t ranks_per_host = 1;
    std::int64_t samples = 512;
    Bytes element_size = Bytes(4);  ///< e
    Bytes output_size = Bytes(4);   ///< w
    double memory = 897.0 * (1ULL << 30U);
    double inside = 600.0 * (1ULL << 30U);
    double across = 12.5 * (1ULL << 30U);
};

struct TorchRecShard {
    TableSharding kind = TableSharding::kTableWise;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    double lookups = 1;  ///< P
    bool is_weighted = false;
};

/// In seconds.
struct TorchRecEstimate {
    double forward_compute = 0;
    double forward_exchange = 0;
    double backward_compute = 0;
    double backward_exchange = 0;

    [[nodiscard]] double total() const {
        return forward_compute + forward_exchange + backward_compute + backward_exchange;
    }
};

[[nodiscard]] TorchRecEstimate torchrec_estimate(const TorchRecShard& shard,
                                                 const TorchRecTopology& topology);

}  // namespace astrolabe::workload::planner
