#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/experiment/results/jobs_results.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/experiment/results/run_files.hpp>

namespace astrolabe::experiment {
namespace {

using JobsJson = nlohmann::ordered_json;

double mean_of_times(const std::vector<Time>& times) {
    MeanTime sum;
    for (const Time time : times) {
        sum.add(time);
    }
    return sum.seconds(times.size());
}

std::vector<Time> all_iterations(const JobsRun& run) {
    std::vector<Time> times;
    for (const JobResult& job : run.jobs) {
        times.insert(times.end(), job.iteration_times.begin(), job.iteration_times.end());
    }
    return times;
}

JobsJson optional_json(const std::optional<double>& value) {
    return value ? JobsJson(*value) : JobsJson();
}

void add_percentiles(JobsJson& json, const std::vector<Time>& times) {
    json["mean_iteration_time_s"] = mean_of_times(times);
    json["p50_iteration_time_s"] = to_seconds(percentile(times, 0.5));
    json["p99_iteration_time_s"] = to_seconds(percentile(times, 0.99));
    json["max_iteration_time_s"] = to_seconds(percentile(times, 1));
}

JobsJson times_json(const std::vector<Time>& times) {
    JobsJson list = JobsJson::array();
    for (const Time time : times) {
        list.push_back(to_seconds(time));
    }
    return list;
}

JobsJson traffic_json(const std::array<Bytes, system::kCollectiveKinds>& bytes) {
    JobsJson traffic = JobsJson::object();
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        traffic[collective_key(kind)] = bytes[kind].count();
    }
    return traffic;
}

double exposed_seconds(const MeanBreakdown& means) {
    double sum = 0;
    for (const auto& [cause, seconds] : means.exposed) {
        sum += seconds;
    }
    return sum;
}

JobsJson job_json(const JobOnNetwork& job, const JobResult& result) {
    JobsJson hosts = JobsJson::array();
    for (const network::HostId host : result.hosts) {
        hosts.push_back(host.index());
    }
    const MeanBreakdown means = mean_breakdown(result.first.execution);
    JobsJson json{{"name", job.name},
                  {"kind", job.kind},
                  {"ranks", job.experiment.cluster.ranks},
                  {"hosts", std::move(hosts)},
                  {"arrival_s", to_seconds(result.arrival)},
                  {"start_s", to_seconds(result.start)},
                  {"end_s", to_seconds(result.end)},
                  {"runs", result.runs},
                  {"run_time_s", times_json(result.run_times)},
                  {"iteration_time_s", times_json(result.iteration_times)}};
    add_percentiles(json, result.iteration_times);
    json["alone_s"] = result.alone ? JobsJson(to_seconds(*result.alone)) : JobsJson();
    json["slowdown"] = optional_json(result.slowdown());
    json["lower_bound_s"] =
        to_seconds(result.first.bounds.value()) / static_cast<double>(result.first.iteration_times.size());
    json["compute_s"] = means.compute;
    json["exposed_s"] = exposed_seconds(means);
    json["drain_s"] = means.drain;
    json["traffic_bytes"] = traffic_json(result.first.traffic);
    json["fingerprint"] = result.fingerprint;
    return json;
}

JobsJson pairs_json(const Experiment& experiment, const JobsRun& run) {
    JobsJson pairs = JobsJson::array();
    for (const JobPair& pair : run.pairs) {
        JobsJson link;
        if (pair.link) {
            const network::Fabric& fabric = *experiment.fabric;
            link = {{"link", pair.link->index()},
                    {"source", fabric.node(fabric.source(*pair.link)).name},
                    {"destination", fabric.node(fabric.target(*pair.link)).name}};
        }
        pairs.push_back({{"job", experiment.jobs->jobs[pair.job].name},
                         {"other", experiment.jobs->jobs[pair.other].name},
                         {"slowdown", optional_json(pair.slowdown)},
                         {"shared_bytes", pair.shared_bytes},
                         {"shared_links", pair.shared_links},
                         {"busiest_shared_link", std::move(link)}});
    }
    return pairs;
}

std::array<Bytes, system::kCollectiveKinds> traffic_of_all(const JobsRun& run) {
    std::array<Bytes, system::kCollectiveKinds> sum{};
    for (const JobResult& job : run.jobs) {
        for (std::size_t kind = 0; kind < sum.size(); ++kind) {
            sum[kind] += job.first.traffic[kind];
        }
    }
    return sum;
}

/// By job, times over the length of its first run.
double weighted_mean(const JobsRun& run, double (*value)(const MeanBreakdown&)) {
    double sum = 0;
    for (const JobResult& job : run.jobs) {
        sum += value(mean_breakdown(job.first.execution));
    }
    return sum / static_cast<double>(run.jobs.size());
}

Run whole_network(const JobsRun& run) {
    Run whole;
    whole.network = run.network;
    whole.utilization = run.utilization;
    whole.execution.total = run.ended;
    return whole;
}

std::string jobs_line(std::string_view label, const std::string& text) {
    return fmt::format("  {:<12} {}\n", label, text);
}

std::string readable_or_dash(const std::optional<Time>& time) {
    return time ? readable(*time) : "-";
}

std::string two_digits(const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : "-";
}

}  // namespace

Time percentile(std::vector<Time> times, double share) {
    ASTROLABE_ASSERT(!times.empty(), "there are iterations");
    std::sort(times.begin(), times.end());
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(times.size()) - 1e-9));
    return times[std::clamp<std::size_t>(rank, 1, times.size()) - 1];
}

JobsJson jobs_summary_json(const Experiment& experiment, const JobsRun& run) {
    const JobSet& set = *experiment.jobs;
    const std::vector<Time> iterations = all_iterations(run);
    JobsJson jobs = JobsJson::array();
    double bound = 0;
    for (std::size_t i = 0; i < run.jobs.size(); ++i) {
        jobs.push_back(job_json(set.jobs[i], run.jobs[i]));
        bound += jobs.back()["lower_bound_s"].get<double>();
    }
    JobsJson summary{{"schema", kSchemaName},
                     {"name", experiment.name},
                     {"version", program_version()},
                     {"fingerprint", run.fingerprint},
                     {"seed", experiment.seed},
                     {"randomness", random_streams(experiment)},
                     {"ranks", set.ranks},
                     {"hosts", set.hosts},
                     {"network_kind", experiment.network_kind},
                     {"backend_kind", experiment.backend_kind},
                     {"iteration_time_s", times_json(iterations)}};
    add_percentiles(summary, iterations);
    summary["total_time_s"] = to_seconds(run.total);
    summary["lower_bound_s"] = bound / static_cast<double>(run.jobs.size());
    summary["compute_s"] = weighted_mean(run, [](const MeanBreakdown& means) { return means.compute; });
    summary["exposed_s"] = JobsJson{{"all", weighted_mean(run, exposed_seconds)}};
    summary["drain_s"] = weighted_mean(run, [](const MeanBreakdown& means) { return means.drain; });
    const auto traffic = traffic_of_all(run);
    Bytes sent;
    for (const Bytes bytes : traffic) {
        sent += bytes;
    }
    summary["traffic_bytes"] = traffic_json(traffic);
    summary["all_reduce_share"] =
        share_of(traffic[static_cast<std::size_t>(system::CollectiveKind::kAllReduce)], sent);
    summary["network"] = network_json(whole_network(run));
    summary["engine"] = engine_json(run.engine);
    summary["makespan_s"] = to_seconds(run.total);
    summary["jobs_count"] = run.jobs.size();
    double slowest = 0;
    double slowdowns = 0;
    for (const JobResult& job : run.jobs) {
        slowdowns += job.slowdown().value_or(0);
        slowest = std::max(slowest, job.slowdown().value_or(0));
    }
    const bool knows = run.fairness().has_value();
    summary["mean_slowdown"] =
        knows ? JobsJson(slowdowns / static_cast<double>(run.jobs.size())) : JobsJson();
    summary["max_slowdown"] = knows ? JobsJson(slowest) : JobsJson();
    summary["fairness"] = optional_json(run.fairness());
    summary["jobs"] = std::move(jobs);
    summary["interference"] = {{"slowdowns_by", set.interference ? "runs of pairs" : ""},
                               {"shared_bytes_by", set.shares_network() ? "routes" : ""},
                               {"pairs", pairs_json(experiment, run)}};
    return summary;
}

std::string jobs_text_summary(const Experiment& experiment, const JobsRun& run) {
    constexpr std::size_t kShownJobs = 32;
    const JobSet& set = *experiment.jobs;
    const std::vector<Time> iterations = all_iterations(run);
    std::string text =
        fmt::format("{}: {} jobs, {} ranks on {} ({} hosts), {}\n", experiment.name, run.jobs.size(),
                    set.ranks, experiment.network_kind, set.hosts, experiment.backend_kind);
    text += fmt::format("  {:<16} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "job", "ranks",
                        "start", "end", "p50", "p99", "bound", "alone", "slowdown");
    for (std::size_t i = 0; i < std::min(run.jobs.size(), kShownJobs); ++i) {
        const JobResult& job = run.jobs[i];
        const double bound =
            to_seconds(job.first.bounds.value()) / static_cast<double>(job.first.iteration_times.size());
        text += fmt::format("  {:<16} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n",
                            set.jobs[i].name, set.jobs[i].experiment.cluster.ranks, readable(job.start),
                            readable(job.end), readable(percentile(job.iteration_times, 0.5)),
                            readable(percentile(job.iteration_times, 0.99)), readable_seconds(bound),
                            readable_or_dash(job.alone), two_digits(job.slowdown()));
    }
    if (run.jobs.size() > kShownJobs) {
        text += fmt::format("  and {} more: --json, or jobs.csv of --out\n", run.jobs.size() - kShownJobs);
    }
    text += jobs_line("iterations",
                      fmt::format("p50 {}, p99 {}, max {} of {}", readable(percentile(iterations, 0.5)),
                                  readable(percentile(iterations, 0.99)), readable(percentile(iterations, 1)),
                                  iterations.size()));
    text += jobs_line("makespan", readable(run.total));
    if (run.fairness()) {
        text += jobs_line("fairness", fmt::format("{:.4f} (Jain's index of the slowdowns)", *run.fairness()));
    }
    constexpr std::size_t kShownPairs = 3;
    std::vector<JobPair> pairs = run.pairs;
    std::stable_sort(pairs.begin(), pairs.end(), [](const JobPair& a, const JobPair& b) {
        return std::pair(a.slowdown.value_or(0), a.shared_bytes) >
               std::pair(b.slowdown.value_or(0), b.shared_bytes);
    });
    for (std::size_t i = 0; i < std::min(pairs.size(), kShownPairs); ++i) {
        const JobPair& pair = pairs[i];
        std::string facts;
        if (pair.slowdown) {
            facts += fmt::format(", {:.3f} times as long as alone", *pair.slowdown);
        }
        if (pair.link) {
            const network::Fabric& fabric = *experiment.fabric;
            facts += fmt::format(", {} on {} shared links, most on {} to {}",
                                 readable(Bytes(static_cast<std::int64_t>(pair.shared_bytes))),
                                 pair.shared_links, fabric.node(fabric.source(*pair.link)).name,
                                 fabric.node(fabric.target(*pair.link)).name);
        }
        text += jobs_line(i == 0 ? "interference" : "", fmt::format("{} beside {}{}", set.jobs[pair.job].name,
                                                                    set.jobs[pair.other].name, facts));
    }
    if (run.utilization.busiest) {
        const network::Fabric& fabric = *experiment.fabric;
        text += jobs_line("links", fmt::format("busiest {} to {}, {:.1f} % used, mean {:.1f} %",
                                               fabric.node(fabric.source(*run.utilization.busiest)).name,
                                               fabric.node(fabric.target(*run.utilization.busiest)).name,
                                               100.0 * run.utilization.max, 100.0 * run.utilization.mean));
    }
    text +=
        jobs_line("engine", fmt::format("{:.2f} s, {} events, {} peak memory, fingerprint {}",
                                        run.engine.wall_seconds, run.engine.events,
                                        readable(Bytes(static_cast<std::int64_t>(run.engine.peak_rss_bytes))),
                                        run.fingerprint));
    if (!run.engine.folding_refusal.empty()) {
        text += jobs_line("not folded", run.engine.folding_refusal);
    }
    return text;
}

std::string jobs_csv(const Experiment& experiment, const JobsRun& run) {
    std::string csv =
        "job,kind,ranks,arrival_s,start_s,end_s,runs,mean_iteration_time_s,p50_iteration_time_s,"
        "p99_iteration_time_s,alone_s,slowdown\n";
    for (std::size_t i = 0; i < run.jobs.size(); ++i) {
        const JobResult& job = run.jobs[i];
        const JobOnNetwork& what = experiment.jobs->jobs[i];
        fmt::format_to(
            std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(what.name), what.kind,
            what.experiment.cluster.ranks, exact_seconds(job.arrival), exact_seconds(job.start),
            exact_seconds(job.end), job.runs, mean_of_times(job.iteration_times),
            exact_seconds(percentile(job.iteration_times, 0.5)),
            exact_seconds(percentile(job.iteration_times, 0.99)), job.alone ? exact_seconds(*job.alone) : "",
            job.slowdown() ? fmt::format("{}", *job.slowdown()) : "");
    }
    return csv;
}

std::string job_iterations_csv(const Experiment& experiment, const JobsRun& run) {
    std::string csv = "job,iteration,time_s\n";
    for (std::size_t i = 0; i < run.jobs.size(); ++i) {
        for (std::size_t j = 0; j < run.jobs[i].iteration_times.size(); ++j) {
            fmt::format_to(std::back_inserter(csv), "{},{},{}\n", csv_field(experiment.jobs->jobs[i].name), j,
                           exact_seconds(run.jobs[i].iteration_times[j]));
        }
    }
    return csv;
}

std::string interference_csv(const Experiment& experiment, const JobsRun& run) {
    std::string csv = "job,other,slowdown,shared_bytes,shared_links,source,destination\n";
    const network::Fabric& fabric = *experiment.fabric;
    for (const JobPair& pair : run.pairs) {
        fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{}\n",
                       csv_field(experiment.jobs->jobs[pair.job].name),
                       csv_field(experiment.jobs->jobs[pair.other].name),
                       pair.slowdown ? fmt::format("{}", *pair.slowdown) : "", pair.shared_bytes,
                       pair.shared_links,
                       pair.link ? csv_field(fabric.node(fabric.source(*pair.link)).name) : "",
                       pair.link ? csv_field(fabric.node(fabric.target(*pair.link)).name) : "");
    }
    return csv;
}

Diagnostics write_jobs_results(const OutputFolder& folder, const Experiment& experiment, const JobsRun& run) {
    const JobSet& set = *experiment.jobs;
    std::vector<std::pair<std::string, std::string>> files{
        {"resolved.yaml", fmt::format("# resolved by astrolabe {}, fingerprint {}\n{}", program_version(),
                                      run.fingerprint, to_yaml(experiment.resolved))},
        {"jobs.csv", jobs_csv(experiment, run)},
        {"iterations.csv", job_iterations_csv(experiment, run)},
        {"interference.csv", interference_csv(experiment, run)}};
    if (set.shares_network()) {
        files.emplace_back("links.csv", links_csv(set.jobs.front().experiment, whole_network(run)));
    }
    Diagnostics errors;
    const auto note = [&errors](std::optional<Diagnostic> error) {
        if (error) {
            errors.push_back(*std::move(error));
        }
    };
    for (const auto& [name, content] : files) {
        note(folder.write(name, content));
    }
    for (std::size_t i = 0; i < run.jobs.size(); ++i) {
        Result<OutputFolder> own = folder.folder("jobs/" + set.jobs[i].name);
        if (!own) {
            errors.insert(errors.end(), own.error().begin(), own.error().end());
            continue;
        }
        const Experiment& one = set.jobs[i].experiment;
        const Run& first = run.jobs[i].first;
        const std::size_t before = errors.size();
        note(own->write("operations.csv", operations_csv(one, first)));
        note(own->write("critical_path.csv", critical_path_csv(one, first)));
        if (errors.size() == before) {  // a summary says that all of the job is there
            note(write_summary(*own, summary_json(one, first)));
        }
    }
    if (errors.empty()) {
        note(write_summary(folder, jobs_summary_json(experiment, run)));
    }
    return errors;
}

}  // namespace astrolabe::experiment
