/// Traces of torch.profiler become the costs of a host and the times of recorded collectives.
#include "calibrate.hpp"
#include "console.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/calibration/fit_plot.hpp>
#include <astrolabe/experiment/calibration/recorded_steps.hpp>

namespace astrolabe::cli {
namespace {

using Json = nlohmann::ordered_json;
using experiment::RecordedCollective;
using experiment::StepPhase;
using experiment::TraceRecord;

std::string microseconds(experiment::Nanoseconds time) {
    return fmt::format("{:.0f}", static_cast<double>(time) / 1e3);
}

std::string range_of(experiment::Nanoseconds least, experiment::Nanoseconds most) {
    return least == most ? microseconds(least)
                         : fmt::format("{}..{}", microseconds(least), microseconds(most));
}

std::string bytes_of(const std::optional<Bytes>& bytes) {
    return bytes ? std::to_string(bytes->count()) : "-";
}

std::string steps_table(const std::vector<TraceRecord>& records) {
    std::string text =
        fmt::format("{:>6} {:>16} {:>10} {:>8} {:>11} {:>14} {:>20}\n", "rank", "step", "time (us)",
                    "kernels", "compute", "lookup forward", "table update (sort)");
    for (const TraceRecord& record : records) {
        for (const experiment::StepRecord& step : record.steps) {
            std::string updates;
            for (const experiment::TableUpdateRecord& update : step.updates) {
                if (update.optimizer != "dense") {
                    updates += fmt::format("{}{} ({})", updates.empty() ? "" : ", ",
                                           microseconds(update.time), microseconds(update.sort));
                }
            }
            text += fmt::format("{:>6} {:>16} {:>10} {:>8} {:>11} {:>14} {:>20}\n", step.rank, step.name,
                                microseconds(step.duration), step.kernels, microseconds(step.compute),
                                microseconds(step.lookup_forward), updates);
        }
    }
    return text;
}

std::string phases_table(const std::vector<TraceRecord>& records) {
    std::string text = fmt::format("{:>6} {:>18} {:>10} {:>10} {:>9} {:>12}\n", "rank", "phase", "host (us)",
                                   "blocked", "launches", "a launch");
    for (const TraceRecord& record : records) {
        for (const experiment::StepRecord& step : record.steps) {
            for (std::size_t i = 0; i < experiment::kStepPhases; ++i) {
                const experiment::PhaseRecord& phase = step.phases[i];
                if (!phase.is_there) {
                    continue;
                }
                text += fmt::format("{:>6} {:>18} {:>10} {:>10} {:>9} {:>12}\n", step.rank,
                                    to_string(static_cast<StepPhase>(i)), microseconds(phase.host),
                                    microseconds(phase.blocked), phase.launches,
                                    phase.launches == 0
                                        ? "-"
                                        : fmt::format("{:.1f}", static_cast<double>(phase.host) / 1e3 /
                                                                    static_cast<double>(phase.launches)));
            }
        }
    }
    return text;
}

std::string collectives_table(const std::vector<RecordedCollective>& collectives) {
    std::string text = fmt::format("{:>3} {:>14} {:>12} {:>12} {:>14} {:>18} {:>14}\n", "", "collective",
                                   "protocol", "sent (B)", "received (B)", "starts (us)", "from the last");
    for (const RecordedCollective& one : collectives) {
        const std::string received =
            one.least_received && one.least_received != one.received
                ? fmt::format("{}..{}", bytes_of(one.least_received), bytes_of(one.received))
                : bytes_of(one.received);
        text +=
            fmt::format("{:>3} {:>14} {:>12} {:>12} {:>14} {:>18} {:>14}{}{}\n", one.order + 1,
                        system::to_string(one.kind), one.protocol, bytes_of(one.sent), received,
                        range_of(one.first_start, one.last_start), range_of(one.least_pure, one.most_pure),
                        one.waits_for_stragglers ? "  waits for ranks that came late: not fitted" : "",
                        one.clocks_disagree ? "  clocks disagree: not fitted" : "");
    }
    return text;
}

std::string host_table(const experiment::HostFit& fit) {
    std::string text = "host costs, and host time of a step by those of the other ranks\n";
    for (const auto& [name, time] : {std::pair{"forward launch", fit.costs.forward_launch},
                                     {"backward launch", fit.costs.backward_launch},
                                     {"optimizer launch", fit.costs.optimizer_launch},
                                     {"input launch", fit.costs.input_launch},
                                     {"collective", fit.costs.collective},
                                     {"wait", fit.costs.wait},
                                     {"iteration", fit.costs.iteration},
                                     {"batch", fit.costs.batch},
                                     {"blocking copy", fit.costs.blocking_copy},
                                     {"kernel", fit.kernel}}) {
        text += fmt::format("  {:<18} {:>10}\n", name, readable(time));
    }
    for (const experiment::HostFit::Rank& rank : fit.ranks) {
        text += fmt::format("  rank {:<6} measured {:>10}  fitted {:>10}  {:+.1f} %\n", rank.rank,
                            readable(rank.measured), readable(rank.fitted),
                            100 * (to_seconds(rank.fitted) / to_seconds(rank.measured) - 1));
    }
    return text;
}

/// Of each kind the sizes that were recorded and may be used, the mean of equal ones; kinds of fewer than
/// three sizes cannot be fitted.
std::map<system::CollectiveKind, std::vector<experiment::MeasuredPoint>> usable_points(
    const std::vector<RecordedCollective>& collectives, std::size_t ranks) {
    std::map<system::CollectiveKind, std::map<Bytes, std::vector<experiment::Nanoseconds>>> times;
    for (const RecordedCollective& one : collectives) {
        if (one.sent && *one.sent > Bytes(0) && !one.waits_for_stragglers && !one.clocks_disagree) {
            times[one.kind][experiment::nccl_size(one.kind, *one.sent, ranks)].push_back(one.most_pure);
        }
    }
    std::map<system::CollectiveKind, std::vector<experiment::MeasuredPoint>> points;
    for (const auto& [kind, by_size] : times) {
        for (const auto& [size, all] : by_size) {
            experiment::Nanoseconds sum = 0;
            for (const experiment::Nanoseconds time : all) {
                sum += time;
            }
            const auto count = static_cast<std::int64_t>(all.size());
            const Time mean(std::max<std::int64_t>(1, sum / count * 1000 + sum % count * 1000 / count));
            points[kind].push_back({size, mean});
        }
    }
    return points;
}

struct TraceFit {
    experiment::MeasuredCollectives measured;
    std::vector<experiment::FittedSeries> fits;
};

TraceFit fit_recorded(const std::vector<TraceRecord>& records,
                      const std::vector<RecordedCollective>& collectives, std::size_t ranks,
                      const std::string& machine) {
    TraceFit result;
    result.measured.machine = machine;
    std::string fingerprints;
    for (const TraceRecord& record : records) {
        fingerprints += (fingerprints.empty() ? "" : " ") + record.fingerprint;
    }
    for (const auto& [kind, points] : usable_points(collectives, ranks)) {
        if (points.size() < 3 || points.size() > 64) {
            print_warning(fmt::format("astrolabe: {}: {} usable sizes, 3 to 64 can be fitted: left out\n",
                                      system::to_string(kind), points.size()));
            continue;
        }
        experiment::FittedSeries fit{.series = experiment::fit_series(kind, ranks, points), .points = points};
        fit.series.source = fmt::format("{} traces, {}", records.size(),
                                        std::filesystem::path(records.front().file).filename().string());
        fit.series.fingerprint = fingerprints;
        result.measured.series.push_back(fit.series);
        result.fits.push_back(std::move(fit));
    }
    return result;
}

Json to_json(const std::vector<TraceRecord>& records, const std::vector<RecordedCollective>& collectives,
             const experiment::HostFit& host) {
    const auto seconds = [](experiment::Nanoseconds time) { return static_cast<double>(time) / 1e9; };
    Json steps = Json::array();
    for (const TraceRecord& record : records) {
        for (const experiment::StepRecord& step : record.steps) {
            Json phases = Json::object();
            for (std::size_t i = 0; i < experiment::kStepPhases; ++i) {
                const experiment::PhaseRecord& phase = step.phases[i];
                if (phase.is_there) {
                    phases[std::string(to_string(static_cast<StepPhase>(i)))] = {
                        {"host_s", seconds(phase.host)},
                        {"blocked_s", seconds(phase.blocked)},
                        {"launches", phase.launches}};
                }
            }
            steps.push_back({{"rank", step.rank},
                             {"step", step.name},
                             {"time_s", seconds(step.duration)},
                             {"host_s", seconds(step.host())},
                             {"kernels", step.kernels},
                             {"compute_s", seconds(step.compute)},
                             {"kernels_of_step_before", record.kernels_of_step_before},
                             {"lookup_forward_s", seconds(step.lookup_forward)},
                             {"phases", std::move(phases)}});
        }
    }
    Json list = Json::array();
    for (const RecordedCollective& one : collectives) {
        list.push_back({{"collective", system::to_string(one.kind)},
                        {"protocol", one.protocol},
                        {"sent_bytes", one.sent ? Json(one.sent->count()) : Json()},
                        {"received_bytes", one.received ? Json(one.received->count()) : Json()},
                        {"first_start_s", seconds(one.first_start)},
                        {"last_start_s", seconds(one.last_start)},
                        {"least_s", seconds(one.least_pure)},
                        {"most_s", seconds(one.most_pure)},
                        {"waits_for_stragglers", one.waits_for_stragglers},
                        {"clocks_disagree", one.clocks_disagree}});
    }
    Json ranks = Json::array();
    for (const experiment::HostFit::Rank& rank : host.ranks) {
        ranks.push_back({{"rank", rank.rank},
                         {"measured_s", to_seconds(rank.measured)},
                         {"fitted_s", to_seconds(rank.fitted)}});
    }
    const workload::HostCosts& costs = host.costs;
    return {{"steps", std::move(steps)},
            {"collectives", std::move(list)},
            {"host",
             {{"forward_launch_s", to_seconds(costs.forward_launch)},
              {"backward_launch_s", to_seconds(costs.backward_launch)},
              {"optimizer_launch_s", to_seconds(costs.optimizer_launch)},
              {"input_launch_s", to_seconds(costs.input_launch)},
              {"collective_s", to_seconds(costs.collective)},
              {"wait_s", to_seconds(costs.wait)},
              {"iteration_s", to_seconds(costs.iteration)},
              {"batch_s", to_seconds(costs.batch)},
              {"blocking_copy_s", to_seconds(costs.blocking_copy)},
              {"kernel_s", to_seconds(host.kernel)},
              {"ranks", std::move(ranks)}}}};
}

std::string host_yaml(const std::vector<TraceRecord>& records, const experiment::HostFit& fit) {
    std::string text =
        fmt::format("# Host of {}, from {} traces by `astrolabe calibrate`; host time of a step:\n",
                    records.front().device, records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        text +=
            fmt::format("# rank {}: {}, {} by the others; {}, hash {}\n", records[i].rank,
                        readable(fit.ranks[i].measured), readable(fit.ranks[i].fitted),
                        std::filesystem::path(records[i].file).filename().string(), records[i].fingerprint);
    }
    text += fmt::format("kernel: {}\nhost:\n", to_string(fit.kernel));
    for (const auto& [key, time] : {std::pair{"forward_launch", fit.costs.forward_launch},
                                    {"backward_launch", fit.costs.backward_launch},
                                    {"optimizer_launch", fit.costs.optimizer_launch},
                                    {"input_launch", fit.costs.input_launch},
                                    {"collective", fit.costs.collective},
                                    {"wait", fit.costs.wait},
                                    {"iteration", fit.costs.iteration},
                                    {"batch", fit.costs.batch},
                                    {"blocking_copy", fit.costs.blocking_copy}}) {
        text += fmt::format("  {}: {}\n", key, to_string(time));
    }
    return text;
}

}  // namespace

int calibrate_traces(const CalibrateArguments& arguments) {
    std::vector<TraceRecord> records;
    std::size_t ranks = 0;
    for (const std::string& path : arguments.files) {
        const Result<experiment::KinetoTrace> trace = experiment::read_kineto_trace(path);
        if (!trace) {
            return report_invalid(trace.error());
        }
        Result<TraceRecord> record = experiment::record_steps(*trace);
        if (!record) {
            return report_invalid(record.error());
        }
        ranks = std::max(ranks, trace->ranks.value_or(0));
        if (!records.empty() && records.front().device != record->device) {
            return report_invalid(
                {calibrate_error(fmt::format("'{}' was recorded on '{}', '{}' on '{}'", path, record->device,
                                             arguments.files.front(), records.front().device),
                                 "calibrate one machine at a time")});
        }
        records.push_back(*std::move(record));
    }
    ranks = arguments.ranks.value_or(ranks);
    if (ranks < 2) {
        return report_invalid(
            {calibrate_error("the traces do not say of how many ranks they are", "add --ranks N")});
    }
    const Result<std::vector<RecordedCollective>> collectives = experiment::match_collectives(records);
    if (!collectives) {
        return report_invalid(collectives.error());
    }
    for (const TraceRecord& record : records) {
        if (record.kernels_of_step_before > 0) {
            print_warning(
                fmt::format("{}: warning: {} kernels were launched before the trace begins: not counted\n",
                            record.file, record.kernels_of_step_before));
        }
    }
    if (records.size() < ranks) {
        print_warning(
            fmt::format("astrolabe: warning: {} of {} ranks are given: times from the last start are upper "
                        "bounds\n",
                        records.size(), ranks));
    }
    const std::string machine = arguments.machine.empty() ? records.front().device : arguments.machine;
    const experiment::HostFit host = experiment::fit_host(records);
    const TraceFit fit = fit_recorded(records, *collectives, ranks, machine);
    const std::string found = arguments.json
                                  ? to_json(records, *collectives, host).dump(2) + "\n"
                                  : fmt::format("{}, {} of {} ranks\n{}\n{}\n{}\n{}", machine, records.size(),
                                                ranks, steps_table(records), phases_table(records),
                                                collectives_table(*collectives), host_table(host));
    if (!arguments.out.empty() && fit.fits.empty()) {
        print_out(found);
        return report_invalid({calibrate_error("no collective of the traces can be fitted",
                                               "record more sizes, and more ranks of a run")});
    }
    const bool has_fits = !fit.fits.empty();
    const int code = write_calibration(
        {{arguments.out, "# Exposed times of collectives, from traces by `astrolabe calibrate`.\n" +
                             to_yaml(experiment::measured_collectives_schema().write(fit.measured))},
         {arguments.device_out, host_yaml(records, host)},
         {has_fits ? arguments.plot : "", has_fits ? experiment::fit_plot(machine, fit.fits) : ""}});
    print_out(found);
    return code;
}

}  // namespace astrolabe::cli
