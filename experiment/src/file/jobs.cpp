#include "checks.hpp"
#include "jobs_section.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/random.hpp>
#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/file/equal_cost.hpp>
#include <astrolabe/experiment/file/file_keys.hpp>

namespace astrolabe {

template <>
struct EnumNames<experiment::JobPlacement> {
    static constexpr std::array<std::pair<std::string_view, experiment::JobPlacement>, 4> kNames{
        {{"packed", experiment::JobPlacement::kPacked},
         {"spread", experiment::JobPlacement::kSpread},
         {"random", experiment::JobPlacement::kRandom},
         {"by_rack", experiment::JobPlacement::kByRack}}};
};

}  // namespace astrolabe

namespace astrolabe::experiment {
namespace {

constexpr std::size_t kMostJobs = 100'000;
constexpr Range<Time> kJobTimes{Time(0), Time(8'640'000 * kPicosecondsPerSecond)};
constexpr Range<std::uint64_t> kJobSeeds{0, std::numeric_limits<std::int64_t>::max()};

/// One of the list, or an entry of the mix.
struct JobKeys {
    std::string name;
    double share = 1;
    ConfigNode workload;
    std::optional<std::uint32_t> ranks;
    std::vector<std::uint32_t> hosts;
    std::optional<ConfigNode> cluster;
    std::optional<JobPlacement> placement;
    Time start{};
    std::uint32_t repeat = 1;
    std::uint32_t priority = 0;
    ConfigNode node;  ///< that it was read from
};

struct JobsKeys {
    std::vector<JobKeys> list;
    std::vector<JobKeys> mix;
    std::optional<std::uint32_t> count;
    std::optional<double> load;
    std::optional<Time> mean_time_between_arrivals;
    std::optional<std::uint32_t> hosts;
    JobPlacement placement = JobPlacement::kPacked;
    std::optional<std::uint64_t> seed;
    bool queue = false;
    bool backfill = false;
    bool until_all_finished_once = false;
    bool slowdown = false;
    bool interference = false;
};

/// As names of folders, too.
ValidationErrors job_name_errors(const JobKeys& keys) {
    ValidationErrors errors;
    const bool is_plain = !keys.name.empty() && keys.name.front() != '.' &&
                          keys.name.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_-.") == std::string::npos;
    require(errors, is_plain, "name", fmt::format("'{}' is no name of a job", keys.name),
            "letters, digits, '_', '-' and '.', the first not a dot");
    return errors;
}

Schema<JobKeys> job_schema(bool is_drawn) {
    Schema<JobKeys> schema(is_drawn ? "kind of job" : "job",
                           is_drawn ? "jobs that are drawn" : "a training job on the network");
    const auto part = [](const char* key, bool required, std::string help) {
        return ParameterDescriptor{key, "mapping", required ? "" : "unset", required, {}, std::move(help),
                                   {}};
    };
    schema.required("name", &JobKeys::name, is_drawn ? "of them, with a number behind" : "of the job");
    if (is_drawn) {
        schema.optional("share", &JobKeys::share, "of the jobs, in proportion to those of the others",
                        {1e-9, 1e9});
    }
    schema
        .field(
            part("workload", true, "what it trains, as the section of an experiment of one job"),
            [](JobKeys& keys, const ConfigNode& node, ReadContext&) { keys.workload = node; },
            [](const JobKeys& keys) { return std::optional(keys.workload); })
        .optional("ranks", &JobKeys::ranks, "each on a host of its own; unset: as many as 'hosts' lists",
                  {1, 1U << 24});
    if (!is_drawn) {
        schema.list("hosts", &JobKeys::hosts, "of ranks 0, 1, …; empty: by the placement", false)
            .optional("start", &JobKeys::start, "when it arrives", kJobTimes);
    }
    schema.optional("placement", &JobKeys::placement, "of its ranks; unset: that of all jobs")
        .field(
            part("cluster", false, "what differs from the cluster of all jobs, key by key"),
            [](JobKeys& keys, const ConfigNode& node, ReadContext&) { keys.cluster = node; },
            [](const JobKeys& keys) { return keys.cluster; })
        .optional("repeat", &JobKeys::repeat, "times the workload runs, one after another", {1, 1U << 20})
        .optional("priority", &JobKeys::priority,
                  "traffic class of its messages, the larger the more urgent, on backends that have classes; "
                  "rules and collectives of its cluster that name a class keep it",
                  {0, 7})
        .check(job_name_errors)
        .complete([](JobKeys& keys, const ConfigNode& node, ReadContext&) { keys.node = node; });
    return schema;
}

ValidationErrors jobs_errors(const JobsKeys& keys) {
    ValidationErrors errors;
    require(errors, !keys.list.empty() || !keys.mix.empty(), "", "names no jobs",
            "give a list, or a mix to draw from");
    require(errors, keys.list.empty() || keys.mix.empty(), "mix", "is given beside a list",
            "list jobs, or draw them");
    for (const auto& [key, given] :
         {std::pair{"count", keys.count.has_value()}, std::pair{"load", keys.load.has_value()},
          std::pair{"mean_time_between_arrivals", keys.mean_time_between_arrivals.has_value()}}) {
        require(errors, !given || !keys.mix.empty(), key, "is of jobs that are drawn", "give a mix");
    }
    require(errors, keys.mix.empty() || keys.count.has_value() != keys.load.has_value(), "mix",
            "needs one of 'count' and 'load'", "the number of jobs, or the part of the hosts that they take");
    require(errors, !keys.backfill || keys.queue, "backfill", "has no effect", "it goes with queue: true");
    require(errors, !keys.until_all_finished_once || !keys.queue, "until_all_finished_once",
            "needs hosts for all jobs at once, and 'queue' gives them in turn", "leave one of the two out");
    require(errors, !keys.load || !keys.queue, "load", "is of jobs that all have hosts at once",
            "with queue: true give 'count' and 'mean_time_between_arrivals'");
    std::set<std::string> names;
    for (const std::vector<JobKeys>* jobs : {&keys.list, &keys.mix}) {
        for (std::size_t i = 0; i < jobs->size(); ++i) {
            require(errors, names.insert((*jobs)[i].name).second,
                    fmt::format("{}.{}.name", jobs == &keys.list ? "list" : "mix", i),
                    fmt::format("'{}' is the name of another job", (*jobs)[i].name), "names differ");
        }
    }
    return errors;
}

Schema<JobsKeys> jobs_schema() {
    Schema<JobsKeys> schema("jobs", "several jobs on one network");
    schema
        .list("list", &JobsKeys::list, job_schema(false),
              "the jobs; a list in place of the section is this one", "[{name: a, workload: …, ranks: 16}]")
        .list("mix", &JobsKeys::mix, job_schema(true), "kinds of jobs to draw from",
              "[{name: a, share: 40, workload: …, ranks: 16}]")
        .optional("count", &JobsKeys::count, "jobs that are drawn", {1, kMostJobs})
        .optional("load", &JobsKeys::load, "part of the hosts for which jobs are drawn, as long as they fit",
                  {0.0, 1.0})
        .optional("mean_time_between_arrivals", &JobsKeys::mean_time_between_arrivals,
                  "of jobs that are drawn, exponential; unset: all arrive at 0", {Time(1), kJobTimes.max})
        .optional("hosts", &JobsKeys::hosts,
                  "in all, of a network that is built for its job, of which every job gets a part; unset: as "
                  "many as the jobs have ranks",
                  {1, 1U << 24})
        .optional("placement", &JobsKeys::placement,
                  "hosts of a job: the first that are free, one of every switch in turn, drawn at random, or "
                  "on as few switches as possible")
        .optional("seed", &JobsKeys::seed, "of what is drawn; unset: that of the experiment", kJobSeeds)
        .optional("queue", &JobsKeys::queue,
                  "jobs get hosts when they start, first come, first served; else all of them at once")
        .optional("backfill", &JobsKeys::backfill, "a job that fits starts before earlier ones that do not")
        .optional("until_all_finished_once", &JobsKeys::until_all_finished_once,
                  "every job starts over until all have finished once; the first run counts")
        .optional("slowdown", &JobsKeys::slowdown,
                  "run every job alone, too, to say how much longer it takes")
        .optional("interference", &JobsKeys::interference,
                  "run every pair of jobs, too, to say who slows whom; implies 'slowdown'")
        .check(jobs_errors);
    return schema;
}

/// `over` takes precedence, mapping by mapping; one that names a kind or an algorithm replaces the whole.
/// Linear in the entries of both.
void merge_cluster(ConfigNode& base, const ConfigNode& over) {
    if (!base.is_mapping() || !over.is_mapping() || over.find("kind") != nullptr ||
        over.find("algorithm") != nullptr) {
        base = over;
        return;
    }
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < base.entries.size(); ++i) {
        places.emplace(base.entries[i].key, i);
    }
    for (const ConfigEntry& entry : over.entries) {
        const auto found = places.find(entry.key);
        if (found != places.end()) {
            merge_cluster(base.entries[found->second].value, entry.value);
        } else {
            base.entries.push_back(entry);
        }
    }
    base.where = over.where;
}

/// Uniform in [0, 1), in steps of 2^-53.
double drawn_fraction(RandomStream& random) {
    return static_cast<double>(random.next() >> 11) * 0x1p-53;
}

std::size_t ranks_of(const JobKeys& keys) {
    return keys.ranks.value_or(static_cast<std::uint32_t>(keys.hosts.size()));
}

/// A job that is to run.
struct PlannedJob {
    const JobKeys* keys;
    std::string name;
    Time start;
    std::vector<network::HostId> hosts;  ///< empty: those of a network of its own
};

class JobsReader {
public:
    JobsReader(const ConfigNode& root, const JobsKeys& keys, const ConfigNode& section, std::uint64_t seed,
               const Registry<network::BackendMaker>::Configured& backend, const ReadJob& read_job,
               ReadContext& context)
        : root_(root),
          keys_(keys),
          section_(section),
          seed_(keys.seed.value_or(seed)),
          backend_(backend),
          read_job_(read_job),
          context_(context) {}

    /// `fabric` is null where every job has a network of its own.
    std::shared_ptr<const JobSet> read(std::shared_ptr<const network::Fabric> fabric) {
        set_.fabric = std::move(fabric);
        set_.hosts = set_.fabric != nullptr ? set_.fabric->host_count() : keys_.hosts.value_or(0);
        set_.seed = seed_;
        set_.queue = keys_.queue;
        set_.backfill = keys_.backfill;
        set_.until_all_finished_once = keys_.until_all_finished_once;
        set_.interference = keys_.interference;
        set_.slowdown = keys_.slowdown || keys_.interference;
        check_hosts();
        if (context_.error_count() > 0) {
            return nullptr;
        }
        plan();
        if (!context_.error_count()) {
            place_jobs();
        }
        for (const PlannedJob& job : planned_) {
            if (context_.error_count() > 0) {
                return nullptr;  // of another job the same errors would follow
            }
            read_one(job);
        }
        return context_.error_count() > 0 ? nullptr : std::make_shared<const JobSet>(std::move(set_));
    }

private:
    void error(const ConfigNode& where, std::string message, std::string hint) {
        context_.error("config.jobs", where.where, std::move(message), std::move(hint));
    }

    void check_hosts() {
        if (set_.shares_network() && keys_.hosts) {
            error(*section_.find("hosts"),
                  fmt::format("the network has {} hosts, whoever uses them", set_.hosts),
                  "'hosts' is for networks that are built for their job; leave it out");
        }
        check_cluster(root_.find("cluster"));
        const bool needs_hosts = keys_.queue || keys_.load;
        if (!set_.shares_network() && needs_hosts && !keys_.hosts) {
            error(section_,
                  fmt::format("a network that is built for its job has as many hosts as the job, and "
                              "'{}' is of those of all jobs",
                              keys_.queue ? "queue" : "load"),
                  "give 'hosts', the number of hosts in all");
        }
        for (const std::vector<JobKeys>* jobs : {&keys_.list, &keys_.mix}) {
            for (const JobKeys& job : *jobs) {
                check_hosts_of(job);
            }
        }
    }

    /// Of the cluster of all, or of a job.
    void check_cluster(const ConfigNode* cluster) {
        for (const char* key : {"ranks", "placement", "placement_seed"}) {
            const ConfigNode* given = cluster == nullptr ? nullptr : cluster->find(key);
            if (given != nullptr) {
                error(*given, fmt::format("'{}' of several jobs is in 'jobs'", key),
                      "leave it out here, and give it to the jobs");
            }
        }
    }

    void check_hosts_of(const JobKeys& job) {
        check_cluster(job.cluster ? &*job.cluster : nullptr);
        if (!job.ranks && job.hosts.empty()) {
            error(job.node, fmt::format("job '{}' has neither ranks nor hosts", job.name), "give 'ranks'");
            return;
        }
        if (job.hosts.empty()) {
            return;
        }
        const ConfigNode& hosts = *job.node.find("hosts");
        if (job.ranks && *job.ranks != job.hosts.size()) {
            error(hosts, fmt::format("{} hosts are listed for {} ranks", job.hosts.size(), *job.ranks),
                  "name one host for every rank");
        }
        if (job.placement) {
            error(*job.node.find("placement"), "the hosts are listed", "leave one of the two out");
        }
        if (!set_.shares_network()) {
            error(hosts, "a network that is built for its job is built around its ranks", "give 'ranks'");
            return;
        }
        if (keys_.queue) {
            error(hosts, "a job of a queue gets hosts that are free when it starts", "give 'ranks'");
            return;
        }
        for (std::size_t rank = 0; rank < job.hosts.size(); ++rank) {
            if (job.hosts[rank] >= set_.hosts) {
                error(hosts.items[rank],
                      fmt::format("rank {} is placed on host {}, and the network has {} hosts", rank,
                                  job.hosts[rank], set_.hosts),
                      fmt::format("hosts are numbered from 0 to {}", set_.hosts - 1));
                continue;
            }
            const auto [entry, is_new] =
                rank_on_.try_emplace(job.hosts[rank], fmt::format("rank {} of job '{}'", rank, job.name));
            if (!is_new) {
                error(hosts.items[rank],
                      fmt::format("host {} is given to {} and to rank {} of job '{}'", job.hosts[rank],
                                  entry->second, rank, job.name),
                      "every rank of every job runs on a host of its own");
            }
        }
    }

    void plan() {
        for (const JobKeys& job : keys_.list) {
            planned_.push_back({&job, job.name, job.start, {}});
        }
        if (!keys_.mix.empty()) {
            draw();
        }
        std::size_t ranks = 0;
        for (const PlannedJob& job : planned_) {
            const std::size_t own = ranks_of(*job.keys);
            ranks += own;
            if (keys_.queue && own > set_.hosts) {
                error(job.keys->node,
                      fmt::format("job '{}' has {} ranks, and there are {} hosts", job.name, own, set_.hosts),
                      "every rank runs on a host of its own");
                return;
            }
        }
        set_.ranks = ranks;
        if (set_.hosts == 0) {
            set_.hosts = ranks;
        }
        if (!keys_.queue && ranks > set_.hosts) {
            error(section_,
                  fmt::format("{} jobs have {} ranks, and there are {} hosts", planned_.size(), ranks,
                              set_.hosts),
                  "take fewer jobs or ranks, a larger network, or queue: true");
        }
    }

    void draw() {
        set_.streams.emplace_back("jobs.mix");
        if (keys_.mean_time_between_arrivals) {
            set_.streams.emplace_back("jobs.arrivals");
        }
        RandomStream kinds(seed_, "jobs.mix");
        RandomStream gaps(seed_, "jobs.arrivals");
        double shares = 0;
        for (const JobKeys& kind : keys_.mix) {
            shares += kind.share;
        }
        std::map<std::string, std::size_t> numbers;
        double arrival = 0;
        double ranks = 0;
        const double most = keys_.load.value_or(0) * static_cast<double>(set_.hosts);
        while (keys_.count ? planned_.size() < *keys_.count : planned_.size() < kMostJobs) {
            double left = drawn_fraction(kinds) * shares;
            std::size_t i = 0;
            for (; i + 1 < keys_.mix.size() && left >= keys_.mix[i].share; ++i) {
                left -= keys_.mix[i].share;
            }
            const JobKeys& kind = keys_.mix[i];
            ranks += static_cast<double>(ranks_of(kind));
            if (keys_.load && ranks > most * (1 + 1e-12)) {
                break;
            }
            planned_.push_back({&kind,
                                fmt::format("{}-{}", kind.name, ++numbers[kind.name]),
                                Time(static_cast<std::int64_t>(arrival)),
                                {}});
            if (keys_.mean_time_between_arrivals) {
                arrival += -std::log1p(-drawn_fraction(gaps)) *
                           static_cast<double>(keys_.mean_time_between_arrivals->count());
                if (arrival > static_cast<double>(kJobTimes.max->count())) {
                    error(*section_.find("mean_time_between_arrivals"),
                          fmt::format("job {} would arrive after {}", planned_.size() + 1,
                                      to_string(*kJobTimes.max)),
                          "take fewer jobs, or a shorter time");
                    return;
                }
            }
        }
        if (planned_.empty()) {
            error(*section_.find("load"),
                  fmt::format("no job is drawn: the first has more ranks than {:.6g} of {} hosts",
                              *keys_.load, set_.hosts),
                  "take a larger load, or smaller jobs");
        }
    }

    void place_jobs() {
        if (!set_.shares_network()) {
            for (const std::vector<JobKeys>* jobs : {&keys_.list, &keys_.mix}) {
                for (const JobKeys& job : *jobs) {
                    if (job.placement) {
                        error(*job.node.find("placement"),
                              "this network is built around the ranks of its job", "leave 'placement' out");
                    }
                }
            }
            if (const ConfigNode* placement = section_.find("placement")) {
                error(*placement, "this network is built around the ranks of its job",
                      "leave 'placement' out");
            }
            return;
        }
        if (std::ranges::any_of(planned_, [this](const PlannedJob& job) {
                return job.keys->hosts.empty() && placement_of(job) == JobPlacement::kRandom;
            })) {
            set_.streams.emplace_back("jobs.placement");
        }
        FreeHosts free(*set_.fabric, seed_);
        for (PlannedJob& job : planned_) {
            for (const std::uint32_t host : job.keys->hosts) {
                job.hosts.emplace_back(host);
                free.take(job.hosts.back());
            }
        }
        for (std::size_t i = 0; i < planned_.size(); ++i) {
            PlannedJob& job = planned_[i];
            if (!job.hosts.empty()) {
                continue;
            }
            job.hosts = free.take(ranks_of(*job.keys), placement_of(job), i);
            if (keys_.queue) {
                for (const network::HostId host : job.hosts) {
                    free.release(host);
                }
            }
        }
    }

    [[nodiscard]] JobPlacement placement_of(const PlannedJob& job) const {
        return job.keys->placement.value_or(keys_.placement);
    }

    void read_one(const PlannedJob& job) {
        const JobKeys& keys = *job.keys;
        if (const ConfigNode* priority = keys.node.find("priority")) {
            Experiment common;
            common.fabric = set_.fabric;
            common.backend = backend_.make();
            common.backend_kind = backend_.kind;
            check_traffic_class(common, keys.priority, *priority, context_);
            if (context_.error_count() > 0) {
                return;
            }
        }
        ConfigNode root = ConfigNode::mapping();
        root.where = keys.node.where;
        for (const char* key : {"schema", "seed"}) {
            if (const ConfigNode* given = root_.find(key)) {
                root.set(key, *given);
            }
        }
        root.set("name", ConfigNode::scalar(job.name));
        root.set("workload", keys.workload);
        root.set("cluster", cluster_of(job));
        for (const char* key : {"network", "backend"}) {
            root.set(key, *root_.find(key));
        }
        std::optional<Experiment> one = read_job_(std::move(root), set_.fabric, context_);
        if (!one) {
            return;
        }
        if (one->flows != nullptr) {
            error(keys.workload, "flows are no job: they have no ranks that wait for one another",
                  "choose a workload that trains, or a file of its own for flows");
            return;
        }
        set_.jobs.push_back(
            {job.name, keys.name, *std::move(one), job.start, keys.repeat, placement_of(job)});
    }

    [[nodiscard]] ConfigNode cluster_of(const PlannedJob& job) const {
        ConfigNode cluster = ConfigNode::mapping();
        cluster.where = job.keys->node.where;
        if (const ConfigNode* common = root_.find("cluster")) {
            cluster = *common;
        }
        if (job.keys->cluster) {
            merge_cluster(cluster, *job.keys->cluster);
        }
        if (!cluster.is_mapping()) {
            return cluster;
        }
        const auto set = [&](const char* key, ConfigNode value) {
            value.where = job.keys->node.where;
            for (ConfigNode& item : value.items) {
                item.where = value.where;
            }
            for (ConfigEntry& entry : value.entries) {
                entry.value.where = value.where;
            }
            cluster.set(key, std::move(value));
        };
        set("ranks", ConfigNode::scalar(std::to_string(ranks_of(*job.keys))));
        std::vector<ConfigNode> hosts;
        for (std::size_t rank = 0; rank < job.hosts.size(); ++rank) {
            hosts.push_back(ConfigNode::scalar(std::to_string(job.hosts[rank].index())));
        }
        for (std::size_t rank = 0; rank < job.hosts.size(); ++rank) {
            if (job.hosts[rank].index() != rank) {
                set("placement", ConfigNode::sequence(std::move(hosts)));
                break;
            }
        }
        if (job.keys->priority > 0) {
            set_priority(cluster, *job.keys);
        }
        return cluster;
    }

    /// Of what names no class by itself.
    static void set_priority(ConfigNode& cluster, const JobKeys& keys) {
        ConfigNode collectives = ConfigNode::mapping();
        if (const ConfigNode* given = cluster.find("collectives")) {
            collectives = *given;
        }
        collectives.where = keys.node.where;
        for (std::size_t kind = 0; collectives.is_mapping() && kind < system::kCollectiveKinds; ++kind) {
            ConfigNode one = ConfigNode::mapping();
            if (const ConfigNode* given = collectives.find(collective_key(kind))) {
                one = *given;
            }
            if (one.is_mapping() && one.find("traffic_class") == nullptr) {
                ConfigNode priority = ConfigNode::scalar(std::to_string(keys.priority));
                priority.where = keys.node.find("priority")->where;
                one.set("traffic_class", std::move(priority));
                one.where = keys.node.where;
                collectives.set(collective_key(kind), std::move(one));
            }
        }
        cluster.set("collectives", std::move(collectives));
    }

    const ConfigNode& root_;
    const JobsKeys& keys_;
    const ConfigNode& section_;
    std::uint64_t seed_;
    const Registry<network::BackendMaker>::Configured& backend_;
    const ReadJob& read_job_;
    ReadContext& context_;
    std::map<std::uint32_t, std::string> rank_on_;
    std::vector<PlannedJob> planned_;
    JobSet set_;
};

/// What is common to the jobs, all but `name` and `seed`.
struct JobsFile {
    JobsKeys jobs;
    std::optional<Registry<network::FabricMaker>::Configured> network;
    std::optional<Registry<network::BackendMaker>::Configured> backend;
};

/// Nothing if something is wrong with it.
std::optional<JobsFile> read_jobs_file(const ConfigNode& root, const Components& components,
                                       ReadContext& context) {
    JobsFile file;
    for (const auto& [key, reason] :
         {std::pair{"workload", "each job has one of its own"},
          std::pair{"background", "jobs are each other's background"},
          std::pair{"scaled", "what would change is asked of one job at a time"},
          std::pair{"failures", "what fails is asked of one job at a time"},
          std::pair{"steady_state", "iterations are left out of one job at a time"}}) {
        if (const ConfigNode* given = root.find(key)) {
            context.error("config.jobs", given->where,
                          fmt::format("'{}' is given beside 'jobs': {}", key, reason),
                          "leave one of the two out");
        }
    }
    report_unknown_keys(root,
                        {"schema", "name", "seed", "jobs", "cluster", "network", "backend", "workload",
                         "background", "scaled", "failures", "steady_state"},
                        "experiment", false, context);
    for (const char* key : {"schema", "network", "backend"}) {
        if (root.find(key) == nullptr) {
            context.error("config.missing-key", root.where, fmt::format("'experiment' needs '{}'", key), "");
        }
    }
    if (context.error_count() > 0) {
        return std::nullopt;
    }
    read_schema_name(*root.find("schema"), context);
    const ConfigNode& given = *root.find("jobs");
    ConfigNode section = given;
    if (given.is_sequence()) {
        section = ConfigNode::mapping();
        section.where = given.where;
        section.set("list", given);
    }
    std::optional<JobsKeys> jobs = jobs_schema().read(section, context);
    file.network = read_network(*root.find("network"), components, context);
    file.backend = components.backends.read(*root.find("backend"), context);
    if (!jobs || !file.network || !file.backend || context.error_count() > 0) {
        return std::nullopt;
    }
    file.jobs = *std::move(jobs);
    return file;
}

/// That reading it gives the same jobs: all of them listed, each with its cluster.
ConfigNode resolved_jobs(const JobsFile& file, const JobSet& set) {
    JobsKeys keys = file.jobs;
    if (!set.queue) {
        keys.seed.reset();  // hosts are listed
    }
    keys.list.clear();
    keys.mix.clear();
    keys.count.reset();
    keys.load.reset();
    keys.mean_time_between_arrivals.reset();
    for (const JobOnNetwork& job : set.jobs) {
        JobKeys one;
        one.name = job.name;
        one.workload = *job.experiment.resolved.find("workload");
        one.repeat = job.repeat;
        one.start = job.start;
        ConfigNode cluster = *job.experiment.resolved.find("cluster");
        std::erase_if(cluster.entries, [](const ConfigEntry& entry) {
            return entry.key == "ranks" || entry.key == "placement" || entry.key == "placement_seed";
        });
        one.cluster = std::move(cluster);
        one.ranks = static_cast<std::uint32_t>(job.experiment.cluster.ranks);
        if (set.shares_network() && !set.queue) {
            for (const network::HostId host : job.experiment.placement.hosts_of(*one.ranks)) {
                one.hosts.push_back(static_cast<std::uint32_t>(host.index()));
            }
        } else if (set.shares_network()) {
            one.placement = job.placement;
        }
        keys.list.push_back(std::move(one));
    }
    ConfigNode section = jobs_schema().write(keys);
    if (!set.shares_network()) {
        std::erase_if(section.entries, [](const ConfigEntry& entry) { return entry.key == "placement"; });
    }
    std::erase_if(section.entries, [](const ConfigEntry& entry) { return entry.key == "mix"; });
    return section;
}

}  // namespace

void resolve_job_references(ConfigNode& jobs, ReadContext& context) {
    resolve_reference(jobs, context);
    for (ConfigNode* list : {jobs.is_sequence() ? &jobs : nullptr, jobs.find("list"), jobs.find("mix")}) {
        if (list != nullptr) {
            for (ConfigNode& job : list->items) {
                resolve_references(job, context);
            }
        }
    }
}

std::optional<Experiment> read_jobs(const ConfigNode& root, const std::string& name, std::uint64_t seed,
                                    const Components& components, const ReadJob& read_job,
                                    ReadContext& context) {
    std::optional<JobsFile> file = read_jobs_file(root, components, context);
    if (!file) {
        return std::nullopt;
    }
    const network::FabricMaker maker = file->network->make();
    Experiment experiment;
    experiment.name = name;
    experiment.seed = seed;
    experiment.network_kind = file->network->kind;
    experiment.backend_kind = file->backend->kind;
    experiment.backend = file->backend->make();
    if (!maker.needs_job()) {
        experiment.fabric = maker(seed);
        check_backend(experiment, root, context);
        check_latencies(experiment, root, context);
    }
    if (context.error_count() > 0) {
        return std::nullopt;
    }
    JobsReader reader(root, file->jobs, *root.find("jobs"), seed, *file->backend, read_job, context);
    experiment.jobs = reader.read(experiment.fabric);
    if (experiment.jobs == nullptr) {
        return std::nullopt;
    }
    if (experiment.fabric == nullptr) {
        experiment.fabric = experiment.jobs->jobs.front().experiment.fabric;
        experiment.network_is_built_for_job = true;
    }
    experiment.cluster.ranks = experiment.jobs->ranks;
    ConfigNode& resolved = experiment.resolved;
    resolved = ConfigNode::mapping();
    resolved.set("schema", ConfigNode::scalar(std::string(kSchemaName)));
    resolved.set("name", ConfigNode::scalar(name));
    resolved.set("seed", ConfigNode::scalar(std::to_string(seed)));
    resolved.set("jobs", resolved_jobs(*file, *experiment.jobs));
    resolved.set("network", file->network->resolved);
    resolved.set("backend", file->backend->resolved);
    return experiment;
}

ParameterDescriptor jobs_parameter() {
    const Schema<JobsKeys> schema = jobs_schema();
    return {"jobs",
            "mapping, or a list of jobs",
            "unset",
            false,
            {},
            schema.help() + ", in place of 'workload'",
            schema.parameters()};
}

}  // namespace astrolabe::experiment
