/// Figures of single runs, from their details (run_details.hpp).
#include "../file/study_points.hpp"
#include "study_figures.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

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

/// "network = flat, ranks = 16": the point in words.
std::string words_of(const StudyAxes& axes, const Detail& detail) {
    std::string words;
    for (std::size_t i = 0; i < axes.dimensions.size(); ++i) {
        words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", axes.dimensions[i].label,
                             detail.values[i].get<std::string>());
    }
    const Json& parameters = detail.row->point.parameters;
    return axes.has_seeds && parameters.contains("seed")
               ? fmt::format("{}{}seed = {}", words, words.empty() ? "" : ", ",
                             value_text(parameters["seed"]))
               : words;
}

/// A picture for each point; `columns` follow the point's number.
Figure pictures(const StudyAxes& axes, const Details& details, std::string form,
                const std::vector<std::string>& columns) {
    Figure figure;
    if (details.all > details.first.size()) {
        figure.note = fmt::format(" The first {} of {} points.", details.first.size(), details.all);
    }
    figure.chart = {{"form", std::move(form)}, {"frames", Json::array()}};
    figure.columns = {"point"};
    figure.columns.insert(figure.columns.end(), columns.begin(), columns.end());
    for (const Detail& detail : details.first) {
        figure.chart["frames"].push_back({{"point", detail.row->point.number},
                                          {"label", words_of(axes, detail)},
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

/// One for each iteration that was kept, the last first.
std::vector<Json> iteration_frames(const Detail& detail, const Json& of_point) {
    const Json& content = detail.content;
    const auto iterations = content.at("iterations").get<std::size_t>();
    const auto kept = content.at("kept").get<std::vector<std::size_t>>();
    const std::size_t last = content.at("kept").at(kept.size() - 1).get<std::size_t>();
    const std::string ranks = ranks_drawn(content);
    std::vector<Json> frames;
    for (std::size_t i = kept.size(); i-- > 0;) {
        std::vector<std::string> remarks;
        if (!ranks.empty()) {
            remarks.push_back(ranks);
        }
        if (kept[i] > 0 && (i == 0 || kept[i - 1] + 1 != kept[i])) {
            remarks.emplace_back("what hangs over from the iteration before it was not kept");
        }
        Json frame = of_point;
        frame["iteration"] = kept[i];
        if (kept.size() > 1) {
            const std::string label = of_point.at("label").get<std::string>();
            frame["label"] = fmt::format("{}{}iteration {} of 0 to {}", label, label.empty() ? "" : ", ",
                                         kept[i], iterations - 1);
        }
        if (kept[i] != last) {
            frame["file"] = fmt::format("{}-iteration-{}", detail.row->point.number, kept[i]);
        }
        frame["remark"] = fmt::format("{}", fmt::join(remarks, "; "));
        frames.push_back(std::move(frame));
    }
    return frames;
}

}  // namespace

Drawn ranks_figure(const StudyAxes& axes, const DetailOf& of) {
    const Details details = read_details(axes, of);
    if (details.all == 0) {
        return none_kept("ranks");
    }
    Figure figure = pictures(axes, details, "ranks", {"rank", "compute_s", "exposed_s", "idle_s"});
    figure.title = "Are all ranks alike?";
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
    Figure figure = pictures(axes, details, "links", {"link", "source", "destination", "utilization"});
    figure.title = "Which links are busy?";
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
    Figure figure = pictures(axes, details, "tasks",
                             {"operation", "iteration", "name", "kind", "issue_s", "start_s", "finish_s"});
    figure.title = "When does each operation complete?";
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
    Figure figure =
        pictures(axes, details, "gantt", {"iteration", "rank", "name", "kind", "begin_s", "end_s"});
    figure.title = "What does each rank do when?";
    figure.note =
        "Computation of each rank, and below it its collectives from issue to finish; where several of a "
        "kind "
        "overlap the colour is denser. Only outlined is what hangs over from the iteration before. The last "
        "iteration comes "
        "first, then others that were kept." +
        samplings(details, "operations") + figure.note;
    Json frames = Json::array();
    for (std::size_t i = 0; i < details.first.size(); ++i) {
        const Detail& detail = details.first[i];
        for (Json& frame : iteration_frames(detail, figure.chart["frames"][i])) {
            frames.push_back(std::move(frame));
        }
        const Json& content = detail.content;
        for (const Json& kept : content.at("rows")) {
            const auto operation = kept.at(1).get<std::size_t>();
            figure.rows.push_back({detail.row->point.number, content.at("of").at(operation), kept.at(0),
                                   content.at("names").at(operation), content.at("kinds").at(operation),
                                   kept.at(2), kept.at(3)});
        }
    }
    figure.chart["frames"] = std::move(frames);
    return figure;
}

Drawn exchanges_figure(const StudyAxes& axes, const DetailOf& of) {
    const Details details = read_details(axes, of);
    if (details.all == 0) {
        return none_kept("exchanges");
    }
    Figure figure = pictures(axes, details, "exchanges", {"rank", "sent_bytes", "received_bytes"});
    figure.title = "How many bytes of all-to-alls has each rank?";
    figure.note =
        "In an iteration, without what a rank has for itself. Dashed is the mean over ranks. A picture is of "
        "all "
        "points that have the same." +
        samplings(details, "ranks") + figure.note;
    Json frames = Json::array();
    std::map<std::string, std::size_t> known;  // rows, and the frame that draws them
    for (std::size_t i = 0; i < details.first.size(); ++i) {
        const Json& rows = details.first[i].content.at("rows");
        const auto [same, is_new] = known.try_emplace(rows.dump(), frames.size());
        if (is_new) {
            frames.push_back(figure.chart["frames"][i]);
            frames.back()["points"] = Json::array();
        }
        frames[same->second]["points"].push_back(details.first[i].row->point.number);
        for (const Json& kept : rows) {
            figure.rows.push_back({details.first[i].row->point.number, kept.at(0), kept.at(1), kept.at(2)});
        }
    }
    figure.chart["frames"] = std::move(frames);
    return figure;
}

}  // namespace astrolabe::study
