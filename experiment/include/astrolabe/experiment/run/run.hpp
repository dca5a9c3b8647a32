/// Running an experiment, and what one run tells.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/containers/time_histogram.hpp>
#include <astrolabe/experiment/explain/bounds.hpp>
#include <astrolabe/experiment/explain/critical_path.hpp>
#include <astrolabe/experiment/explain/engine_fit.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/records/carried_record.hpp>
#include <astrolabe/experiment/records/flow_statistics.hpp>
#include <astrolabe/experiment/run/progress.hpp>
#include <astrolabe/experiment/run/skipped_iterations.hpp>
#include <astrolabe/network/analysis/link_utilization.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/link_observer.hpp>
#include <astrolabe/network/message_observer.hpp>
#include <astrolabe/network/packet_observer.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/characterisation.hpp>

namespace astrolabe::experiment {

struct EngineFacts {
    std::uint64_t events = 0;
    double wall_seconds = 0;
    std::uint64_t peak_rss_bytes = 0;
    std::size_t simulated_ranks = 0;  ///< the others are images of these (system/symmetry/folding.hpp)
    std::string folding_refusal;      ///< why not fewer; empty where they are or the engine never folds
    std::size_t threads = 1;          ///< that simulated them
};

/// A finished run. Times of `execution` are exact; everything else is derived from it and the network's
/// counters.
struct Run {
    system::ExecutionReport execution;
    network::NetworkStatistics network;
    std::vector<Time> iteration_times;  ///< end to end; the last includes the drain, so they sum to the total
    Bounds bounds;                      ///< of the whole run
    std::vector<PathSegment> path;      ///< of a finished run
    std::shared_ptr<const network::Resources> resources;  ///< of the path; null: causes were not followed
    std::array<Bytes, system::kCollectiveKinds> traffic;  ///< payload sent over all ranks
    system::ProgramTraffic traffic_counts;  ///< from the schedules alone; asserted to be what was sent
    network::LinkUtilization utilization;
    std::optional<TimeHistogram> message_times;  ///< from sending to delivery, where messages were recorded
    std::optional<FlowResults> flows;            ///< of a workload of flows
    std::optional<FlowResults> background;       ///< of flows beside a job; `network` counts both
    std::string fingerprint;                     ///< of everything above, 16 hexadecimal digits
    /// What an observer of links was told.
    network::LinkReports link_reports = network::LinkReports::kNothing;
    EngineFacts engine;  ///< of what was simulated
    /// Of an experiment with `steady_state`; everything else here but `network.events` is of all iterations.
    std::optional<SkippedIterations> skipped;
    std::vector<SlowMethod> slow;  ///< where who runs the experiment looks for them (slow_methods.hpp)
    std::optional<SlowWindow> slow_window;  ///< likewise
    std::vector<EngineTerm> ignored;        ///< by the engine, likewise (engine_fit.hpp)
};

/// Flows that had not arrived when the run ended: at a time limit, or beside a job that was done.
[[nodiscard]] inline UnderWay under_way(const Run& run) {
    const std::optional<FlowResults>& flows = run.flows ? run.flows : run.background;
    return flows ? UnderWay{flows->started_bytes - flows->delivered_bytes, flows->started - flows->delivered}
                 : UnderWay{};
}

/// Listens to an execution.
class ExecutionObserver {
public:
    /// Before anything happens: the time to connect to the executor's signals. The backend may be asked for
    /// its statistics whenever one of them is emitted; both live as long as the run. Where it `hears_images`,
    /// this may come twice: what was heard before is void then, the run begins again with all ranks.
    virtual void begin(system::Executor& executor, const network::NetworkBackend& backend) = 0;
    /// Whether ranks that others stand for need not be heard of; all are simulated otherwise.
    [[nodiscard]] virtual bool hears_images() const { return false; }

protected:
    ~ExecutionObserver() = default;
};

/// Messages and computations that a run may simulate for its causes to be followed unasked: what that costs
/// is then well below a second.
inline constexpr double kMostCausesUnasked = 250'000;

/// Whether the causes of all that happens are followed (critical_path.hpp).
enum class Causes : std::uint8_t { kWhereCheap, kAlways, kNever };

/// A folded run that has met a tie (system/symmetry/folding.hpp) and has to be done again.
struct LostFolding {
    std::size_t simulated_ranks = 0;  ///< until now
    std::size_t ranks = 0;            ///< from now on
    Time at{};                        ///< simulated
    std::string reason;
};

/// Who is told what happens while it happens; null: nobody. They do not change what happens.
struct RunObservers {
    /// That the engine may use where it can and nobody needs to be told of all that happens in its order.
    std::size_t threads = 1;
    Causes causes = Causes::kWhereCheap;
    network::MessageObserver* messages = nullptr;
    network::PacketObserver* packets = nullptr;  ///< only if the backend `reports_packets`
    network::LinkObserver* links = nullptr;
    ExecutionObserver* execution = nullptr;
    /// Where folding is lost: told at once, when the run is about to begin again with all ranks.
    std::function<void(const LostFolding&)> folding_lost{};
};

/// Leaves out iterations that repeat where the experiment says so and nobody is told what happens.
/// Folds ranks where the cluster lets it, the backend can and nobody observes all of them.
/// Runs to the end or to a stall (`execution.finished` is false then and the rest describes the part that
/// ran). `observer` may be empty; a run that was watched is the same run.
[[nodiscard]] Run run_experiment(const Experiment& experiment, const ProgressObserver& observer,
                                 const RunObservers& observers = {});

}  // namespace astrolabe::experiment
