#include "flows_json.hpp"
#include "steady_iterations.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/experiment/results/results.hpp>

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;

Bytes traffic_of_kind(const Run& run, system::CollectiveKind kind) {
    return run.traffic[static_cast<std::size_t>(kind)];
}

Json imbalance_json(const Experiment& experiment, const Run& run) {
    std::vector<Bytes> sent = run.traffic_counts.sent_by_rank();
    sent.resize(experiment.cluster.ranks);
    std::vector<Time> compute;
    for (const system::RankRecord& rank : run.execution.ranks) {
        compute.push_back(rank.compute);
    }
    return {{"bytes_sent", max_over_mean(sent)}, {"compute", max_over_mean(compute)}};
}

double largest_mean_queue(const network::NetworkStatistics& statistics) {
    double largest = 0;
    for (const network::LinkStatistics& link : statistics.links) {
        largest = std::max(largest, link.queue_mean);
    }
    return largest;
}

Json share_json(const PathShare& share, Time total) {
    Json json = Json::object();
    if (!share.operation.empty()) {
        json["operation"] = share.operation;
        json["kind"] = share.kind;
    }
    json["resource"] = share.resource.empty() ? Json() : Json(share.resource);
    json["time_s"] = to_seconds(share.time);
    json["share"] = to_seconds(share.time) / to_seconds(total);
    return json;
}

/// Null of a run that took no time, and where causes were not followed.
Json binding_json(const Experiment& experiment, const Run& run) {
    const auto binding = binding_of(shares_by_operation(run.path, run.resources.get(), experiment.program));
    if (!binding) {
        return {};
    }
    const Time total = run.execution.total;
    Json json = share_json(binding->operation, total);
    json["resource_time_s"] = to_seconds(binding->all.time);
    json["resource_share"] = to_seconds(binding->all.time) / to_seconds(total);
    return json;
}

Json path_json(const Experiment& experiment, const Run& run) {
    constexpr std::size_t kMostOperations = 16;
    std::vector<PathShare> operations =
        shares_by_operation(run.path, run.resources.get(), experiment.program);
    Json by_resource = Json::array();
    for (const PathShare& share : shares_by_resource(operations)) {
        by_resource.push_back(share_json(share, run.execution.total));
    }
    operations.resize(std::min(operations.size(), kMostOperations));
    Json by_operation = Json::array();
    for (const PathShare& share : operations) {
        by_operation.push_back(share_json(share, run.execution.total));
    }
    return {{"follows_causes", run.resources != nullptr},
            {"segments", run.path.size()},
            {"by_resource", std::move(by_resource)},
            {"by_operation", std::move(by_operation)}};
}

/// Null of a run that took no time.
Json busiest_link_json(const Experiment& experiment, const Run& run) {
    if (!run.utilization.busiest) {
        return {};
    }
    const network::Fabric& fabric = *experiment.fabric;
    const network::LinkId link = *run.utilization.busiest;
    return {{"link", link.index()},
            {"source", fabric.node(fabric.source(link)).name},
            {"destination", fabric.node(fabric.target(link)).name},
            {"utilization", run.utilization.max}};
}

}  // namespace

std::string_view program_version() {
    return ASTROLABE_VERSION;
}

Json network_json(const Run& run) {
    Json json{{"messages", run.network.messages},
              {"bytes_delivered", run.network.bytes_delivered.count()},
              {"packets", run.network.packets},
              {"packet_hops", run.network.packet_hops},
              {"drops", run.network.drops},
              {"retransmissions", run.network.retransmissions},
              {"timeouts", run.network.timeouts},
              {"ecn_marks", run.network.ecn_marks},
              {"trims", run.network.trims},
              {"pauses", run.network.pauses},
              {"paused_s", to_seconds(run.network.paused)},
              {"queue_peak_bytes", run.network.queue_peak.count()},
              {"queue_mean_bytes", largest_mean_queue(run.network)},
              {"max_link_utilization", run.utilization.max},
              {"mean_link_utilization", run.utilization.mean}};
    if (const auto& moves = run.network.reconfiguration) {
        json["reconfiguration"] = {{"control_epochs", moves->control_epochs},
                                   {"changes", moves->changes},
                                   {"dark_s", to_seconds(moves->dark)}};
    }
    if (const auto& rates = run.network.rate_interval) {
        const double starts = static_cast<double>(std::max<std::uint64_t>(rates->starts, 1));
        json["rate_interval"] = {{"interval_s", to_seconds(rates->interval)},
                                 {"updates", rates->updates},
                                 {"starts", rates->starts},
                                 {"wait_mean_s", to_seconds(rates->waits) / starts},
                                 {"wait_max_s", to_seconds(rates->longest_wait)},
                                 {"withheld_max_s", to_seconds(rates->withheld)}};
    }
    if (const auto& rates = run.network.rate_slack) {
        json["rate_slack"] = {{"slack", rates->slack},
                              {"applied", rates->is_applied},
                              {"one_bottleneck_longer_at_most", rates->longer_at_most()}};
    }
    if (run.message_times) {
        Json times{{"mean", run.message_times->mean_seconds()}};
        for (const auto& [name, share] : kMessageQuantiles) {
            times[name] = to_seconds(run.message_times->quantile(share));
        }
        times["max"] = to_seconds(run.message_times->max());
        json["message_time_s"] = std::move(times);
    }
    return json;
}

Json bounds_json(const Run& run) {
    const Bounds& bounds = run.bounds;
    const auto seconds = [&run](Time time) {
        return to_seconds(time) / static_cast<double>(run.iteration_times.size());
    };
    Json json{{"binding", std::string(bounds.binding())},
              {"compute_s", seconds(bounds.compute)},
              {"ports_s", seconds(bounds.ports)},
              {"links_s", bounds.links ? Json(seconds(*bounds.links)) : Json()},
              {"any_routing_s", Json()},
              {"best_routing_s", Json()},
              {"dependencies_s", seconds(bounds.dependencies)}};
    if (bounds.any_routing) {
        json["any_routing_s"] = seconds(bounds.any_routing->least);
        json["best_routing_s"] =
            bounds.any_routing->most < Time::max() ? Json(seconds(bounds.any_routing->most)) : Json();
        json["any_routing_by"] = bounds.any_routing->how;
    }
    if (!bounds.omission.empty()) {
        json["omission"] = bounds.omission;
    }
    return json;
}

Json engine_json(const EngineFacts& engine) {
    return {{"events", engine.events},
            {"wall_s", engine.wall_seconds},
            {"peak_rss_bytes", engine.peak_rss_bytes},
            {"threads", engine.threads},
            {"simulated_ranks", engine.simulated_ranks}};
}

namespace {

Json skipped_json(const SkippedIterations& skipped, Time total) {
    using How = SkippedIterations::How;
    const auto how = [&skipped]() -> Json {
        switch (skipped.how) {
            case How::kNone:
                return nullptr;
            case How::kExact:
                return "exact";
            case How::kButOrder:
                return "but_order";
            case How::kMeasured:
                return "measured";
        }
        return nullptr;
    };
    Json json{{"how", how()},
              {"simulated_iterations", skipped.simulated()},
              {"skipped_iterations", skipped.skipped},
              {"tolerance", skipped.tolerance}};
    if (skipped.how == How::kNone) {
        json["reason"] = skipped.reason;
        return json;
    }
    json["period_iterations"] = skipped.period;
    json["period_s"] = to_seconds(skipped.period_time);
    json["spread"] = skipped.spread();
    json["error_if_so"] = skipped.error_if_so(total);
    return json;
}

Json exposed_json(const MeanStream& means) {
    Json exposed = Json::object();
    for (const auto& [cause, seconds] : means.exposed) {
        exposed[cause] = seconds;
    }
    return exposed;
}

Json list_in_seconds(const std::vector<Time>& times) {
    Json list = Json::array();
    for (const Time time : times) {
        list.push_back(to_seconds(time));
    }
    return list;
}

/// By name.
Json streams_json(const system::Program& program, const MeanBreakdown& means) {
    Json streams = Json::object();
    for (std::size_t i = 0; i < program.streams.size(); ++i) {
        const MeanStream& stream = i == 0 ? means : means.other_streams[i - 1];
        streams[program.streams[i]] = {
            {"compute_s", stream.compute}, {"exposed_s", exposed_json(stream)}, {"drain_s", stream.drain}};
        if (stream.slowed > 0) {
            streams[program.streams[i]]["slowed_s"] = stream.slowed;
        }
    }
    return streams;
}

}  // namespace

Json summary_json(const Experiment& experiment, const Run& run) {
    const MeanBreakdown means = mean_breakdown(run.execution);
    const SteadyIterations steady = steady_iterations(run);
    Json traffic = Json::object();
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        traffic[collective_key(kind)] = run.traffic[kind].count();
    }
    Json summary{
        {"schema", kSchemaName},
        {"name", experiment.name},
        {"version", program_version()},
        {"fingerprint", run.fingerprint},
        {"seed", experiment.seed},
        {"randomness", random_streams(experiment)},
        {"ranks", experiment.cluster.ranks},
        {"hosts", experiment.fabric->host_count()},
        {"network_kind", experiment.network_kind},
        {"backend_kind", experiment.backend_kind},
        {"iteration_time_s", list_in_seconds(run.iteration_times)},
        {"mean_iteration_time_s", mean_iteration_seconds(run)},
        {"steady_iteration_time_s", steady.count > 0 ? Json(steady.seconds) : Json()},
        {"steady_iterations", steady.count},
        {"computation_interval_s", list_in_seconds(steady.intervals)},
        {"total_time_s", to_seconds(run.execution.total)},
        {"lower_bound_s", to_seconds(run.bounds.value()) / static_cast<double>(run.iteration_times.size())},
        {"bounds", bounds_json(run)},
        {"binding", binding_json(experiment, run)},
        {"critical_path", path_json(experiment, run)},
        {"busiest_link", busiest_link_json(experiment, run)},
        {"compute_s", means.compute},
        {"exposed_s", exposed_json(means)},
        {"drain_s", means.drain},
        {"traffic_bytes", std::move(traffic)},
        {"all_reduce_share",
         share_of(traffic_of_kind(run, system::CollectiveKind::kAllReduce), total_traffic(run))},
        {"network", network_json(run)},
        {"collectives", collectives_json(experiment, run)},
        {"imbalance", imbalance_json(experiment, run)},
        {"engine", engine_json(run.engine)}};
    if (run.skipped) {
        summary["steady_state"] = skipped_json(*run.skipped, run.execution.total);
    }
    if (experiment.cluster.contention) {
        summary["slowed_s"] = means.slowed;
    }
    if (run.flows) {
        summary["flows"] = flows_json(*run.flows);
    }
    if (run.background) {
        summary["background"] = flows_json(*run.background);
    }
    if (experiment.program.streams.size() > 1) {
        summary["streams"] = streams_json(experiment.program, means);
    }
    if (workload::SourceCounts counts =
            experiment.job.source_counts(experiment.cluster.device, experiment.cluster.ranks);
        !counts.key.empty()) {
        summary[counts.key] = std::move(counts.json);
    }
    if (const std::optional<MeasuredUse>& use = experiment.measured) {
        Json warnings = Json::array();
        for (const RangeWarning& warning : use->warnings) {
            warnings.push_back({{"where", warning.where.to_string()}, {"message", warning.message}});
        }
        summary["measured_collectives"] = {{"machine", use->machine},
                                           {"collectives", use->collectives},
                                           {"extrapolated", use->extrapolated},
                                           {"unknown", use->unknown},
                                           {"warnings", std::move(warnings)}};
    }
    if (!experiment.choices.empty()) {
        summary["choices"] = choices_json(experiment.choices);
    }
    if (experiment.job_choices.network) {
        summary["network_choice"] = job_choice_json(*experiment.job_choices.network);
    }
    if (experiment.job_choices.window) {
        summary["window_choice"] = job_choice_json(*experiment.job_choices.window);
    }
    if (!run.ignored.empty()) {
        summary["engine"]["left_out"] = engine_terms_json(run.ignored);
    }
    if (!run.slow.empty()) {
        summary["slow_methods"] = slow_json(run.slow);
    }
    if (run.slow_window) {
        summary["slow_window"] = slow_json(*run.slow_window);
    }
    return summary;
}

}  // namespace astrolabe::experiment
