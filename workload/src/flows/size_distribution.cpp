#include "line_reader.hpp"
#include "published_sizes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/flows/flows.hpp>

namespace astrolabe::workload {

SizeDistribution::SizeDistribution(std::vector<Step> steps)
    : steps_(std::move(steps)) {
    ASTROLABE_ASSERT(!steps_.empty() && steps_.back().cumulative == 1.0, "probabilities end at 1");
    double before = 0;
    for (const Step& step : steps_) {
        mean_ += static_cast<double>(step.size.count()) * (step.cumulative - before);
        before = step.cumulative;
    }
}

Bytes SizeDistribution::draw(RandomStream& random) const {
    const double u = unit_interval(random);
    // The last step holds all u < 1; those of probability 0 hold none.
    const auto step = std::ranges::upper_bound(steps_, u, {}, [](const Step& one) { return one.cumulative; });
    return step->size;
}

double SizeDistribution::share_below(Bytes size) const {
    double share = 0;
    for (const Step& step : steps_) {
        share = step.size < size ? step.cumulative : share;
    }
    return share;
}

double SizeDistribution::mean_below(Bytes size) const {
    double mean = 0;
    double before = 0;
    for (const Step& step : steps_) {
        mean += step.size < size ? static_cast<double>(step.size.count()) * (step.cumulative - before) : 0.0;
        before = step.cumulative;
    }
    return mean;
}

SizeDistribution published_sizes(PublishedSizes which) {
    const Result<SizeDistribution> sizes =
        SizeDistribution::read(std::string(published_sizes_text(which)), "");
    ASTROLABE_ASSERT(sizes, "files that are part of the program are whole");
    return *sizes;
}

Result<SizeDistribution> SizeDistribution::read(std::string text, std::string name) {
    LineReader lines(std::move(text), std::move(name), ",; \t");
    if (std::optional<Diagnostic> error = lines.encoding_error("flows.encoding")) {
        return *std::move(error);
    }
    std::vector<Step> steps;
    while (lines.next()) {
        const bool is_header = steps.empty() && lines.fields().size() == 2 &&
                               lines.fields()[0].find_first_of("0123456789") == std::string_view::npos;
        if (is_header) {
            continue;
        }
        if (lines.fields().size() != 2) {
            return lines.error("flows.sizes",
                               fmt::format("{} values in a line of two", lines.fields().size()),
                               "write bytes, a comma and the probability of at most so many: 10000,0.8");
        }
        const std::optional<std::int64_t> size = lines.integer(0);
        const std::optional<double> cumulative = lines.number(1);
        if (!size || *size < 0 || !cumulative || *cumulative < 0 || *cumulative > 1) {
            return lines.error(
                "flows.sizes",
                fmt::format("'{},{}' is no size with a probability", lines.fields()[0], lines.fields()[1]),
                "whole bytes, and a number from 0 to 1");
        }
        if (!steps.empty() && (Bytes(*size) <= steps.back().size || *cumulative < steps.back().cumulative)) {
            return lines.error("flows.sizes", "sizes and probabilities must rise from line to line",
                               "sort the lines; probabilities are cumulative");
        }
        steps.push_back({Bytes(*size), *cumulative});
    }
    constexpr const char* kEnd = "the largest size has the cumulative probability 1";
    if (steps.empty()) {
        return lines.error_at_end("flows.sizes", "no size is in it", kEnd);
    }
    if (steps.back().cumulative != 1.0) {
        return lines.error("flows.sizes",
                           fmt::format("the probabilities end at {}, not at 1", steps.back().cumulative),
                           kEnd);
    }
    const auto drawn = std::ranges::find_if(steps, [](const Step& step) { return step.cumulative > 0; });
    if (drawn->size < Bytes(1)) {
        return lines.error("flows.sizes", "flows of no bytes have a probability",
                           "the first size has the probability 0, or is 1 byte or more");
    }
    return SizeDistribution(std::move(steps));
}

}  // namespace astrolabe::workload
