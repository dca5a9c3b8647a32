#include "torchrec_estimate.hpp"

#include <algorithm>

namespace astrolabe::workload::planner {

namespace {

constexpr double kIndexBytes = 8;
constexpr double kBackwardFactor = 2;
constexpr double kWeightGradientFactor = 1.1;
constexpr double kCopyFactor = 2.455;
constexpr double kDenseGradientFactor = 9.22;
constexpr std::int64_t kLeastColumns = 32;

double width_penalty(std::int64_t columns) {
    constexpr std::int64_t kFull = 128;
    constexpr std::int64_t kHalf = 64;
    return columns >= kFull ? 1.0 : columns >= kHalf ? 1.15 : 1.75;
}

class Estimator {
public:
    Estimator(const TorchRecShard& shard, const TorchRecTopology& topology)
        : shard_(shard),
          topology_(topology),
          ranks_(static_cast<double>(topology.ranks)),
          host_size_(static_cast<double>(topology.ranks_per_host)),
          hosts_(std::max(1.0, ranks_ / host_size_)),
          batch_(ranks_ * static_cast<double>(topology.samples)),
          columns_(static_cast<double>(shard.columns)),
          element_(static_cast<double>(topology.element_size.count())),
          output_(static_cast<double>(topology.output_size.count())) {}

    [[nodiscard]] TorchRecEstimate whole_rows() const {
        const double wide = static_cast<double>(std::max(shard_.columns, kLeastColumns));
        TorchRecEstimate estimate =
            computed(batch_ * shard_.lookups, wide, batch_, width_penalty(shard_.columns));
        estimate.forward_exchange = estimate.backward_exchange = batch_ * columns_ * output_ / link();
        return estimate;
    }

    [[nodiscard]] TorchRecEstimate row_wise() const {
        TorchRecEstimate estimate = computed(batch_ * shard_.lookups / ranks_, columns_, batch_, 1);
        estimate.forward_exchange = batch_ * columns_ * output_ / link();
        estimate.backward_exchange = estimate.forward_exchange + copies();
        return estimate;
    }

    [[nodiscard]] TorchRecEstimate table_row_wise() const {
        TorchRecEstimate estimate = computed(batch_ * shard_.lookups / host_size_, columns_, batch_, 1);
        estimate.forward_exchange = batch_ * columns_ * output_ / topology_.inside;
        if (hosts_ > 1) {
            estimate.forward_exchange +=
                hosts_ * static_cast<double>(topology_.samples) * columns_ * output_ / topology_.across;
        }
        estimate.backward_exchange = estimate.forward_exchange + copies();
        return estimate;
    }

    [[nodiscard]] TorchRecEstimate data_parallel() const {
        const auto samples = static_cast<double>(topology_.samples);
        TorchRecEstimate estimate = computed(samples * shard_.lookups, columns_, samples, 1);
        const double size = static_cast<double>(shard_.rows) * columns_ * element_;
        const double rings = std::min(hosts_, 2.0);
        const double all_reduce =
            size * (2 * rings - 1) / rings / (topology_.across * host_size_) * (hosts_ > 2 ? 2 : 1);
        estimate.backward_exchange = all_reduce + size * kDenseGradientFactor / topology_.memory;
        return estimate;
    }

private:
    /// Both passes' computation.
    [[nodiscard]] TorchRecEstimate computed(double lookups, double columns, double samples,
                                            double penalty) const {
        const double read =
            lookups * kIndexBytes * (shard_.is_weighted ? 2 : 1) + lookups * columns * element_;
        TorchRecEstimate estimate;
        estimate.forward_compute = (read + samples * columns_ * output_) * penalty / topology_.memory;
        estimate.backward_compute =
            estimate.forward_compute * (kBackwardFactor + (shard_.is_weighted ? kWeightGradientFactor : 0));
        return estimate;
    }
    [[nodiscard]] double copies() const {
        return batch_ * columns_ * output_ * kCopyFactor / topology_.memory;
    }
    [[nodiscard]] double link() const { return ranks_ <= host_size_ ? topology_.inside : topology_.across; }

    const TorchRecShard& shard_;
    const TorchRecTopology& topology_;
    double ranks_;
    double host_size_;
    double hosts_;
    double batch_;
    double columns_;
    double element_;
    double output_;
};

}  // namespace

TorchRecEstimate torchrec_estimate(const TorchRecShard& shard, const TorchRecTopology& topology) {
    const Estimator estimator(shard, topology);
    switch (shard.kind) {
        case TableSharding::kTableWise:
        case TableSharding::kColumnWise:
        case TableSharding::kTableColumnWise:
            return estimator.whole_rows();
        case TableSharding::kRowWise:
            return estimator.row_wise();
        case TableSharding::kTableRowWise:
        case TableSharding::kGrid:
            return estimator.table_row_wise();
        case TableSharding::kDataParallel:
            break;
    }
    return estimator.data_parallel();
}

}  // namespace astrolabe::workload::planner
