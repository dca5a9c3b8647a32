#include "cluster.hpp"
#include "collectives_json.hpp"
#include "figures.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include <astrolabe/experiment/results.hpp>

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
    if (run.message_times) {
        json["message_time_s"] = {{"mean", run.message_times->mean_seconds()},
                                  {"p50", to_seconds(run.message_times->quantile(0.5))},
                                  {"p99", to_seconds(run.message_times->quantile(0.99))},
                                  {"max", to_seconds(run.message_times->max())}};
    }
    return json;
}

Json engine_json(const EngineFacts& engine) {
    return {{"events", engine.events},
            {"wall_s", engine.wall_seconds},
            {"peak_rss_bytes", engine.peak_rss_bytes}};
}

Json summary_json(const Experiment& experiment, const Run& run) {
    const MeanBreakdown means = mean_breakdown(run.execution);
    Json iteration_times = Json::array();
    for (const Time time : run.iteration_times) {
        iteration_times.push_back(to_seconds(time));
    }
    Json exposed = Json::object();
    for (const auto& [cause, seconds] : means.exposed) {
        exposed[cause] = seconds;
    }
    Json traffic = Json::object();
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        traffic[collective_key(kind)] = run.traffic[kind].count();
    }
    return {
        {"schema", kSchemaName},
        {"name", experiment.name},
        {"version", program_version()},
        {"fingerprint", run.fingerprint},
        {"seed", experiment.seed},
        {"ranks", experiment.cluster.ranks},
        {"hosts", experiment.fabric->host_count()},
        {"network_kind", experiment.network_kind},
        {"backend_kind", experiment.backend_kind},
        {"iteration_time_s", std::move(iteration_times)},
        {"mean_iteration_time_s", mean_iteration_seconds(run)},
        {"total_time_s", to_seconds(run.execution.total)},
        {"lower_bound_s", to_seconds(run.bound.value()) / static_cast<double>(run.iteration_times.size())},
        {"compute_s", means.compute},
        {"exposed_s", std::move(exposed)},
        {"drain_s", means.drain},
        {"traffic_bytes", std::move(traffic)},
        {"all_reduce_share",
         share_of(traffic_of_kind(run, system::CollectiveKind::kAllReduce), total_traffic(run))},
        {"network", network_json(run)},
        {"collectives", collectives_json(experiment, run)},
        {"imbalance", imbalance_json(experiment, run)},
        {"engine", engine_json(run.engine)}};
}

}  // namespace astrolabe::experiment
