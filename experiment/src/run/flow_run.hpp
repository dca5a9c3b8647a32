// The flows of a run: the workload itself, or beside a job.
#pragma once

#include "run_watch.hpp"

#include <optional>
#include <vector>

#include <astrolabe/experiment/records/flow_statistics.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/message_observer.hpp>
#include <astrolabe/network/shared_backend.hpp>
#include <astrolabe/system/flows/flow_injector.hpp>

namespace astrolabe::experiment {

class FlowRun {
public:
    /// Flows leave through `engine`, what the job does goes through `job`, which passes it to the same
    /// engine. `messages` hears of flows; null: nobody does. All must outlive it.
    FlowRun(const Experiment& experiment, const std::vector<network::HostId>& placement,
            network::NetworkBackend& engine, network::NetworkBackend& job,
            network::MessageObserver* messages);

    /// Before the job runs: sends what starts at once.
    void begin() { injector_.begin(); }
    /// What the job runs on.
    [[nodiscard]] network::NetworkBackend& job_backend() { return shared_; }
    /// After it: adds what became of the flows, and the end of a run that is nothing else.
    void sum_up(Run& run) const;
    [[nodiscard]] Bytes delivered_bytes() const { return injector_.delivered_bytes(); }
    /// How far a run of nothing but flows is.
    [[nodiscard]] JobStanding standing() const;

private:
    [[nodiscard]] network::NetworkBackend& observed(network::NetworkBackend& engine,
                                                    network::MessageObserver* messages);
    /// What keeps flows from arriving, where nothing does any more.
    [[nodiscard]] std::string stall() const;

    bool is_workload_;
    bool has_packets_;
    const system::FlowTraffic& traffic_;
    std::vector<network::HostId> hosts_;
    std::optional<network::ObservedBackend> observed_;
    network::NetworkBackend& engine_;
    network::SharedBackend shared_;
    FlowStatistics statistics_;
    system::FlowInjector injector_;
};

}  // namespace astrolabe::experiment
