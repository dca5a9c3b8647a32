#include "cluster.hpp"
#include "figures.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/experiment/results.hpp>

namespace astrolabe::experiment {

std::string text_summary(const Experiment& experiment, const Run& run) {
    const MeanBreakdown means = mean_breakdown(run.execution);
    const double total = to_seconds(run.execution.total);
    const auto percent = [total](double seconds) { return total > 0 ? 100.0 * seconds / total : 0.0; };
    const auto line = [](std::string_view label, const std::string& text) {
        return fmt::format("  {:<12} {}\n", label, text);
    };

    double exposed_sum = 0;
    std::vector<std::pair<double, std::string>> causes;
    for (const auto& [cause, seconds] : means.exposed) {
        exposed_sum += seconds;
        causes.emplace_back(seconds, cause);
    }
    std::sort(causes.rbegin(), causes.rend());
    std::string waits;
    for (std::size_t i = 0; i < std::min<std::size_t>(causes.size(), 3); ++i) {
        waits +=
            fmt::format("{}{} {}", i == 0 ? "  " : ", ", causes[i].second, readable_seconds(causes[i].first));
    }
    std::string iterations;
    constexpr std::size_t kShown = 4;
    for (std::size_t i = 0; i < std::min(run.iteration_times.size(), kShown); ++i) {
        iterations += (i == 0 ? "" : ", ") + readable(run.iteration_times[i]);
    }
    iterations += run.iteration_times.size() > kShown ? ", …" : "";
    std::string shares;
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        if (run.traffic[kind] > Bytes(0)) {
            shares += fmt::format("{}{} {:.1f} %", shares.empty() ? ": " : ", ", collective_key(kind),
                                  100.0 * share_of(run.traffic[kind], total_traffic(run)));
        }
    }
    const bool by_compute = run.bound.compute >= run.bound.communication;
    std::string packets;
    if (run.network.packets > 0) {
        packets = fmt::format(", {} packets, {} drops, {} retransmissions", run.network.packets,
                              run.network.drops, run.network.retransmissions);
    }

    std::string text =
        fmt::format("{}: {} ranks on {} ({} hosts), {}\n", experiment.name, experiment.cluster.ranks,
                    experiment.network_kind, experiment.fabric->host_count(), experiment.backend_kind);
    text += line("iteration", fmt::format("{} mean of {} ({})", readable_seconds(mean_iteration_seconds(run)),
                                          run.iteration_times.size(), iterations));
    text += line("lower bound",
                 fmt::format("{} an iteration ({}; {:.1f} % of it reached)",
                             readable_seconds(to_seconds(run.bound.value()) /
                                              static_cast<double>(run.iteration_times.size())),
                             by_compute ? "compute of the busiest rank" : "rate of the hosts' links",
                             percent(to_seconds(run.bound.value()))));
    text += line("compute", fmt::format("{} of {} ({:.1f} %)", readable_seconds(means.compute),
                                        readable(run.execution.total), percent(means.compute)));
    text += line("exposed",
                 fmt::format("{} ({:.1f} %){}", readable_seconds(exposed_sum), percent(exposed_sum), waits));
    text += line("drain", fmt::format("{} ({:.1f} %)", readable_seconds(means.drain), percent(means.drain)));
    text += line("traffic", readable(total_traffic(run)) + shares);
    text += line("network", fmt::format("{} messages{}", run.network.messages, packets));
    text += line("links", fmt::format("busiest {:.1f} % used, mean {:.1f} %", 100.0 * run.utilization.max,
                                      100.0 * run.utilization.mean));
    text += line("engine", fmt::format("{:.2f} s, {} events, {} peak memory, fingerprint {}",
                                       run.engine.wall_seconds, run.engine.events,
                                       readable(Bytes(static_cast<std::int64_t>(run.engine.peak_rss_bytes))),
                                       run.fingerprint));
    return text;
}

}  // namespace astrolabe::experiment
