#include "flow_run.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace astrolabe::experiment {
namespace {

std::vector<network::HostId> all_hosts(const network::Fabric& fabric) {
    std::vector<network::HostId> hosts;
    for (std::size_t host = 0; host < fabric.host_count(); ++host) {
        hosts.emplace_back(host);
    }
    return hosts;
}

}  // namespace

FlowRun::FlowRun(const Experiment& experiment, const std::vector<network::HostId>& placement,
                 network::NetworkBackend& engine, network::NetworkBackend& job,
                 network::MessageObserver* messages)
    : is_workload_(experiment.flows != nullptr),
      has_packets_(experiment.backend.packet_payload > Bytes(0)),
      traffic_(is_workload_ ? *experiment.flows : *experiment.background),
      hosts_(is_workload_ ? placement : all_hosts(*experiment.fabric)),
      engine_(observed(engine, messages)),
      shared_(job,
              is_workload_ ? network::SharedBackend::Ends::kWithAll : network::SharedBackend::Ends::kWithOwn),
      statistics_(experiment, traffic_.size_limits),
      injector_(traffic_, hosts_, engine_, statistics_,
                static_cast<std::uint32_t>(experiment.program.operations.size())) {}

network::NetworkBackend& FlowRun::observed(network::NetworkBackend& engine,
                                           network::MessageObserver* messages) {
    return messages == nullptr ? engine : observed_.emplace(engine, *messages);
}

std::string FlowRun::stall() const {
    std::string text = fmt::format("{} of {} flows never arrive", injector_.started() - injector_.delivered(),
                                   injector_.started());
    constexpr std::size_t kNamed = 16;
    for (const system::UnfinishedFlow& flow : injector_.unfinished(kNamed)) {
        text += fmt::format("\n  host {} to host {}: {} bytes, sent at {}", flow.source.index(),
                            flow.destination.index(), flow.size.count(), to_string(flow.start));
    }
    const std::string reason = engine_.explain_stall();
    return reason.empty() ? text : text + "\n  " + reason;
}

JobStanding FlowRun::standing() const {
    JobStanding standing;
    const auto share = [](double part, double whole) { return std::min(part / whole, 1.0); };
    if (traffic_.time_limit < Time::max()) {
        standing.done = share(to_seconds(engine_.now()), to_seconds(traffic_.time_limit));
    } else if (has_packets_ && traffic_.expected_bytes > 0) {
        standing.done =
            share(static_cast<double>(injector_.delivered_bytes().count()), traffic_.expected_bytes);
    } else if (traffic_.expected_flows > 0) {
        standing.done = share(static_cast<double>(injector_.delivered()), traffic_.expected_flows);
    }
    return standing;
}

void FlowRun::sum_up(Run& run) const {
    if (!is_workload_) {
        run.background = statistics_.results(injector_, run.execution.total);
        return;
    }
    system::ExecutionReport& report = run.execution;
    report.total = injector_.is_at_limit() ? traffic_.time_limit : injector_.last_delivery();
    for (system::RankRecord& rank : report.ranks) {
        rank.drain = report.total;  // all of it is communication that nothing computes beside
        rank.end = report.total;
    }
    if (!injector_.is_at_limit() && (injector_.delivered() < injector_.started() || injector_.has_more())) {
        report.finished = false;
        report.stall = stall();
    }
    run.flows = statistics_.results(injector_, report.total);
}

}  // namespace astrolabe::experiment
