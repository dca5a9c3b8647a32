/// Figures of single runs, from their details (run_details.hpp).
#include "study_figures.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/study/file/study.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

/// Points of which one report has pictures; details of a point may be a megabyte.
constexpr std::size_t kMostPoints = 48;

struct Detail {
    const StudyRow* row;
    std::vector<Json> values;  ///< of the dimensions
    Json content;
};

struct Details {
    std::vector<Detail> first;  ///< at most kMostPoints
    std::size_t all = 0;        ///< points that have some
};

Details read_details(const StudyAxes& axes, const DetailOf& details) {
    Details read;
    for (const Place& place : axes.places) {
        const std::string text = details(place.row->point.key);
        read.all += text.empty() ? 0 : 1;
        if (!text.empty() && read.all <= kMostPoints) {
            read.first.push_back({place.row, axes.labels(place.at), Json::parse(text)});
        }
    }
    return read;
}

Omission none_kept(std::string_view name) {
    return {fmt::format(
        "no run has kept what it takes: name '{}' under 'report' of the study and sweep again", name)};
}

/// "one in 3 of 4000 links": what `step` left out.
std::string sampling(const Json& content, std::string_view things) {
    const auto step = content.at("step").get<std::size_t>();
    const auto all = content.at("all").get<std::size_t>();
    return step == 1 ? "" : fmt::format("one in {} of {} {}", step, all, things);
}

/// Of all points, each once.
std::string samplings(const Details& details, std::string_view things) {
    std::vector<std::string> texts;
    for (const Detail& detail : details.first) {
        const std::string text = sampling(detail.content, things);
        if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) {
            texts.push_back(text);
        }
    }
    return texts.empty() ? "" : fmt::format(" Drawn: {}.", fmt::join(texts, "; "));
}

/// A picture for each point; `columns` follow the point's number.
Figure pictures(const Details& details, std::string form, const std::vector<std::string>& columns) {
    Figure figure;
    if (details.all > details.first.size()) {
        figure.note = fmt::format(" The first {} of {} points.", details.first.size(), details.all);
    }
    figure.chart = {{"form", std::move(form)}, {"frames", Json::array()}};
    figure.columns = {"point"};
    figure.columns.insert(figure.columns.end(), columns.begin(), columns.end());
    for (const Detail& detail : details.first) {
        figure.chart["frames"].push_back({{"point", detail.row->point.number},
                                          {"label", parameter_text(detail.row->point.parameters)},
                                          {"values", detail.values},
                                          {"total", detail.row->result.summary.at("total_time_s")}});
    }
    return figure;
}

/// Which ranks a timeline is of; empty: all.
std::string ranks_drawn(const Json& content) {
    const auto ranks = content.at("ranks").get<std::size_t>();
    const auto simulated = content.at("simulated").get<std::size_t>();
    const auto drawn = content.at("drawn").get<std::size_t>();
    if (ranks == 0) {
        return "from the first start to the last finish over all ranks";
    }
    if (simulated < ranks) {
        return fmt::format("{} of {} ranks were simulated, the others are like these{}", simulated, ranks,
                           drawn < simulated ? fmt::format("; the first {} are drawn", drawn) : "");
    }
    const auto step = content.at("rank_step").get<std::size_t>();
    return step > 1 ? fmt::format("one in {} of {} ranks", step, ranks) : "";
}

}  // namespace

Drawn ranks_figure(const StudyAxes& axes, const DetailOf& of) {
    const Details details = read_details(axes, of);
    if (details.all == 0) {
        return none_kept("ranks");
    }
    Figure figure = pictures(details, "ranks", {"rank", "compute_s", "exposed_s", "idle_s"});
    figure.title = "Ranks";
    figure.note =
        "Of the run's time on each rank: computing, waiting for collectives, and draining after its "
        "last computation. A line is a point." +
        samplings(details, "ranks") + figure.note;
    for (const Detail& detail : details.first) {
        for (const Json& kept : detail.content.at("rows")) {
            figure.rows.push_back({detail.row->point.number, kept.at(0), kept.at(1), kept.at(2), kept.at(3)});
        }
    }
    return figure;
}

Drawn links_figure(const StudyAxes& axes, const DetailOf& of) {
    const Details details = read_details(axes, of);
    if (details.all == 0) {
        return none_kept("links");
    }
    Figure figure = pictures(details, "links", {"link", "source", "destination", "utilization"});
    figure.title = "Links";
    std::size_t busiest = 0;
    for (const Detail& detail : details.first) {
        busiest = std::max(busiest, detail.content.at("busiest").get<std::size_t>());
    }
    figure.note = "Bytes that each link carried over its rate times the time of the run." +
                  samplings(details, "links") +
                  (busiest > 0 ? fmt::format(" And the {} busiest.", busiest) : "") + figure.note;
    for (const Detail& detail : details.first) {
        const Json& nodes = detail.content.at("nodes");
        for (const Json& kept : detail.content.at("rows")) {
            figure.rows.push_back({detail.row->point.number, kept.at(0),
                                   nodes.at(kept.at(1).get<std::size_t>()),
                                   nodes.at(kept.at(2).get<std::size_t>()), kept.at(3)});
        }
    }
    return figure;
}

Drawn tasks_figure(const StudyAxes& axes, const DetailOf& of) {
    const Details details = read_details(axes, of);
    if (details.all == 0) {
        return none_kept("tasks");
    }
    Figure figure = pictures(details, "tasks",
                             {"operation", "iteration", "name", "kind", "issue_s", "start_s", "finish_s"});
    figure.title = "When tasks complete";
    figure.note = "Operations in program order against the time at which the last rank had finished them." +
                  samplings(details, "operations") + figure.note;
    for (const Detail& detail : details.first) {
        const Json& names = detail.content.at("names");
        const Json& kinds = detail.content.at("kinds");
        for (std::size_t i = 0; const Json& kept : detail.content.at("rows")) {
            figure.rows.push_back({detail.row->point.number, kept.at(0), kept.at(1), names.at(i++),
                                   kinds.at(kept.at(5).get<std::size_t>()), kept.at(2), kept.at(3),
                                   kept.at(4)});
        }
    }
    return figure;
}

Drawn gantt_figure(const StudyAxes& axes, const DetailOf& of) {
    const Details details = read_details(axes, of);
    if (details.all == 0) {
        return none_kept("gantt");
    }
    Figure figure = pictures(details, "gantt", {"rank", "name", "kind", "begin_s", "end_s"});
    figure.title = "Timeline of the last iteration";
    figure.note =
        "Computation of each rank, and below it its collectives from issue to finish; where several of "
        "a kind overlap the colour is denser. What goes on from the iteration before is not drawn." +
        samplings(details, "operations") + figure.note;
    for (const Detail& detail : details.first) {
        const Json& names = detail.content.at("names");
        const Json& kinds = detail.content.at("kinds");
        Json& frame = figure.chart["frames"][static_cast<std::size_t>(&detail - details.first.data())];
        frame["remark"] = ranks_drawn(detail.content);
        for (const Json& kept : detail.content.at("rows")) {
            const auto operation = kept.at(1).get<std::size_t>();
            figure.rows.push_back({detail.row->point.number, kept.at(0), names.at(operation),
                                   kinds.at(operation), kept.at(2), kept.at(3)});
        }
    }
    return figure;
}

}  // namespace astrolabe::study
