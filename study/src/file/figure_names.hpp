/// Names of figures where a study is read.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::study {

enum class FigureName : std::uint8_t {
    kIterationTime,
    kSpeedUp,
    kBreakdown,
    kTraffic,
    kCurves,
    kHeatmap,
    kPareto,
    kAboveBound,
    kUtilization,
    kRanks,
    kLinks,
    kTasks,
    kGantt,
    kFlowSlowdown,
    kCollectives,
    kExchanges,
    kEqualCost
};

}  // namespace astrolabe::study

namespace astrolabe {

template <>
struct EnumNames<study::FigureName> {
    using Name = study::FigureName;
    static constexpr std::array<std::pair<std::string_view, Name>, 17> kNames{
        {{"iteration_time", Name::kIterationTime},
         {"speed_up", Name::kSpeedUp},
         {"breakdown", Name::kBreakdown},
         {"traffic", Name::kTraffic},
         {"curves", Name::kCurves},
         {"heatmap", Name::kHeatmap},
         {"pareto", Name::kPareto},
         {"above_bound", Name::kAboveBound},
         {"utilization", Name::kUtilization},
         {"ranks", Name::kRanks},
         {"links", Name::kLinks},
         {"tasks", Name::kTasks},
         {"gantt", Name::kGantt},
         {"flow_slowdown", Name::kFlowSlowdown},
         {"collectives", Name::kCollectives},
         {"exchanges", Name::kExchanges},
         {"equal_cost", Name::kEqualCost}}};
};

}  // namespace astrolabe
