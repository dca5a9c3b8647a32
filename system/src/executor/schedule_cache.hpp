/// The compiled schedules of a run: one for each (kind, group size, variant) that occurs, made when first
/// needed.
#pragma once

#include "compiled_schedule.hpp"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <astrolabe/system/executor.hpp>

namespace astrolabe::system::detail {

class ScheduleCache {
public:
    /// By variant; chunk c uses the one at c mod size().
    using Variants = std::vector<std::unique_ptr<const CompiledSchedule>>;

    explicit ScheduleCache(const SystemOptions& options)
        : options_(options) {}

    /// The reference lives as long as the cache.
    [[nodiscard]] const Variants& of(CollectiveKind kind, Position ranks) {
        const auto [entry, is_new] = variants_.try_emplace({kind, ranks});
        if (is_new) {
            const CollectiveAlgorithm& algorithm =
                *options_.collectives[static_cast<std::size_t>(kind)].algorithm;
            for (unsigned variant = 0; variant < algorithm.variants(kind, ranks); ++variant) {
                entry->second.push_back(
                    std::make_unique<const CompiledSchedule>(algorithm.schedule(kind, ranks, variant)));
            }
        }
        return entry->second;
    }

private:
    const SystemOptions& options_;
    std::map<std::pair<CollectiveKind, Position>, Variants> variants_;
};

}  // namespace astrolabe::system::detail
