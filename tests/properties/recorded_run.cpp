#include "recorded_run.hpp"

#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/records/recorder.hpp>
#include <astrolabe/experiment/results/results.hpp>

namespace astrolabe::testing {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::string field;
    for (std::istringstream rest(line); std::getline(rest, field, ',');) {
        fields.push_back(field);
    }
    return fields;
}

/// "0.000001234567" in picoseconds, of which a file has every one.
std::int64_t picoseconds(const std::string& seconds) {
    const std::size_t point = seconds.find('.');
    return std::stoll(seconds.substr(0, point)) * kPicosecondsPerSecond +
           std::stoll(seconds.substr(point + 1));
}

/// The rows of flows.csv: no message faster than on an empty network, and every byte once.
std::vector<Violation> check_flows(const experiment::Run& run, const std::filesystem::path& file) {
    std::ifstream rows(file);
    std::string line;
    std::getline(rows, line);
    Bytes bytes;
    std::uint64_t early = 0;
    std::string worst;
    std::int64_t worst_by = 0;
    while (std::getline(rows, line)) {
        const std::vector<std::string> fields = fields_of(line);
        // source,destination,bytes,traffic_class,iteration,operation,sent_s,delivered_s,time_s,ideal_s,slowdown
        if (fields.size() < 10) {
            return {{"records are whole", "a row of flows.csv: " + line}};
        }
        bytes += Bytes(std::stoll(fields[2]));
        const std::int64_t time = picoseconds(fields[8]);
        const std::int64_t ideal = picoseconds(fields[9]);
        if (time < ideal) {
            ++early;
            if (ideal - time > worst_by) {
                worst_by = ideal - time;
                worst = line;
            }
        }
    }
    std::vector<Violation> violations;
    if (early > 0) {
        violations.push_back({"no message beats its ideal time",
                              fmt::format("{} do, one by {} ps: {}", early, worst_by, worst)});
    }
    if (bytes != run.network.bytes_delivered) {
        violations.push_back(
            {"bytes are conserved", fmt::format("{} B in flows.csv, {} B delivered", bytes.count(),
                                                run.network.bytes_delivered.count())});
    }
    return violations;
}

std::vector<Violation> check_path(const experiment::Run& run) {
    Time end;
    for (const experiment::PathSegment& segment : run.path) {
        Time sum;
        for (const Time time : segment.times) {
            sum += time;
        }
        if (segment.from != end || (!segment.times.empty() && sum != segment.to - segment.from)) {
            return {{"the critical path tiles the run",
                     fmt::format("a segment from {} to {} ps after one to {} ps, of parts of {} ps",
                                 segment.from.count(), segment.to.count(), end.count(), sum.count())}};
        }
        end = segment.to;
    }
    if (!run.flows && end != run.execution.total) {
        return {{"the critical path tiles the run", fmt::format("it ends at {} ps, the run at {} ps",
                                                                end.count(), run.execution.total.count())}};
    }
    return {};
}

/// Intervals of throughput.csv sum to what was delivered.
std::vector<Violation> check_throughput(const experiment::Run& run, const std::filesystem::path& file) {
    std::ifstream rows(file);
    std::string line;
    std::getline(rows, line);
    std::int64_t delivered = 0;
    while (std::getline(rows, line)) {
        // from_s,to_s,payload_bytes,wire_bytes,share,delivered_bytes,completed_bytes
        const std::vector<std::string> fields = fields_of(line);
        if (fields.size() != 7) {
            return {{"records are whole", "a row of throughput.csv: " + line}};
        }
        delivered += std::stoll(fields[5]);
    }
    if (!run.background && !run.flows && delivered != run.network.bytes_delivered.count()) {
        return {{"bytes are conserved", fmt::format("{} B in throughput.csv, {} B delivered", delivered,
                                                    run.network.bytes_delivered.count())}};
    }
    return {};
}

/// Whether a stall is one that its network can have, and says so: racks that a rotor which stays away has
/// joined, or links whose flow control is locked in a circle where routes need not lead up and then down.
bool is_named(const std::string& stall, const experiment::Experiment& experiment) {
    static const std::set<std::string> kUpAndDown{"flat", "leaf_spine", "fat_tree", "hierarchical",
                                                  "fully_connected"};
    const auto says = [&](const char* words) { return stall.find(words) != std::string::npos; };
    return (!experiment.failures.empty() && says("are not connected since")) ||
           (experiment.fabric != nullptr && !kUpAndDown.contains(experiment.fabric->kind()) &&
            says("the flow control of these links is locked in a circle"));
}

void append(std::vector<Violation>& all, std::vector<Violation> more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Result<experiment::Experiment> Bench::load(const std::string& text, std::vector<std::string> set) const {
    return experiment::load_experiment(folder_.write("drawn.yaml", text), {std::move(set), std::nullopt},
                                       components_);
}

std::vector<Violation> run_recorded(const experiment::Experiment& experiment, const Bench& bench,
                                    std::optional<experiment::Run>& run) {
    const std::filesystem::path out = bench.folder().path() / "out";
    Result<experiment::OutputFolder> folder = experiment::OutputFolder::open_for_run(out);
    if (!folder) {
        return {{"records are whole", render(folder.error())}};
    }
    Result<std::unique_ptr<experiment::Recorder>> recorder = experiment::Recorder::open({.flows = true,
                                                                                         .packet_trace = {},
                                                                                         .trace_links = {},
                                                                                         .queue_series = {},
                                                                                         .throughput = "10us",
                                                                                         .timeline = true},
                                                                                        experiment, &*folder);
    if (!recorder) {
        return {{"records are whole", render(recorder.error())}};
    }
    experiment::RunObservers observers = (*recorder)->observers();
    observers.causes = experiment::Causes::kAlways;
    run = experiment::run_experiment(experiment, {}, observers);
    (*recorder)->sum_up(*run);
    if (!run->execution.finished) {
        return is_named(run->execution.stall, experiment)
                   ? std::vector<Violation>()
                   : std::vector<Violation>{{"finishes", "stalls: " + run->execution.stall}};
    }
    std::vector<Violation> violations;
    Diagnostics errors = (*recorder)->finish(*run);
    for (Diagnostic& error : experiment::write_results(*folder, experiment, *run)) {
        errors.push_back(std::move(error));
    }
    if (!errors.empty()) {
        violations.push_back({"records are whole", render(errors)});
    }
    append(violations, check_flows(*run, out / "flows.csv"));
    append(violations, check_throughput(*run, out / "throughput.csv"));
    append(violations, check_path(*run));
    return violations;
}

}  // namespace astrolabe::testing
