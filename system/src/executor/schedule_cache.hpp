/// The compiled schedules of a run: one for each (kind, algorithm, shape of a group, variant) that occurs,
/// made when first needed.
#pragma once

#include "compiled_schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system::detail {

/// A schedule with its stages compiled one by one.
struct StagedSchedule {
    explicit StagedSchedule(const CollectiveSchedule& schedule)
        : stages(schedule.stages()) {
        for (std::size_t stage = 0; stage < stages.size(); ++stage) {
            compiled.push_back(std::make_unique<const CompiledSchedule>(schedule, stage));
        }
    }

    std::vector<Stage> stages;
    std::vector<std::unique_ptr<const CompiledSchedule>> compiled;  // by stage
};

class ScheduleCache {
public:
    using Plan = std::vector<const StagedSchedule*>;  ///< by chunk

    explicit ScheduleCache(const SystemOptions& options)
        : options_(options) {}

    /// The schedules of `chunks` chunks. The reference lives as long as the cache.
    [[nodiscard]] const Plan& of(const CollectiveOperation& work, const Shape& shape, std::uint32_t chunks) {
        const CollectiveAlgorithm& algorithm = *chosen_algorithm(work, options_);
        const auto [entry, is_new] = plans_.try_emplace({work.kind, &algorithm, shape, chunks});
        if (is_new) {
            const std::vector<unsigned> variants = algorithm.variant_sequence(work.kind, shape, chunks);
            ASTROLABE_ASSERT(variants.size() == chunks, "every chunk has a variant");
            for (const unsigned variant : variants) {
                entry->second.push_back(&schedule(work.kind, algorithm, shape, variant));
            }
        }
        return entry->second;
    }

private:
    [[nodiscard]] const StagedSchedule& schedule(CollectiveKind kind, const CollectiveAlgorithm& algorithm,
                                                 const Shape& shape, unsigned variant) {
        std::unique_ptr<const StagedSchedule>& entry = schedules_[{kind, &algorithm, shape, variant}];
        if (entry == nullptr) {
            entry = std::make_unique<const StagedSchedule>(algorithm.schedule(kind, shape, variant));
            ASTROLABE_ASSERT(
                std::ranges::all_of(entry->stages,
                                    [&](const Stage& stage) { return stage.dimension < shape.size(); }),
                "stages stay inside dimensions of the group");
        }
        return *entry;
    }

    const SystemOptions& options_;
    using Key = std::tuple<CollectiveKind, const CollectiveAlgorithm*, Shape, std::uint32_t>;
    std::map<Key, Plan> plans_;                                       // by number of chunks
    std::map<Key, std::unique_ptr<const StagedSchedule>> schedules_;  // by variant
};

}  // namespace astrolabe::system::detail
