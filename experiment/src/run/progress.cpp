#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/experiment/run/progress.hpp>

namespace astrolabe::experiment {
namespace {

/// "link a -> b", "links a -> b, c -> d and 7 more"
std::string links_text(const Bottleneck& bottleneck, std::size_t named) {
    const bool are_ports = bottleneck.kind == BottleneckKind::kHostPorts;
    const std::size_t count = std::max(bottleneck.all_links, bottleneck.links.size());
    std::string text = are_ports ? "host port" : "link";
    text += count == 1 ? " " : "s ";
    named = std::min(named, bottleneck.links.size());
    text += fmt::format("{}", fmt::join(bottleneck.links.begin(),
                                        bottleneck.links.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    if (count > named) {
        text += fmt::format(" and {} more", count - named);
    }
    return text;
}

std::string limit_text(const Bottleneck& bottleneck) {
    switch (bottleneck.kind) {
        case BottleneckKind::kUnknown:
            return {};
        case BottleneckKind::kCompute:
            return "computing";
        case BottleneckKind::kLinks:
        case BottleneckKind::kHostPorts:
            if (bottleneck.are_full) {
                return links_text(bottleneck, 1) + (bottleneck.all_links == 1 ? " is full" : " are full");
            }
            return fmt::format("the longest queue, {}, is in front of {}", readable(bottleneck.waiting),
                               bottleneck.links.front());
        case BottleneckKind::kCircuits:
            return "waiting for circuits";
        case BottleneckKind::kTransport:
            return "windows, acknowledgements and latency";
        case BottleneckKind::kLatency:
            return "latency of messages in flight";
        case BottleneckKind::kEndPoints:
            return "copies and launches at end points";
        case BottleneckKind::kNetwork:
            return "messages in flight";
    }
    return {};
}

std::string time_left(std::optional<double> seconds) {
    if (!seconds) {
        return "time left unknown";
    }
    return *seconds < 120    ? fmt::format("{:.0f} s left", *seconds)
           : *seconds < 7200 ? fmt::format("{:.0f} min left", *seconds / 60)
                             : fmt::format("{:.1f} h left", *seconds / 3600);
}

template <class T>
nlohmann::ordered_json known(const std::optional<T>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace

std::string_view name_of(BottleneckKind kind) {
    constexpr std::string_view kNames[] = {"unknown",   "compute", "links",      "host_ports", "circuits",
                                           "transport", "latency", "end_points", "network"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string bottleneck_text(const Progress& progress) {
    std::string text = limit_text(progress.bottleneck);
    if (!text.empty() && progress.bottleneck.kind != BottleneckKind::kCompute &&
        progress.computing_ranks > 0) {
        text += fmt::format(", {} of {} ranks compute", progress.computing_ranks,
                            progress.computing_ranks + progress.waiting_ranks);
    }
    return text;
}

std::string progress_text(const Progress& progress, double events_per_second) {
    std::string text = fmt::format("{} simulated", readable(progress.simulated));
    if (progress.iterations > 0) {
        text += fmt::format(", {} of {} iteration{}", progress.finished_iterations, progress.iterations,
                            progress.iterations == 1 ? "" : "s");
    }
    if (progress.done) {
        text += fmt::format(", {:.1f} %", 100 * *progress.done);
    }
    text += fmt::format(", {:.3g} events/s, {}", events_per_second, time_left(progress.left_seconds));
    if (!progress.jobs.empty()) {
        text += " (" + progress.jobs + ")";
    }
    const std::string limit = bottleneck_text(progress);
    return limit.empty() ? text : text + "; " + limit;
}

nlohmann::ordered_json progress_json(const Progress& progress, double events_per_second) {
    const Bottleneck& limit = progress.bottleneck;
    nlohmann::ordered_json bottleneck{{"kind", name_of(limit.kind)}};
    if (limit.kind == BottleneckKind::kLinks || limit.kind == BottleneckKind::kHostPorts) {
        bottleneck["links"] = limit.links;
        bottleneck["all_links"] = limit.all_links;
        bottleneck["full"] = limit.are_full;
        if (limit.flows > 0) {
            bottleneck["flows"] = limit.flows;
        } else {
            bottleneck["waiting_bytes"] = limit.waiting.count();
        }
    }
    bottleneck["text"] = bottleneck_text(progress);
    nlohmann::ordered_json json{{"simulation", progress.simulation},
                                {"simulated_s", to_seconds(progress.simulated)}};
    if (progress.iterations > 0) {
        json["iterations_done"] = progress.finished_iterations;
        json["iterations"] = progress.iterations;
    }
    json["bytes_done"] = progress.delivered.count();
    json["done"] = known(progress.done);
    json["events"] = progress.events;
    json["events_per_s"] = events_per_second;
    json["time_left_s"] = known(progress.left_seconds);
    json["ranks_computing"] = progress.computing_ranks;
    json["ranks_waiting"] = progress.waiting_ranks;
    json["bottleneck"] = std::move(bottleneck);
    return json;
}

}  // namespace astrolabe::experiment
