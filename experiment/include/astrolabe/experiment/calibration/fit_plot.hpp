/// A picture of fits: what was measured, what the pieces say, and the error of each size.
#pragma once

#include <string>
#include <vector>

#include <astrolabe/experiment/calibration/measured_collectives.hpp>

namespace astrolabe::experiment {

struct FittedSeries {
    MeasuredSeries series;
    std::vector<MeasuredPoint> points;
};

/// SVG, one pair of panels a series: time over size, both logarithmic, with the points and the fitted line;
/// below it the error of each size in per cent, on one linear axis that holds the largest. Requires a series.
[[nodiscard]] std::string fit_plot(const std::string& machine, const std::vector<FittedSeries>& fits);

}  // namespace astrolabe::experiment
