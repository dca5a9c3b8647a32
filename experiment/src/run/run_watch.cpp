#include "run_watch.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/experiment/records/packet_sequencer.hpp>

namespace astrolabe::experiment {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::chrono::milliseconds kBetweenSamples{200};
/// A sample takes no more than this part of the time until the next.
constexpr int kSampleShare = 100;
/// Pulses are to be this far apart: looking at the clock then costs nothing that could be measured.
constexpr std::chrono::milliseconds kShortestBetweenPulses{5};
constexpr std::chrono::milliseconds kLongestBetweenPulses{20};
constexpr std::size_t kNamedLinks = 4;
/// Of a link that carried as much of what it can since the sample before, nothing more is to be had.
constexpr double kFull = 0.9;

// When an estimate of the time left can be made.
constexpr double kLeastDone = 0.02;
constexpr double kLeastSeconds = 0.5;

bool is_host_port(const network::Fabric& fabric, network::LinkId link) {
    const auto is_host = [&](network::NodeId node) {
        return fabric.node(node).kind == network::NodeKind::kHost;
    };
    return is_host(fabric.source(link)) != is_host(fabric.target(link));
}

}  // namespace

JobStanding standing_of(const system::Executor& executor, const Experiment& experiment,
                        const network::NetworkBackend& backend, std::uint64_t messages, Bytes bytes) {
    const system::RankActivity activity = executor.activity();
    JobStanding standing{.finished_iterations = activity.finished_iterations,
                         .iterations = experiment.program.iterations,
                         .computing_ranks = activity.computing,
                         .waiting_ranks = activity.waiting};
    const auto share = [](auto part, auto whole) {
        return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
    };
    if (executor.ends_early()) {
        standing.done = share(executor.finished_operations(), executor.total_operations());
    } else if (experiment.backend.packet_payload > Bytes(0) && bytes > Bytes(0) &&
        experiment.background == nullptr) {
        standing.done = share(backend.bytes_delivered().count(), bytes.count());
    } else if (messages > 0) {
        standing.done = share(executor.delivered_messages(), messages);
    } else if (executor.total_operations() > 0) {
        standing.done = share(executor.finished_operations(), executor.total_operations());
    }
    return standing;
}

RunWatch::RunWatch(const ProgressObserver& observer, Subject subject)
    : observer_(observer),
      subject_(std::move(subject)),
      began_(Clock::now()),
      pulsed_(began_),
      next_sample_(began_ + kBetweenSamples) {
    if (has_packets()) {
        sampled_.carried.resize(subject_.fabric.link_count());
    }
    subject_.backend.watch(*this);
}

std::uint64_t RunWatch::pulse() {
    const Clock::time_point now = Clock::now();
    if (now - pulsed_ < kShortestBetweenPulses) {
        events_between_ *= 2;
    } else if (now - pulsed_ > kLongestBetweenPulses) {
        events_between_ = std::max<std::uint64_t>(events_between_ / 2, 1);
    }
    pulsed_ = now;
    if (now >= next_sample_) {
        observer_(sample());
        pulsed_ = Clock::now();
        next_sample_ = pulsed_ + std::max<Clock::duration>(kBetweenSamples, kSampleShare * (pulsed_ - now));
    }
    return events_between_;
}

void RunWatch::end(Time total, bool finished) {
    Progress last = sample();
    last.simulated = std::max(last.simulated, total);
    if (finished) {
        last.finished_iterations = last.iterations;
        last.done = 1.0;
        last.left_seconds = 0.0;
        last.bottleneck = {};
    }
    observer_(last);
}

Progress RunWatch::sample() {
    JobStanding standing = subject_.standing();
    const Clock::time_point now = Clock::now();
    Progress progress{.simulation = subject_.simulation,
                      .simulated = subject_.backend.now(),
                      .finished_iterations = standing.finished_iterations,
                      .iterations = standing.iterations,
                      .delivered = subject_.backend.bytes_delivered(),
                      .events = subject_.backend.events_processed(),
                      .done = standing.done,
                      .simulation_seconds = Seconds(now - began_).count(),
                      .wall_seconds = Seconds(now - subject_.start).count(),
                      .computing_ranks = standing.computing_ranks,
                      .waiting_ranks = standing.waiting_ranks,
                      .bottleneck = bottleneck(standing),
                      .jobs = std::move(standing.jobs)};
    if (progress.done && *progress.done >= kLeastDone && progress.simulation_seconds >= kLeastSeconds) {
        progress.left_seconds = progress.simulation_seconds * (1 - *progress.done) / *progress.done;
    }
    return progress;
}

Bottleneck RunWatch::bottleneck(const JobStanding& standing) {
    const network::PresentLimits limits = subject_.backend.present_limits(kNamedLinks);
    const Bottleneck of_packets = has_packets() ? limit_of_packets(limits) : Bottleneck{};
    const bool is_idle = subject_.backend.outstanding_messages() == 0;
    if (standing.computing_ranks > 0 && (is_idle || standing.waiting_ranks == 0)) {
        return {.kind = BottleneckKind::kCompute};
    }
    const bool is_gated = subject_.experiment.cluster.options.circuit_windows != nullptr;
    if (is_idle) {
        return {.kind = is_gated ? BottleneckKind::kCircuits : BottleneckKind::kEndPoints};
    }
    if (limits.circuit_waits > limits.flows) {
        return {.kind = BottleneckKind::kCircuits};
    }
    if (has_packets()) {
        return of_packets;
    }
    if (!limits.links.empty()) {
        return links_of(limits);
    }
    return {.kind = subject_.experiment.backend.shares_links ? BottleneckKind::kLatency
                                                             : BottleneckKind::kNetwork};
}

Bottleneck RunWatch::limit_of_packets(const network::PresentLimits& limits) {
    const Time now = subject_.backend.now();
    const double seconds = to_seconds(now - std::exchange(sampled_.at, now));
    std::vector<network::LimitingLink> full;
    for (network::LinkId link; link.index() < sampled_.carried.size(); ++link) {
        const std::optional<Bytes> carried = subject_.backend.carried(link);
        if (!carried) {
            continue;
        }
        const Bytes since = *carried - std::exchange(sampled_.carried[link.index()], *carried);
        const double most = static_cast<double>(subject_.fabric.link(link).rate.count()) / 8 * seconds;
        if (since > Bytes(0) && static_cast<double>(since.count()) >= kFull * most) {
            const auto queue = std::ranges::find(limits.links, link, &network::LimitingLink::link);
            full.push_back({link, 1, 0, queue != limits.links.end() ? queue->waiting : Bytes(0)});
        }
    }
    if (!full.empty()) {
        std::ranges::stable_sort(full, std::greater<>(), &network::LimitingLink::waiting);
        Bottleneck found = links(full, full.size());
        found.are_full = true;
        return found;
    }
    return limits.links.empty() ? Bottleneck{.kind = BottleneckKind::kTransport} : links_of(limits);
}

Bottleneck RunWatch::links_of(const network::PresentLimits& limits) const {
    Bottleneck found = links(limits.links, limits.all_links);
    // Inside servers messages are fluid, whatever the engine outside.
    found.are_full = limits.links.front().flows > 0;
    found.flows = limits.flows;
    return found;
}

Bottleneck RunWatch::links(std::vector<network::LimitingLink> limiting, std::size_t all) const {
    limiting.resize(std::min(limiting.size(), kNamedLinks));
    Bottleneck found{.kind = is_host_port(subject_.fabric, limiting.front().link) ? BottleneckKind::kHostPorts
                                                                                  : BottleneckKind::kLinks,
                     .all_links = all,
                     .waiting = limiting.front().waiting};
    for (const network::LimitingLink& link : limiting) {
        found.links.push_back(link_name(subject_.fabric, link.link));
    }
    return found;
}

}  // namespace astrolabe::experiment
