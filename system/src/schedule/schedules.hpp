/// Schedules as the options choose them, and whether their blocks are equal.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system {

/// Whether all blocks of a chunk of so many bytes have the same size.
[[nodiscard]] inline bool blocks_are_equal(const CollectiveSchedule& schedule, Bytes chunk) {
    const bool is_gather = schedule.kind() == CollectiveKind::kAllGather;
    const auto columns = static_cast<std::int64_t>(is_gather ? schedule.parts() : schedule.columns());
    return chunk.count() % columns == 0;
}

/// Made when first needed.
class Schedules {
public:
    explicit Schedules(const SystemOptions& options)
        : options_(options) {}

    [[nodiscard]] const CollectiveAlgorithm& algorithm(const CollectiveOperation& work) const {
        return *chosen_algorithm(work, options_);
    }
    [[nodiscard]] const CollectiveSchedule& of(const CollectiveOperation& work, const Shape& shape,
                                               unsigned variant) {
        const CollectiveAlgorithm& chosen = algorithm(work);
        std::unique_ptr<const CollectiveSchedule>& schedule =
            schedules_[{work.kind, &chosen, shape, variant}];
        if (schedule == nullptr) {
            schedule = std::make_unique<const CollectiveSchedule>(chosen.schedule(work.kind, shape, variant));
        }
        return *schedule;
    }

private:
    using Key = std::tuple<CollectiveKind, const CollectiveAlgorithm*, Shape, unsigned>;

    const SystemOptions& options_;
    std::map<Key, std::unique_ptr<const CollectiveSchedule>> schedules_;
};

}  // namespace astrolabe::system
