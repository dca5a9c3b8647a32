#include "steady_iterations.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/experiment/results/results.hpp>

namespace astrolabe::experiment {
namespace {

std::string bound_name(const Bounds& bounds, const system::Program& program) {
    const std::string_view binding = bounds.binding();
    if (binding == "compute") {
        return program.streams.size() == 1 ? "compute of the busiest rank"
                                           : "compute of the busiest stream of a rank";
    }
    if (binding == "ports") {
        return "rate of the hosts' links";
    }
    if (binding == "links") {
        return "the busiest link";
    }
    return binding == "any_routing" ? "the fabric, whatever the routes"
                                    : "longest chain of dependent operations";
}

/// "host-leaf links 62.0 %, latency 20.4 %, compute 9.1 % of the time; most of host-leaf links for Top_0
/// …, 31.0 %".
std::string binding_text(const Experiment& experiment, const Run& run) {
    constexpr std::size_t kResources = 3;
    const std::vector<PathShare> shares =
        shares_by_operation(run.path, run.resources.get(), experiment.program);
    const auto binding = binding_of(shares);
    if (!binding) {
        if (run.path.empty()) {
            return "";
        }
        return run.skipped ? "not looked for where iterations are left out: run --why without steady_state"
                           : "not looked for, as it would take long: run --why";
    }
    const auto percent = [&run](Time time) {
        return 100.0 * to_seconds(time) / to_seconds(run.execution.total);
    };
    const std::vector<PathShare> resources = shares_by_resource(shares);
    std::string text;
    for (std::size_t i = 0; i < std::min(resources.size(), kResources); ++i) {
        text += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", resources[i].resource,
                            percent(resources[i].time));
    }
    return fmt::format("{} of the time; most of {} for {}, {:.1f} %", text, binding->all.resource,
                       binding->operation.operation, percent(binding->operation.time));
}

/// "host 3 to leaf 0, 93.1 % of its rate used".
std::string busiest_text(const Experiment& experiment, const Run& run) {
    const network::Fabric& fabric = *experiment.fabric;
    const network::LinkId link = *run.utilization.busiest;
    return fmt::format("{} to {}, {:.1f} % of its rate used", fabric.node(fabric.source(link)).name,
                       fabric.node(fabric.target(link)).name, 100.0 * run.utilization.max);
}

/// "a, b and 3 more".
std::string first_of(const std::vector<std::string>& names) {
    constexpr std::size_t kShown = 2;
    const std::size_t shown = names.size() <= kShown + 1 ? names.size() : kShown;
    std::string text =
        fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    return names.size() > shown ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

std::string measured_text(const MeasuredUse& use) {
    std::string text = fmt::format("{} collectives take no less than on {}", use.collectives, use.machine);
    if (!use.extrapolated.empty()) {
        text += "; beyond the sizes or ranks measured: " + first_of(use.extrapolated);
    }
    if (!use.unknown.empty()) {
        text += "; of a kind not measured: " + first_of(use.unknown);
    }
    return text;
}

std::string summary_line(std::string_view label, const std::string& text) {
    return fmt::format("  {:<12} {}\n", label, text);
}

/// "171.7 us, 690.9 us, 679.1 us, 688.7 us, …".
std::string first_times(const std::vector<Time>& times) {
    constexpr std::size_t kShown = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(times.size(), kShown); ++i) {
        text += (i == 0 ? "" : ", ") + readable(times[i]);
    }
    return text + (times.size() > kShown ? ", …" : "");
}

/// "--set workload.iterations=4 shows …"; nothing where the workload has as many as it has.
std::string more_iterations(const Experiment& experiment, std::size_t iterations) {
    const ConfigNode* workload = experiment.resolved.find("workload");
    for (const char* key : {"iterations", "passes"}) {
        if (workload != nullptr && workload->find(key) != nullptr) {
            return fmt::format("; --set workload.{}={} shows what repeats", key,
                               std::max<std::size_t>(2 * iterations, 4));
        }
    }
    return "";
}

/// How long an iteration takes: where a stretch of them repeats one of those, and in any case the mean, which
/// other commands compare.
std::string iteration_lines(const Experiment& experiment, const Run& run) {
    constexpr std::size_t kManyIterations = 8;
    const SteadyIterations steady = steady_iterations(run);
    const std::size_t iterations = run.iteration_times.size();
    const std::string mean = readable_seconds(mean_iteration_seconds(run));
    if (iterations == 1) {
        return summary_line("iteration",
                            mean + ", the only one: it starts and ends with nothing in flight" +
                                (steady.intervals.empty() ? "" : more_iterations(experiment, iterations)));
    }
    const std::string all =
        fmt::format("of {} ({}): the first starts with nothing in flight, the last includes the drain",
                    iterations, first_times(run.iteration_times));
    if (steady.count > 0) {
        const std::string spread = steady.spread > 0
                                       ? fmt::format("differ by at most {:.1f} %", 100.0 * steady.spread)
                                       : "are alike";
        return summary_line(
                   "iteration",
                   fmt::format("{} steady: {} to {} of {} {}, from the end of computation to the next",
                               readable_seconds(steady.seconds), steady.first + 1,
                               steady.first + steady.count, iterations, spread)) +
               summary_line("mean", mean + " " + all);
    }
    std::string text = summary_line("iteration", mean + " mean " + all);
    if (!steady.intervals.empty()) {
        text += summary_line(
            "steady",
            fmt::format("{}: {} from the end of computation to the next{}",
                        iterations < kManyIterations ? "not yet" : "none, they differ by more than 2 %",
                        first_times(steady.intervals),
                        iterations < kManyIterations ? more_iterations(experiment, iterations) : ""));
    }
    return text;
}

/// What the ranks waited for, the longest waits by name, behind `introduction`.
std::string exposed_text(const MeanStream& means, double total, std::string_view introduction) {
    constexpr std::size_t kCauses = 3;
    double sum = 0;
    std::vector<std::pair<double, std::string>> causes;
    for (const auto& [cause, seconds] : means.exposed) {
        sum += seconds;
        causes.emplace_back(seconds, cause);
    }
    std::sort(causes.rbegin(), causes.rend());
    std::string text =
        fmt::format("{} ({:.1f} %)", readable_seconds(sum), total > 0 ? 100.0 * sum / total : 0.0);
    for (std::size_t i = 0; i < std::min(causes.size(), kCauses); ++i) {
        text += fmt::format("{} {} {}", i == 0 ? introduction : ",", causes[i].second,
                            readable_seconds(causes[i].first));
    }
    return text + (causes.size() > kCauses ? ", …" : "");
}

/// What `steady_state` did.
std::string skipped_text(const SkippedIterations& skipped, Time total) {
    using How = SkippedIterations::How;
    if (skipped.how == How::kNone) {
        return fmt::format("all {} iterations simulated: {}", skipped.iterations, skipped.reason);
    }
    const std::string what = fmt::format("{} of {} iterations left out", skipped.skipped, skipped.iterations);
    const std::string time = readable(skipped.period_time);
    if (skipped.how != How::kMeasured) {
        return fmt::format("{}: the state repeats {} after {} ({})", what,
                           skipped.how == How::kExact
                               ? "exactly"
                               : "exactly, but for the order of what ends at one instant,",
                           skipped.period == 1 ? "one" : fmt::format("{}", skipped.period), time);
    }
    return fmt::format(
        "{}: {} in a row took {} and differ by {:.3g} % (at most {:g} %); if the others differ no "
        "more, the mean is right within {:.3g} %, which nobody knows",
        what, skipped.period, time, 100.0 * skipped.spread(), 100.0 * skipped.tolerance,
        100.0 * skipped.error_if_so(total));
}

/// Where the time went.
std::string time_lines(const Experiment& experiment, const Run& run) {
    const MeanBreakdown means = mean_breakdown(run.execution);
    const double total = to_seconds(run.execution.total);
    const auto percent = [total](double seconds) { return total > 0 ? 100.0 * seconds / total : 0.0; };
    const double bound = to_seconds(run.bounds.value());
    std::string text = iteration_lines(experiment, run);
    if (run.skipped) {
        text += summary_line("steady state", skipped_text(*run.skipped, run.execution.total));
    }
    text += summary_line(
        "lower bound", fmt::format("{} an iteration, which no run beats ({}); {:.1f} % of the mean",
                                   readable_seconds(bound / static_cast<double>(run.iteration_times.size())),
                                   bound_name(run.bounds, experiment.program), percent(bound)));
    if (const std::string binding = binding_text(experiment, run); !binding.empty()) {
        text += summary_line("bound by", binding);
    }
    text += summary_line("compute", fmt::format("{} of {} ({:.1f} %)", readable_seconds(means.compute),
                                                readable(run.execution.total), percent(means.compute)));
    if (experiment.cluster.contention) {
        text += summary_line("slowed", fmt::format("{} ({:.1f} %) beside collectives",
                                                   readable_seconds(means.slowed), percent(means.slowed)));
    }
    text += summary_line("exposed", exposed_text(means, total, " waiting for"));
    text += summary_line("drain", fmt::format("{} ({:.1f} %) from the last computation to the end of the run",
                                              readable_seconds(means.drain), percent(means.drain)));
    for (std::size_t i = 0; i < means.other_streams.size(); ++i) {
        const MeanStream& stream = means.other_streams[i];
        text += summary_line(experiment.program.streams[i + 1],
                             fmt::format("{} ({:.1f} %), waits {}", readable_seconds(stream.compute),
                                         percent(stream.compute), exposed_text(stream, total, " for")));
    }
    return text;
}

/// How flows fared.
std::string flow_lines(const char* what, const FlowResults& flows) {
    const auto summary = [](const ValueSummary& values, const auto& write) {
        std::string text = "mean " + write(values.mean.value);
        for (std::size_t i = 0; i < values.percentiles.size(); ++i) {
            text += fmt::format(", {} {}", kFlowPercentiles[i].name, write(values.percentiles[i].value));
        }
        return text + ", max " + write(values.max);
    };
    std::string text =
        summary_line(what, fmt::format("{} of {} delivered, {} of {}", flows.delivered, flows.started,
                                       readable(flows.delivered_bytes), readable(flows.started_bytes)));
    if (flows.delivered > 0) {
        text += summary_line("completion", summary(flows.all.seconds,
                                                   [](double seconds) { return readable_seconds(seconds); }));
        text += summary_line("slowdown", summary(flows.all.slowdown,
                                                 [](double times) { return fmt::format("{:.2f}", times); }));
    }
    return text;
}

/// What was sent, and how it fared.
std::string traffic_lines(const Experiment& experiment, const Run& run) {
    std::string shares;
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        if (run.traffic[kind] > Bytes(0)) {
            shares += fmt::format("{}{} {:.1f} %", shares.empty() ? ": " : ", ", collective_key(kind),
                                  100.0 * share_of(run.traffic[kind], total_traffic(run)));
        }
    }
    std::string text = run.flows ? "" : summary_line("traffic", readable(total_traffic(run)) + shares);
    if (const workload::SourceCounts counts =
            experiment.job.source_counts(experiment.cluster.device, experiment.cluster.ranks);
        !counts.key.empty()) {
        text += summary_line(counts.key, counts.text);
    }
    std::string packets;
    if (run.network.packets > 0) {
        packets = fmt::format(", {} packets, {} drops, {} retransmissions", run.network.packets,
                              run.network.drops, run.network.retransmissions);
    }
    text += summary_line("network", fmt::format("{} messages{}", run.network.messages, packets));
    if (const auto& moves = run.network.reconfiguration) {
        text += summary_line("circuits",
                             fmt::format("moved {} times in {} control epochs, links dark for {} on average",
                                         moves->changes, moves->control_epochs, readable(moves->dark)));
    }
    if (const auto& rates = run.network.rate_interval) {
        text += summary_line(
            "approximate",
            fmt::format(
                "rates are updated at most every {}: starts waited up to {}, {} in all, and a link was "
                "withheld for up to {}",
                readable(rates->interval), readable(rates->longest_wait), readable(rates->waits),
                readable(rates->withheld)));
    }
    if (const auto& rates = run.network.rate_slack) {
        text +=
            rates->is_applied
                ? summary_line("approximate",
                               fmt::format("rates are those of links up to {:g} % slower: what shares one "
                                           "bottleneck takes up to {:.3g} % longer",
                                           100.0 * rates->slack, 100.0 * rates->longer_at_most()))
                : summary_line("exact",
                               "rate_slack is not applied where links are observed or causes "
                               "are followed");
    }
    if (run.message_times) {
        std::string times;
        for (const auto& [name, share] : kMessageQuantiles) {
            times += fmt::format("{} {}, ", name, readable(run.message_times->quantile(share)));
        }
        text += summary_line("messages", times + "max " + readable(run.message_times->max()));
    }
    return text;
}

/// What was decided, and what that leaves to be desired.
std::string choice_lines(const Experiment& experiment, const Run& run) {
    std::string text;
    if (experiment.measured) {
        text += summary_line("measured", measured_text(*experiment.measured));
        for (const RangeWarning& warning : experiment.measured->warnings) {
            text +=
                summary_line("warning", fmt::format("{}: {}", warning.where.to_string(), warning.message));
        }
    }
    for (const std::string& chosen : choices_text(experiment.choices)) {
        text += summary_line("chosen", chosen);
    }
    for (const std::string& chosen : job_choices_text(experiment.job_choices)) {
        text += summary_line("chosen", chosen);
    }
    for (const SlowMethod& slow : run.slow) {
        text += summary_line("slow", slow_text(slow));
    }
    if (run.slow_window) {
        text += summary_line("slow", slow_text(*run.slow_window));
    }
    for (const EngineTerm& term : run.ignored) {
        text += summary_line("left out", engine_term_text(term));
    }
    return text;
}

}  // namespace

std::string text_summary(const Experiment& experiment, const Run& run) {
    std::string text =
        fmt::format("{}: {} ranks on {} ({} hosts), {}\n", experiment.name, experiment.cluster.ranks,
                    experiment.network_kind, experiment.fabric->host_count(), experiment.backend_kind);
    if (run.flows) {
        text += summary_line("ended", readable(run.execution.total)) + flow_lines("flows", *run.flows);
    } else {
        text += time_lines(experiment, run);
    }
    if (run.background) {
        text += flow_lines("background", *run.background);
    }
    text += traffic_lines(experiment, run) + choice_lines(experiment, run);
    if (run.utilization.busiest) {
        text +=
            summary_line("links", fmt::format("busiest {}; mean of all {:.1f} %",
                                              busiest_text(experiment, run), 100.0 * run.utilization.mean));
    }
    text += summary_line(
        "engine",
        fmt::format("{:.2f} s{}, {} events, {} of {} ranks simulated, {} peak memory, fingerprint {}",
                    run.engine.wall_seconds,
                    run.engine.threads > 1 ? fmt::format(" on {} threads", run.engine.threads) : "",
                    run.engine.events, run.engine.simulated_ranks, experiment.cluster.ranks,
                    readable(Bytes(static_cast<std::int64_t>(run.engine.peak_rss_bytes))), run.fingerprint));
    if (!run.engine.folding_refusal.empty()) {
        text +=
            summary_line("not folded", "every rank is simulated by itself: " + run.engine.folding_refusal);
    }
    return text;
}

}  // namespace astrolabe::experiment
