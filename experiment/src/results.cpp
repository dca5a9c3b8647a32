#include "cluster.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/results.hpp>

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;

/// Sums over ranks in picoseconds fit 128 bits; the mean is taken once, at the end.
class MeanTime {
public:
    void add(Time time) { sum_ += time.count(); }
    [[nodiscard]] double seconds(std::size_t ranks) const {
        return static_cast<double>(sum_) / static_cast<double>(ranks) /
               static_cast<double>(kPicosecondsPerSecond);
    }

private:
    detail::Int128 sum_ = 0;
};

struct MeanBreakdown {
    double compute = 0;
    double drain = 0;
    std::map<std::string, double> exposed;
};

MeanBreakdown mean_breakdown(const system::ExecutionReport& report) {
    MeanTime compute;
    MeanTime drain;
    std::map<std::string, MeanTime> exposed;
    for (const system::RankRecord& rank : report.ranks) {
        compute.add(rank.compute);
        drain.add(rank.drain);
        for (const auto& [cause, time] : rank.exposed) {
            exposed[cause].add(time);
        }
    }
    const std::size_t ranks = report.ranks.size();
    MeanBreakdown means{compute.seconds(ranks), drain.seconds(ranks), {}};
    for (const auto& [cause, time] : exposed) {
        means.exposed[cause] = time.seconds(ranks);
    }
    return means;
}

/// Mean of an iteration: the run over the number of iterations.
double mean_iteration_seconds(const Run& run) {
    return to_seconds(run.execution.total) / static_cast<double>(run.iteration_times.size());
}

Bytes total_traffic(const Run& run) {
    Bytes sum;
    for (const Bytes bytes : run.traffic) {
        sum += bytes;
    }
    return sum;
}

double share_of(Bytes part, Bytes whole) {
    return whole > Bytes(0) ? static_cast<double>(part.count()) / static_cast<double>(whole.count()) : 0.0;
}

Bytes traffic_of_kind(const Run& run, system::CollectiveKind kind) {
    return run.traffic[static_cast<std::size_t>(kind)];
}

/// Seconds with every picosecond: 12 decimals.
std::string exact_seconds(Time time) {
    return fmt::format("{}.{:012}", time.count() / kPicosecondsPerSecond,
                       time.count() % kPicosecondsPerSecond);
}

/// RFC 4180 quoting where a text needs it.
std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

std::string readable_seconds(double seconds) {
    return readable(Time(static_cast<std::int64_t>(seconds * 1e12)));
}

}  // namespace

std::string_view program_version() {
    return ASTROLABE_VERSION;
}

Json network_json(const Run& run) {
    return {{"messages", run.network.messages},
            {"bytes_delivered", run.network.bytes_delivered.count()},
            {"packets", run.network.packets},
            {"packet_hops", run.network.packet_hops},
            {"drops", run.network.drops},
            {"retransmissions", run.network.retransmissions},
            {"timeouts", run.network.timeouts},
            {"ecn_marks", run.network.ecn_marks},
            {"queue_peak_bytes", run.network.queue_peak.count()},
            {"max_link_utilization", run.utilization.max},
            {"mean_link_utilization", run.utilization.mean}};
}

Json engine_json(const EngineFacts& engine) {
    return {{"events", engine.events},
            {"wall_s", engine.wall_seconds},
            {"peak_rss_bytes", engine.peak_rss_bytes}};
}

namespace {

/// Total length of the union of time intervals.
Time covered(std::vector<std::pair<Time, Time>> intervals) {
    std::sort(intervals.begin(), intervals.end());
    Time sum;
    Time end;
    for (const auto& [start, finish] : intervals) {
        sum += std::max(finish, end) - std::max(start, end);
        end = std::max(end, finish);
    }
    return sum;
}

Json sizes_json(const system::MessageSizes& sizes) {
    Json list = Json::array();
    for (std::size_t width = 0; width < sizes.size(); ++width) {
        if (sizes[width] > 0) {
            const std::uint64_t least = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
            list.push_back({{"at_least_bytes", least}, {"messages", sizes[width]}});
        }
    }
    return list;
}

/// The stages of one (dimension, kind) of all operations of a kind.
struct Phase {
    system::StageTraffic traffic;
    std::vector<std::pair<Time, Time>> intervals;
    MeanTime under_way;
    MeanTime waiting;
};

void add_stages(std::vector<Phase>& phases, const system::OperationTraffic& counted,
                const system::OperationRecord& record) {
    for (const system::StageTraffic& stage : counted.stages) {
        const auto is_same = [&](const auto& other) { return other.stage == stage.stage; };
        auto phase = std::find_if(phases.begin(), phases.end(),
                                  [&](const Phase& known) { return is_same(known.traffic); });
        if (phase == phases.end()) {
            phases.emplace_back();
            phase = phases.end() - 1;
            phase->traffic.stage = stage.stage;
        }
        phase->traffic.add(stage);
        const auto ran = std::find_if(record.stages.begin(), record.stages.end(), is_same);
        if (ran != record.stages.end()) {
            phase->intervals.emplace_back(ran->first_start, ran->last_finish);
            phase->under_way.add(ran->under_way);
            phase->waiting.add(ran->waiting);
        }
    }
}

/// What the operations of one kind of collective did together.
Json collective_json(const Experiment& experiment, const Run& run, std::size_t kind) {
    std::uint64_t count = 0;
    std::uint64_t messages = 0;
    std::vector<std::pair<Time, Time>> intervals;
    std::vector<Phase> phases;
    MeanTime exposed;
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        const system::Operation& operation = experiment.program.operations[id];
        if (operation.is_compute() || static_cast<std::size_t>(operation.collective().kind) != kind) {
            continue;
        }
        const system::OperationRecord& record = run.execution.operations[id];
        ++count;
        messages += record.messages;
        intervals.emplace_back(record.first_issue, record.last_finish);
        exposed.add(record.exposed);
        add_stages(phases, run.traffic_counts.of(id), record);
    }
    const std::size_t ranks = experiment.cluster.ranks;
    const double total = to_seconds(run.execution.total);
    const auto share = [total](double seconds) { return total > 0 ? seconds / total : 0.0; };
    Json phase_list = Json::array();
    for (const Phase& phase : phases) {
        const double time = to_seconds(covered(phase.intervals));
        phase_list.push_back({{"dimension", phase.traffic.stage.dimension},
                              {"kind", std::string(system::to_string(phase.traffic.stage.kind))},
                              {"bytes", phase.traffic.bytes.count()},
                              {"messages", phase.traffic.messages},
                              {"time_s", time},
                              {"share", share(time)},
                              {"chunk_time_s", phase.under_way.seconds(ranks)},
                              {"chunk_wait_s", phase.waiting.seconds(ranks)},
                              {"message_sizes", sizes_json(phase.traffic.sizes)}});
    }
    const double time = to_seconds(covered(std::move(intervals)));
    return {{"kind", collective_key(kind)},
            {"algorithm", experiment.cluster.algorithms[kind]},
            {"count", count},
            {"bytes", run.traffic[kind].count()},
            {"messages", messages},
            {"time_s", time},
            {"share", share(time)},
            {"exposed_s", exposed.seconds(ranks)},
            {"phases", std::move(phase_list)}};
}

Json collectives_json(const Experiment& experiment, const Run& run) {
    std::array<bool, system::kCollectiveKinds> occurs{};
    for (const system::Operation& operation : experiment.program.operations) {
        if (!operation.is_compute()) {
            occurs[static_cast<std::size_t>(operation.collective().kind)] = true;
        }
    }
    Json list = Json::array();
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        if (occurs[kind]) {
            list.push_back(collective_json(experiment, run, kind));
        }
    }
    return list;
}

/// Largest over mean; 1 where there is nothing to share.
template <class Quantity>
double max_over_mean(const std::vector<Quantity>& values) {
    double sum = 0;
    double most = 0;
    for (const Quantity value : values) {
        sum += static_cast<double>(value.count());
        most = std::max(most, static_cast<double>(value.count()));
    }
    return sum > 0 ? most * static_cast<double>(values.size()) / sum : 1.0;
}

Json imbalance_json(const Experiment& experiment, const Run& run) {
    std::vector<Bytes> sent = run.traffic_counts.sent_by_rank();
    sent.resize(experiment.cluster.ranks);
    std::vector<Time> compute;
    for (const system::RankRecord& rank : run.execution.ranks) {
        compute.push_back(rank.compute);
    }
    return {{"bytes_sent", max_over_mean(sent)}, {"compute", max_over_mean(compute)}};
}

/// Largest over mean of what differs between ranks in one operation; empty where nothing does.
std::string imbalance_of(const system::Operation& operation) {
    if (operation.is_compute()) {
        const system::PerRank<Time>& duration = operation.compute().duration;
        std::vector<Time> times;
        for (std::size_t rank = 0; rank < duration.size(); ++rank) {
            times.push_back(duration[system::RankId(rank)]);
        }
        return times.empty() ? "" : fmt::format("{}", max_over_mean(times));
    }
    if (!operation.collective().is_uneven()) {
        return "";
    }
    std::vector<Bytes> held;
    std::vector<Bytes> received;
    for (const system::PairSizes& pairs : *operation.collective().pair_sizes) {
        for (std::size_t position = 0; position < pairs.positions(); ++position) {
            held.push_back(pairs.held(position));
            received.push_back(pairs.received(position));
        }
    }
    return fmt::format("{}", std::max(max_over_mean(held), max_over_mean(received)));
}

/// By operation, names joined by ';': of a compute operation the collectives it waited for, of a collective
/// the compute operations that waited for it.
std::vector<std::string> causes_of(const system::Program& program, const system::ExecutionReport& report) {
    std::vector<std::string> causes(program.operations.size());
    const auto add = [&](std::size_t to, const std::string& name) {
        causes[to] += (causes[to].empty() ? "" : ";") + name;
    };
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const system::Operation& operation = program.operations[system::OperationId(i)];
        if (!operation.is_compute()) {
            continue;
        }
        for (const system::OperationId dependency : operation.dependencies) {
            if (!program.operations[dependency].is_compute() &&
                report.operations[dependency].exposed > Time(0)) {
                add(i, program.operations[dependency].name);
                add(dependency.index(), operation.name);
            }
        }
    }
    return causes;
}

}  // namespace

Json summary_json(const Experiment& experiment, const Run& run) {
    const MeanBreakdown means = mean_breakdown(run.execution);
    Json iteration_times = Json::array();
    for (const Time time : run.iteration_times) {
        iteration_times.push_back(to_seconds(time));
    }
    Json exposed = Json::object();
    for (const auto& [cause, seconds] : means.exposed) {
        exposed[cause] = seconds;
    }
    Json traffic = Json::object();
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        traffic[collective_key(kind)] = run.traffic[kind].count();
    }
    return {
        {"schema", kSchemaName},
        {"name", experiment.name},
        {"version", program_version()},
        {"fingerprint", run.fingerprint},
        {"seed", experiment.seed},
        {"ranks", experiment.cluster.ranks},
        {"hosts", experiment.fabric->host_count()},
        {"network_kind", experiment.network_kind},
        {"backend_kind", experiment.backend_kind},
        {"iteration_time_s", std::move(iteration_times)},
        {"mean_iteration_time_s", mean_iteration_seconds(run)},
        {"total_time_s", to_seconds(run.execution.total)},
        {"lower_bound_s", to_seconds(run.bound.value()) / static_cast<double>(run.iteration_times.size())},
        {"compute_s", means.compute},
        {"exposed_s", std::move(exposed)},
        {"drain_s", means.drain},
        {"traffic_bytes", std::move(traffic)},
        {"all_reduce_share",
         share_of(traffic_of_kind(run, system::CollectiveKind::kAllReduce), total_traffic(run))},
        {"network", network_json(run)},
        {"collectives", collectives_json(experiment, run)},
        {"imbalance", imbalance_json(experiment, run)},
        {"engine", engine_json(run.engine)}};
}

std::string operations_csv(const Experiment& experiment, const Run& run) {
    const std::vector<std::string> causes = causes_of(experiment.program, run.execution);
    std::string csv =
        "iteration,operation,layer,kind,algorithm,groups,bytes_per_rank,chunks,issue_s,start_s,finish_s,"
        "bytes_sent,messages,exposed_mean_s,cause,imbalance\n";
    const auto ranks = static_cast<std::int64_t>(experiment.cluster.ranks);
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        const system::Operation& operation = experiment.program.operations[id];
        const system::OperationRecord& record = run.execution.operations[id];
        std::string kind = "compute";
        std::string algorithm;
        std::string groups;
        std::string bytes;
        if (!operation.is_compute()) {
            const system::CollectiveOperation& collective = operation.collective();
            const auto index = static_cast<std::size_t>(collective.kind);
            kind = collective_key(index);
            algorithm = experiment.cluster.algorithms[index];
            groups = std::to_string(experiment.program.partitions[collective.partition].groups.size());
            bytes = std::to_string(collective.size.count());
        }
        csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", operation.iteration,
                           csv_field(operation.name), csv_field(operation.layer), kind, algorithm, groups,
                           bytes, record.chunks, exact_seconds(record.first_issue),
                           exact_seconds(record.first_start), exact_seconds(record.last_finish),
                           record.bytes_sent.count(), record.messages, exact_seconds(record.exposed / ranks),
                           csv_field(causes[i]), imbalance_of(operation));
    }
    return csv;
}

std::string traffic_matrix_csv(const Experiment& experiment) {
    const system::TrafficMatrix matrix =
        system::traffic_matrix(experiment.program, experiment.cluster.options);
    std::string csv = "source,destination,bytes\n";
    for (std::size_t source = 0; source < matrix.ranks(); ++source) {
        for (std::size_t destination = 0; destination < matrix.ranks(); ++destination) {
            if (const Bytes bytes = matrix(source, destination); bytes > Bytes(0)) {
                fmt::format_to(std::back_inserter(csv), "{},{},{}\n", source, destination, bytes.count());
            }
        }
    }
    return csv;
}

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

Diagnostics write_results(const OutputFolder& folder, const Experiment& experiment, const Run& run) {
    const std::string resolved =
        fmt::format("# resolved by astrolabe {}, fingerprint {}\n{}", program_version(), run.fingerprint,
                    to_yaml(experiment.resolved));
    Diagnostics errors;
    std::vector<std::pair<std::string, std::string>> files{
        {"resolved.yaml", resolved},
        {"operations.csv", operations_csv(experiment, run)},
        {"summary.json", summary_json(experiment, run).dump(2) + "\n"}};
    if (experiment.cluster.ranks <= kMostMatrixRanks) {
        files.emplace_back("traffic_matrix.csv", traffic_matrix_csv(experiment));
    }
    for (const auto& [name, content] : files) {
        if (std::optional<Diagnostic> error = folder.write(name, content)) {
            errors.push_back(std::move(*error));
        }
    }
    return errors;
}

}  // namespace astrolabe::experiment
