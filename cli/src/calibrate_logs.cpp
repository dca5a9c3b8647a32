/// Logs of nccl-tests become a file of measured collectives.
#include "calibrate.hpp"
#include "console.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/experiment/calibration/fit_plot.hpp>
#include <astrolabe/experiment/calibration/nccl_log.hpp>
#include <astrolabe/experiment/results/fingerprint.hpp>

namespace astrolabe::cli {
namespace {

using Json = nlohmann::ordered_json;

/// What the user says wins over what the log says.
Result<experiment::NcclLog> read_log(const std::string& path, const CalibrateArguments& arguments,
                                     const std::string& text) {
    Result<experiment::NcclLog> log = experiment::parse_nccl_log(text, path);
    if (!log) {
        return log;
    }
    if (!arguments.collective.empty()) {
        log->kind = collective_named(arguments.collective);
    }
    log->ranks = arguments.ranks.value_or(log->ranks);
    if (!arguments.machine.empty()) {
        log->machine = arguments.machine;
    }
    if (!log->kind) {
        return calibrate_error(fmt::format("'{}' does not say which collective it measured", path),
                               "add --collective all-reduce, or name the file for it");
    }
    if (log->ranks < 2) {
        return calibrate_error(fmt::format("'{}' lists {} ranks, expected 2 or more", path, log->ranks),
                               "add --ranks N, if the lines '#  Rank  0 …' were cut off");
    }
    if (log->points.size() < 3 || log->points.size() > 64) {
        return calibrate_error(fmt::format("'{}' has {} sizes, expected 3 to 64", path, log->points.size()),
                               "measure with -b 8 -e 4G -f 2");
    }
    return log;
}

Result<experiment::FittedSeries> fit_log(const experiment::NcclLog& log, const std::string& path,
                                         const std::string& text, Time launch, std::size_t fit_every) {
    experiment::FittedSeries fit{.series = {}, .points = log.points};
    for (experiment::MeasuredPoint& point : fit.points) {
        if (point.time <= launch) {
            return calibrate_error(fmt::format("'{}': {} take {}, no longer than --launch {}", path,
                                               to_string(point.size), readable(point.time), readable(launch)),
                                   "--launch is the part of every time that is the host's");
        }
        point.time -= launch;
    }
    std::vector<experiment::MeasuredPoint> fitted;
    for (std::size_t i = 0; i < fit.points.size(); i += fit_every) {
        fitted.push_back(fit.points[i]);
    }
    if (fitted.size() < 3) {
        return calibrate_error(fmt::format("'{}': every {}th of {} sizes leaves {}, expected 3 or more", path,
                                           fit_every, fit.points.size(), fitted.size()),
                               "take a smaller --fit-every");
    }
    fit.series = experiment::fit_series(*log.kind, log.ranks, fitted);
    fit.series.launch = launch;
    fit.series.source = std::filesystem::path(path).filename().string();
    experiment::Fingerprint print;
    print.add(std::string_view(text));
    fit.series.fingerprint = print.text();
    return fit;
}

std::string rate_text(const std::optional<Bandwidth>& rate) {
    return rate ? fmt::format("+ size / {:.4g} GB/s", to_bytes_per_second(*rate) / 1e9) : "whatever the size";
}

/// Geometric mean of the ratios, all above one, of sizes that were not fitted, less one.
double predicted_error(const experiment::FittedSeries& fit, std::size_t fit_every) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < fit.points.size(); ++i) {
        if (i % fit_every != 0) {
            const Time predicted = experiment::time_of(fit.series, fit.points[i].size);
            sum += std::abs(std::log(to_seconds(predicted) / to_seconds(fit.points[i].time)));
            ++count;
        }
    }
    return count == 0 ? 0 : std::exp(sum / static_cast<double>(count)) - 1;
}

std::string table(const experiment::MeasuredCollectives& measured,
                  const std::vector<experiment::FittedSeries>& fits, std::size_t fit_every) {
    std::string text;
    if (measured.scaling) {
        text += fmt::format("steps: {} inside a node of {}, {} across nodes\n",
                            readable(measured.scaling->inside), measured.scaling->ranks_per_node,
                            readable(measured.scaling->across));
    }
    for (const experiment::FittedSeries& fit : fits) {
        const experiment::MeasuredSeries& series = fit.series;
        text += fmt::format("{} of {} ranks, {} sizes from {} to {} ({})\n", system::to_string(series.kind),
                            series.ranks, fit.points.size(), to_string(series.from),
                            to_string(fit.points.back().size), series.source);
        for (const experiment::TimePiece& piece : series.pieces) {
            text += fmt::format("  up to {:>9}  {:>10} {}\n", to_string(piece.up_to), readable(piece.latency),
                                rate_text(piece.rate));
        }
        text += fmt::format(
            "  error {:.1f} % mean, {:.1f} % at most; of sizes that are left out {:.1f} %, geometric {:.1f} "
            "%\n",
            100 * series.mean_error, 100 * series.largest_error, 100 * series.left_out_error,
            100 * series.left_out_geometric_error);
        if (fit_every > 1) {
            text += fmt::format("  sizes that were not fitted: geometric {:.1f} %\n",
                                100 * predicted_error(fit, fit_every));
        }
        for (std::size_t i = 0; i < fit.points.size(); ++i) {
            const experiment::MeasuredPoint& point = fit.points[i];
            const Time fitted = experiment::time_of(series, point.size);
            text +=
                fmt::format("    {:>9}  measured {:>10}  {:<9} {:>10}  {:+.1f} %\n", to_string(point.size),
                            readable(point.time), i % fit_every == 0 ? "fitted" : "predicted",
                            readable(fitted), 100 * (to_seconds(fitted) / to_seconds(point.time) - 1));
        }
    }
    return text;
}

Json to_json(const std::string& machine, const std::vector<experiment::FittedSeries>& fits) {
    Json list = Json::array();
    for (const experiment::FittedSeries& fit : fits) {
        Json pieces = Json::array();
        for (const experiment::TimePiece& piece : fit.series.pieces) {
            pieces.push_back(
                {{"up_to_bytes", piece.up_to.count()},
                 {"latency_s", to_seconds(piece.latency)},
                 {"rate_bytes_per_s", piece.rate ? Json(to_bytes_per_second(*piece.rate)) : Json()}});
        }
        Json points = Json::array();
        for (const experiment::MeasuredPoint& point : fit.points) {
            points.push_back({{"size_bytes", point.size.count()},
                              {"measured_s", to_seconds(point.time)},
                              {"fitted_s", to_seconds(experiment::time_of(fit.series, point.size))}});
        }
        list.push_back({{"collective", system::to_string(fit.series.kind)},
                        {"ranks", fit.series.ranks},
                        {"source", fit.series.source},
                        {"fingerprint", fit.series.fingerprint},
                        {"pieces", std::move(pieces)},
                        {"mean_error", fit.series.mean_error},
                        {"largest_error", fit.series.largest_error},
                        {"left_out_error", fit.series.left_out_error},
                        {"left_out_geometric_error", fit.series.left_out_geometric_error},
                        {"launch_s", to_seconds(fit.series.launch)},
                        {"points", std::move(points)}});
    }
    return {{"machine", machine}, {"series", std::move(list)}};
}

/// Nothing, or what keeps the logs from being one machine's.
std::optional<Diagnostic> conflict(const experiment::MeasuredCollectives& measured,
                                   const experiment::MeasuredSeries& next, const std::string& machine,
                                   const std::string& path) {
    if (!measured.machine.empty() && measured.machine != machine) {
        return calibrate_error(fmt::format("'{}' was measured on '{}', the logs before it on '{}'", path,
                                           machine, measured.machine),
                               "calibrate one machine at a time, or name it with --machine");
    }
    for (const experiment::MeasuredSeries& other : measured.series) {
        if (other.kind == next.kind && other.ranks == next.ranks) {
            return calibrate_error(fmt::format("'{}' has {} of {} ranks, and so has '{}'", path,
                                               system::to_string(next.kind), next.ranks, other.source),
                                   "give one log for each collective and number of ranks");
        }
    }
    return std::nullopt;
}

Result<Time> time_of_option(const std::string& option, const std::string& text) {
    if (text.empty()) {
        return Time(0);
    }
    const Parsed<Time> parsed = parse_time(text);
    if (const auto* failure = std::get_if<ParseFailure>(&parsed)) {
        return calibrate_error(option + ": " + failure->message, failure->hint);
    }
    return std::get<Time>(parsed);
}

/// What of each time is the host's, as the options say.
Result<Time> launch_of(const experiment::NcclLog& log, const CalibrateArguments& arguments) {
    Result<Time> whole = time_of_option("--launch", arguments.launch);
    Result<Time> of_device = time_of_option("--launch-per-device", arguments.launch_per_device);
    if (!whole || !of_device) {
        return whole ? of_device : whole;
    }
    constexpr std::int64_t kMost = 1000 * kPicosecondsPerSecond;  // as a time of a log
    const auto devices = static_cast<std::int64_t>(log.devices_per_process);
    if (*whole > Time(kMost) || *of_device > Time(kMost) / devices) {
        return calibrate_error(
            fmt::format("--launch {} and --launch-per-device {} of {} devices are over 1000 s",
                        readable(*whole), readable(*of_device), devices),
            "they are part of every time, and no time of a log is longer");
    }
    return *whole + *of_device * devices;
}

}  // namespace

int calibrate_logs(const CalibrateArguments& arguments) {
    experiment::MeasuredCollectives measured;
    std::size_t ranks_per_node = 0;
    std::vector<experiment::FittedSeries> fits;
    for (const std::string& path : arguments.files) {
        const Result<std::string> text = calibration_text(path);
        if (!text) {
            return report_invalid(text.error());
        }
        const Result<experiment::NcclLog> log = read_log(path, arguments, *text);
        if (!log) {
            return report_invalid(log.error());
        }
        const Result<Time> launch = launch_of(*log, arguments);
        if (!launch) {
            return report_invalid(launch.error());
        }
        Result<experiment::FittedSeries> fit = fit_log(*log, path, *text, *launch, arguments.fit_every);
        if (!fit) {
            return report_invalid(fit.error());
        }
        const std::string machine = log->machine.empty() ? "an unnamed machine" : log->machine;
        if (const std::optional<Diagnostic> error = conflict(measured, fit->series, machine, path)) {
            return report_invalid({*error});
        }
        if (log->devices_per_process > 1 && *launch == Time(0)) {
            print_warning(fmt::format(
                "{}: warning: one process launches on {} devices in turn, which is part of every time\n"
                "  hint: --launch-per-device takes off what a launch takes, where it is known\n",
                path, log->devices_per_process));
        }
        for (const std::size_t ranks : log->ranks_by_node) {
            ranks_per_node = std::max(ranks_per_node, ranks);
        }
        measured.machine = machine;
        measured.series.push_back(fit->series);
        fits.push_back(*std::move(fit));
    }
    ranks_per_node = arguments.ranks_per_node.value_or(ranks_per_node);
    if (ranks_per_node > 0) {
        measured.scaling = experiment::fit_scaling(measured.series, ranks_per_node);
    }
    const std::string yaml = "# Times of collectives, from logs of nccl-tests by `astrolabe calibrate`.\n" +
                             to_yaml(experiment::measured_collectives_schema().write(measured));
    const int code =
        write_calibration({{arguments.out, yaml},
                           {arguments.plot, arguments.plot.empty() ? "" : fit_plot(measured.machine, fits)}});
    print_out(arguments.json ? to_json(measured.machine, fits).dump(2) + "\n"
                             : table(measured, fits, arguments.fit_every));
    return code;
}

}  // namespace astrolabe::cli
