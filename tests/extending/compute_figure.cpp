// The share of a run in which a rank computes, as bars.

#include "study/src/report/study_figures.hpp"

namespace astrolabe::study {

namespace {

std::optional<double> compute_share(const StoredResult& result) {
    const nlohmann::ordered_json& summary = result.summary;
    if (!summary.contains("compute_s") || summary.value("total_time_s", 0.0) <= 0) {
        return std::nullopt;
    }
    return summary.at("compute_s").get<double>() / summary.at("total_time_s").get<double>();
}

}  // namespace

Drawn compute_share_figure(const StudyAxes& axes) {
    const Samples samples = samples_of(axes, compute_share);
    if (samples.empty()) {
        return Omission{"no finished point says how long its ranks compute"};
    }
    Figure figure;
    figure.title = "Share of compute";
    figure.note = "Of the whole run, mean over ranks: what is missing to 1 is waiting.";
    figure.columns = axes.names();
    figure.columns.emplace_back("compute_share");
    figure.chart = {{"form", "bars"},
                    {"value", axes.dimensions.size()},
                    {"x", axes.scale ? nlohmann::ordered_json(*axes.scale) : nlohmann::ordered_json()},
                    {"series", axes.series ? nlohmann::ordered_json(*axes.series) : nlohmann::ordered_json()},
                    {"panels", axes.without({axes.scale, axes.series})},
                    {"axis", {{"title", "share of compute"}, {"unit", ""}, {"log", false}}}};
    for (const auto& [at, sample] : samples) {
        std::vector<nlohmann::ordered_json> row = axes.labels(at);
        row.emplace_back(sample.mean());
        figure.rows.push_back(std::move(row));
    }
    return figure;
}

}  // namespace astrolabe::study
