#include "../explain/routing_bound.hpp"
#include "../explain/schedule_loads.hpp"
#include "engine.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/explain/bounds.hpp>
#include <astrolabe/experiment/file/jobs.hpp>
#include <astrolabe/experiment/run/prediction.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::experiment {
namespace {

using system::OperationId;

// Events (prediction.hpp).
constexpr double kEventsOfAMessage = 2;     // served, delivered
constexpr double kTimersOfACopy = 1.0 / 4;  // copies that are ready at one instant share one
constexpr double kPacketsOfAnAcknowledgement = 16;
constexpr double kEventsOfATcpHop = 4.6;  // data, acknowledgement and their queues
constexpr double kRequest = 8192;         // bytes of a rendezvous (system/src/executor/end_point_costs.hpp)
// At most: of a packet and a link, data, acknowledgement, a request of the receiver for more, and a timer;
// TCP also has the queues of devices, and handshakes and timers of its connections.
constexpr double kMostOfAPacketHop = 4;
constexpr double kMostOfATcpHop = 10;
constexpr double kMostOfATcpPair = 60;
constexpr double kMostOfATcpLink = 4;  // a device starts, whether it carries anything or not

constexpr std::uint64_t kMostProbedPairs = std::uint64_t{1} << 17;
constexpr double kSecondsOfAnEvent = 0.7e-6;
constexpr double kProbeSeconds = 0.25;
constexpr double kMostProbeSeconds = 1;  // where pairs are many: the first message of each sets it up
constexpr double kProbeEventsOfAPair = 3;
constexpr double kLaterEvent = 1.2;  // its cost over that of one at the beginning, when less overlaps

// Bytes. Program and libraries; then what a host, a link and a pair of hosts that communicate take.
constexpr double kBase = 28e6;
constexpr double kOperation = 650;  // with its results, whatever the ranks
constexpr double kCause = 120;      // of a message or computation, where causes are followed (run.hpp)
constexpr double kHost = 2'000;
constexpr double kLink = 300;
constexpr double kFlowPair = 300;  // and kFlowLeg for every link class of its route
constexpr double kFlowLeg = 32;
constexpr double kFlowMessage = 96;  // queued and on the wire
constexpr double kPacketPair = 1'000;
constexpr double kTcpPair = 80'000;  // two sockets with their buffers

// Ends of the interval (prediction.hpp).
constexpr double kLeastOfBase = 0.8;
constexpr double kMostOfBase = 1.2;
constexpr double kLeastOfRest = 0.5;
constexpr double kMostOfRest = 2;
constexpr double kMessageInFlight = 400;  // its step, queue entry and packets' descriptors
constexpr double kInFlightOfAPair = 8;    // messages of different chunks and collectives

struct Counts {
    double messages = 0;  ///< with the requests of rendezvous
    double empty = 0;
    double packets = 0;
    double most_packets = 0;
    double bytes = 0;
    double computations = 0;  ///< on ranks, of those that take time
    double followers = 0;     ///< operations on ranks, which may be timers more
};

double packets_of(double size, double payload) {
    return size <= payload ? 1 : size / payload + 0.5;
}

/// Of ranks that compute, those whose computation takes time: others set no timer.
double timed(const system::ComputeOperation& compute, double participants, std::size_t ranks) {
    if (compute.duration.uniform()) {
        return compute.duration[system::RankId(0)] > Time(0) ? participants : 0;
    }
    std::size_t count = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        count += compute.duration[system::RankId(rank)] > Time(0) ? 1 : 0;
    }
    return std::min(static_cast<double>(count), participants);
}

Counts count(const Experiment& experiment) {
    const system::Participants participants(experiment.program);
    const system::ProgramTraffic traffic(experiment.program, experiment.cluster.options);
    const auto payload = static_cast<double>(experiment.backend.packet_payload.count());
    const std::optional<Bytes>& threshold = experiment.cluster.options.end_point.rendezvous_threshold;
    Counts counts;
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const OperationId id(i);
        const system::Operation& operation = experiment.program.operations[id];
        const auto on_ranks = static_cast<double>(participants.count(id));
        counts.followers += on_ranks;
        if (operation.is_compute()) {
            counts.computations +=
                timed(std::get<system::ComputeOperation>(operation.work), on_ranks, experiment.cluster.ranks);
        }
        for (const system::StageTraffic& stage : traffic.of(id).stages) {
            counts.messages += static_cast<double>(stage.messages);
            counts.empty += static_cast<double>(stage.sizes[0]);
            counts.bytes += static_cast<double>(stage.bytes.count());
            for (std::size_t width = 0; width < stage.sizes.size(); ++width) {
                // Sizes of a bin lie evenly between 2^(width-1) and 2^width: 3/4 of the latter on average.
                const double size = std::ldexp(0.75, static_cast<int>(width));
                const auto messages = static_cast<double>(stage.sizes[width]);
                const bool has_requests = threshold && size >= static_cast<double>(threshold->count());
                const double requests = has_requests ? messages : 0;
                counts.messages += requests;
                counts.bytes += requests * kRequest;
                if (payload > 0) {
                    counts.packets +=
                        packets_of(size, payload) * messages + packets_of(kRequest, payload) * requests;
                    counts.most_packets += (size / 0.75 / payload + 1) * messages +
                                           (threshold ? kRequest / payload + 1 : 0) * messages;
                }
            }
        }
    }
    return counts;
}

double sent_bytes(const TotalLoad& total) {
    return std::accumulate(total.sent.begin(), total.sent.end(), 0.0);
}

double expected_flows(const system::FlowTraffic* traffic) {
    return traffic != nullptr ? traffic->expected_flows : 0;
}

double expected_bytes(const system::FlowTraffic* traffic) {
    return traffic != nullptr ? traffic->expected_bytes : 0;
}

/// Links that a byte crosses on average; 2, out to a switch and in from it, where links are not counted.
double mean_hops(const TotalLoad& total) {
    const double crossings = std::accumulate(total.links.begin(), total.links.end(), 0.0);
    const double bytes = sent_bytes(total);
    return crossings > 0 && bytes > 0 ? crossings / bytes : 2;
}

/// Stops a run after kProbeSeconds of processor time, or later where most of its events still were first
/// messages of pairs, which cost many times what others do. Looks at the clock every so much simulated time,
/// for nothing may be delivered in all of them: as seldom as is enough, a look being an event.
class ProbeLimit final : public network::NotificationHandler {
public:
    ProbeLimit(network::NetworkBackend& backend, system::Executor& executor, double pairs)
        : backend_(backend),
          executor_(executor),
          set_up_(static_cast<std::uint64_t>(kProbeEventsOfAPair * pairs)) {
        backend_.schedule(interval_, *this, 0);
    }

    void notify(std::uint64_t) override {
        ++looks_;
        const double now = elapsed();
        seen_.push_back({now, events()});
        if (now > (events() < set_up_ ? kMostProbeSeconds : kProbeSeconds)) {
            executor_.stop();
        } else if (executor_.finished_operations() < executor_.total_operations()) {
            const double since = now - std::exchange(last_, now);
            if (since < kProbeSeconds / 100 && interval_ < kLongest) {
                interval_ = interval_ * 2;
            } else if (since > kProbeSeconds / 20) {
                interval_ = std::max(interval_ / 2, Time(1));
            }
            backend_.schedule(interval_, *this, 0);
        }
    }

    /// In the second half of the time that was looked at; nothing if too little happened to tell.
    [[nodiscard]] std::optional<double> seconds_of_an_event() const {
        const Seen end{elapsed(), events()};
        Seen from{0, 0};
        for (const Seen& seen : seen_) {
            if (seen.seconds <= end.seconds / 2 && seen.events + kFewest <= end.events) {
                from = seen;
            }
        }
        if (end.events < from.events + kFewest) {
            return std::nullopt;
        }
        return (end.seconds - from.seconds) / static_cast<double>(end.events - from.events);
    }

private:
    static constexpr std::uint64_t kFewest = 100;

    struct Seen {
        double seconds;
        std::uint64_t events;
    };

    /// Processor time since the start.
    [[nodiscard]] double elapsed() const {
        return static_cast<double>(std::clock() - start_) / static_cast<double>(CLOCKS_PER_SEC);
    }
    /// Without looks.
    [[nodiscard]] std::uint64_t events() const {
        return std::max(backend_.events_processed(), looks_) - looks_;
    }

    static constexpr Time kLongest{kPicosecondsPerSecond / 10};

    network::NetworkBackend& backend_;
    system::Executor& executor_;
    const std::uint64_t set_up_;  ///< events, of which most are more than first messages
    std::vector<Seen> seen_;
    const std::clock_t start_ = std::clock();
    Time interval_{1'000'000};
    double last_ = 0;
    std::uint64_t looks_ = 0;
};

/// What the beginning of a run tells.
struct Probe {
    std::optional<double> seconds_of_an_event;  ///< nothing if too few happened to tell
    bool has_tie = false;
};

/// Runs the experiment on the engine for some tenths of a second of processor time, or to its end.
Probe probe(const Experiment& experiment, Engine& engine, const std::vector<network::HostId>& placement,
            double pairs) {
    system::Executor executor(experiment.program, experiment.cluster.options, *engine.backend, placement,
                              engine.folding);
    ProbeLimit limit(*engine.backend, executor, pairs);
    const bool has_tie = executor.run().has_tie;
    return {limit.seconds_of_an_event(), has_tie};
}

void set_memory_interval(Prediction& prediction, double in_flight) {
    const double rest = std::max(0.0, prediction.memory_bytes - kBase);
    prediction.minimum_memory_bytes = kLeastOfBase * kBase + kLeastOfRest * rest;
    prediction.maximum_memory_bytes = kMostOfBase * kBase + kMostOfRest * rest + kMessageInFlight * in_flight;
}

/// Of a run on all ranks, where nothing but the program and its messages makes events (prediction.hpp).
void set_events_interval(const Experiment& experiment, const Counts& all, double images, double hops,
                         double pairs, Prediction& prediction) {
    const double timers = 2 * all.messages + 2 * all.followers;
    const double longest = 2 * hops + 2;
    const auto payload = static_cast<double>(experiment.backend.packet_payload.count());
    double least = all.messages - all.empty;
    double most = timers;
    if (payload == 0) {
        most += (kEventsOfAMessage + 1) * all.messages *
                (experiment.cluster.options.end_point.rendezvous_threshold ? 2 : 1);
    } else if (experiment.backend.reports_packets) {
        most += longest * kMostOfAPacketHop * (all.most_packets + all.messages);
    } else {
        least = std::min(least, std::floor(all.bytes / payload));
        most += longest * (kMostOfATcpHop * all.most_packets + kMostOfATcpPair * pairs) +
                kMostOfATcpLink * static_cast<double>(experiment.fabric->link_count());
    }
    if (experiment.cluster.options.end_point.rendezvous_threshold) {
        least /= 2;  // sizes are known to a factor of two, so that requests may be fewer
    }
    prediction.events_between = {least / images, most};
}

void expect_finite(const Prediction& prediction) {
    for (const double value : {prediction.events, prediction.memory_bytes, prediction.minimum_memory_bytes,
                               prediction.maximum_memory_bytes, prediction.wall_seconds}) {
        ASTROLABE_ASSERT(std::isfinite(value) && value >= 0, "predictions are finite");
    }
}

/// Of several jobs: the sum over their runs, with those alone and in pairs that are asked for. Where jobs
/// start over until all have finished once, a job runs as often as its lower bound fits in the longest of
/// all.
Prediction predict_jobs(const Experiment& experiment) {
    const JobSet& set = *experiment.jobs;
    std::map<std::string, std::pair<Prediction, double>> by_kind;
    double longest = 0;
    for (const JobOnNetwork& job : set.jobs) {
        if (by_kind.find(job.kind) == by_kind.end()) {
            const double bound = to_seconds(certified_bounds(job.experiment).value());
            by_kind.emplace(job.kind, std::pair(predict(job.experiment), bound));
            longest = std::max(longest, bound);
        }
    }
    const auto others = static_cast<double>(set.jobs.size()) - 1;
    const double again = (set.slowdown ? 1 : 0) + (set.interference ? others : 0);
    Prediction sum;
    for (const JobOnNetwork& job : set.jobs) {
        const auto& [one, bound] = by_kind.at(job.kind);
        const double runs = set.until_all_finished_once && bound > 0 ? longest / bound : job.repeat;
        const double images = static_cast<double>(job.experiment.cluster.ranks) /
                              static_cast<double>(std::max<std::size_t>(1, one.simulated_ranks));
        sum.events += one.events * images * (runs + again);
        sum.wall_seconds += one.wall_seconds * images * (runs + again);
        for (double Prediction::*const memory :
             {&Prediction::memory_bytes, &Prediction::maximum_memory_bytes}) {
            sum.*memory =
                set.shares_network() ? sum.*memory + one.*memory : std::max(sum.*memory, one.*memory);
        }
        sum.minimum_memory_bytes = std::max(sum.minimum_memory_bytes, one.minimum_memory_bytes);
    }
    if (set.shares_network()) {
        // One of the jobs may be done before another begins, and the program is there once.
        sum.minimum_memory_bytes = kLeastOfBase * kBase;
    }
    sum.simulated_ranks = set.ranks;
    expect_finite(sum);
    return sum;
}

/// Of one job on this engine.
Prediction predict_on(Engine engine, const Experiment& experiment,
                      const std::vector<network::HostId>& placement) {
    const system::Program& program = experiment.program;
    const network::Fabric& fabric = *experiment.fabric;
    const ScheduleLoads loads(program, experiment.cluster.options, fabric, experiment.placement);
    const TotalLoad total = total_load(program, loads, fabric);
    const double hops = mean_hops(total);
    const auto images = static_cast<double>(engine.folding.class_size());
    const Counts all = count(experiment);
    Counts counts = all;
    counts.messages /= images;
    counts.empty /= images;
    counts.packets /= images;
    counts.computations /= images;
    const double pairs = static_cast<double>(loads.pairs()) / images;
    Prediction prediction;
    prediction.simulated_ranks = engine.folding.representatives;
    prediction.folding_refusal = engine.refusal;
    prediction.messages = counts.messages;
    prediction.pairs = pairs;
    prediction.events = counts.computations;
    prediction.memory_bytes = kBase + kHost * static_cast<double>(fabric.host_count()) +
                              kLink * static_cast<double>(fabric.link_count()) +
                              kOperation * static_cast<double>(program.operations.size());
    const bool is_flow_engine = experiment.backend.packet_payload == Bytes(0);
    const std::optional<network::EstimatedWork> own =
        is_flow_engine ? fabric.family().estimate({.bytes = sent_bytes(total),
                                                   .messages = counts.messages,
                                                   .pairs = pairs,
                                                   .computations = counts.computations,
                                                   .iterations = static_cast<double>(program.iterations)})
                       : std::nullopt;
    if (own) {
        prediction.events = own->events;
        prediction.memory_bytes += own->memory_bytes;
    } else if (is_flow_engine) {
        prediction.events += kEventsOfAMessage * counts.messages - counts.empty;
        if (experiment.cluster.options.end_point.injection_latency > Time(0)) {
            prediction.events += kTimersOfACopy * counts.messages;
        }
        prediction.memory_bytes += pairs * (kFlowPair + kFlowLeg * hops + kFlowMessage);
    } else if (experiment.backend.reports_packets) {
        const double acknowledgements =
            std::max(counts.messages, counts.packets / kPacketsOfAnAcknowledgement);
        prediction.events += hops * (counts.packets + acknowledgements);
        prediction.memory_bytes += pairs * kPacketPair;
    } else {
        prediction.events += kEventsOfATcpHop * hops * counts.packets;
        prediction.memory_bytes += pairs * kTcpPair;
    }
    const double flows = expected_flows(experiment.flows.get()) + expected_flows(experiment.background.get());
    const double flow_bytes =
        expected_bytes(experiment.flows.get()) + expected_bytes(experiment.background.get());
    if (is_flow_engine) {
        prediction.events += (kEventsOfAMessage + 1) * flows;  // and a timer for its start
    } else {
        const auto payload = static_cast<double>(experiment.backend.packet_payload.count());
        prediction.events += flows + 2 * hops * (flow_bytes / payload + flows);
    }
    prediction.memory_bytes += flows * kFlowMessage;
    if (const double followed = counts.messages + counts.computations;
        experiment.flows == nullptr && followed <= kMostCausesUnasked) {
        prediction.memory_bytes += kCause * followed;
    }
    if (own) {
        prediction.wall_seconds = own->seconds;
    } else if (program.operations.empty() || flows > 0) {
        prediction.wall_seconds = prediction.events * kSecondsOfAnEvent;
    } else if (pairs > static_cast<double>(kMostProbedPairs)) {
        prediction.wall_seconds = prediction.events * kSecondsOfAnEvent;
    } else {
        const Probe measured = probe(experiment, engine, placement, pairs);
        if (measured.has_tie) {
            return predict_on(whole_engine(experiment, placement, kTieRefusal), experiment, placement);
        }
        prediction.was_looked_at = measured.seconds_of_an_event.has_value();
        prediction.wall_seconds =
            prediction.events *
            (measured.seconds_of_an_event ? kLaterEvent * *measured.seconds_of_an_event : kSecondsOfAnEvent);
    }
    if (!own && flows == 0 && experiment.fabric->is_static() &&
        experiment.fabric->demand_aware_circuits() == nullptr && experiment.fabric->failures() == nullptr) {
        set_events_interval(experiment, all, images, hops, static_cast<double>(loads.pairs()), prediction);
    }
    const double iterations = std::max(1, program.iterations);
    set_memory_interval(prediction, std::min(counts.messages / iterations, kInFlightOfAPair * pairs) + flows);
    expect_finite(prediction);
    return prediction;
}

}  // namespace

Prediction predict(const Experiment& experiment) {
    if (experiment.jobs != nullptr) {
        return predict_jobs(experiment);
    }
    const std::vector<network::HostId> placement = place_ranks(experiment);
    return predict_on(make_engine(experiment, placement, false), experiment, placement);
}

}  // namespace astrolabe::experiment
