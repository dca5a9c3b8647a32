#include "background.hpp"

#include "../run/engine.hpp"
#include "checks.hpp"

#include <numeric>

namespace astrolabe::experiment {
namespace {

/// Mean rate of what leaves a host.
Bandwidth mean_rate(const network::Fabric& fabric, const std::vector<network::HostId>& hosts) {
    double sum = 0;
    for (const network::HostId host : hosts) {
        sum += static_cast<double>(fabric.egress_rate(host).count());
    }
    return Bandwidth(static_cast<std::int64_t>(sum / static_cast<double>(hosts.size())));
}

void check_class(const Experiment& experiment, const system::FlowTraffic& traffic, const ConfigNode& section,
                 ReadContext& context) {
    if (const ConfigNode* given = section.find("traffic_class")) {
        check_traffic_class(experiment, traffic.traffic_class, *given, context);
    }
}

}  // namespace

Schema<workload::FlowKeys> background_schema() {
    return workload::flow_schema("background", "flows between hosts beside the job, which end with it", true);
}

void take_flows(Experiment& experiment, const std::optional<workload::FlowKeys>& background,
                const ConfigNode& root, ReadContext& context) {
    const network::Fabric& fabric = *experiment.fabric;
    if (experiment.job.flows) {
        if (experiment.network_is_built_for_job) {
            context.error("config.flows", root.find("network")->where,
                          "this network is built for a job, and flows are none",
                          "choose a network that is there without a job");
            return;
        }
        experiment.flows = experiment.job.flows(
            {experiment.cluster.ranks, mean_rate(fabric, place_ranks(experiment))});
        check_class(experiment, *experiment.flows, *root.find("workload"), context);
    }
    if (!background) {
        return;
    }
    const ConfigNode& section = *root.find("background");
    if (experiment.flows != nullptr) {
        context.error("config.flows", section.where, "the workload is flows already",
                      "list or draw all of them in 'workload'");
        return;
    }
    report_validation_errors(section, workload::validation_errors(*background, fabric.host_count()), context);
    if (context.error_count() > 0) {
        return;
    }
    std::vector<network::HostId> hosts;
    for (std::size_t host = 0; host < fabric.host_count(); ++host) {
        hosts.emplace_back(host);
    }
    experiment.background = std::make_shared<const system::FlowTraffic>(workload::make_traffic(
        *background, {fabric.host_count(), mean_rate(fabric, hosts)}, "background.flows"));
    check_class(experiment, *experiment.background, section, context);
}

}  // namespace astrolabe::experiment
