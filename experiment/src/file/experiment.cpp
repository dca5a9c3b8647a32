#include "../calibration/least_durations.hpp"
#include "../choice/choose.hpp"
#include "../choice/job_trials.hpp"
#include "../run/engine.hpp"
#include "background.hpp"
#include "checks.hpp"
#include "failures.hpp"
#include "job_network.hpp"
#include "jobs_section.hpp"
#include "open_seeds.hpp"
#include "rank_programs.hpp"
#include "scaled.hpp"
#include "server_shape.hpp"
#include "steady_section.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <astrolabe/core/config/file_name.hpp>
#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/experiment/explain/lower_bound.hpp>
#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/file/config_path.hpp>
#include <astrolabe/experiment/file/equal_cost.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/file/file_keys.hpp>
#include <astrolabe/experiment/results/fingerprint.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/system/executor/circuit_order.hpp>
#include <astrolabe/system/program/characterisation.hpp>
#include <astrolabe/system/program/padding.hpp>

namespace astrolabe::experiment {
namespace {

struct FileKeys {
    std::string name;
    std::uint64_t seed = 1;
    std::optional<Registry<workload::Job>::Configured> workload;
    std::optional<ClusterKeys> cluster;
    std::optional<Registry<network::FabricMaker>::Configured> network;
    std::optional<Registry<network::BackendMaker>::Configured> backend;
    std::optional<workload::FlowKeys> background;
    std::optional<ScaledKeys> scaled;
    std::optional<FailureKeys> failures;
    std::optional<SteadyState> steady_state;
};

/// `components` may be null to describe the keys only.
Schema<FileKeys> file_schema(const Components* components) {
    const auto section = [](auto member) {
        return [member](const FileKeys& keys) -> std::optional<ConfigNode> {
            return keys.*member ? std::optional((keys.*member)->resolved) : std::nullopt;
        };
    };
    Schema<FileKeys> schema("experiment", "one question: a job, a cluster, a network and a backend");
    add_file_keys(schema);
    schema
        .optional("seed", &FileKeys::seed, "of all random choices",
                  {0, std::numeric_limits<std::int64_t>::max()})
        .field(
            {"workload", "mapping", "", true, {}, "the training job; or 'jobs', several of them", {}},
            [components](FileKeys& keys, const ConfigNode& node, ReadContext& context) {
                keys.workload = components->workloads.read(node, context);
            },
            section(&FileKeys::workload))
        .field(
            {"cluster", "mapping", "", true, {}, "the ranks and how they communicate", {}},
            [components](FileKeys& keys, const ConfigNode& node, ReadContext& context) {
                keys.cluster = cluster_schema(*components).read(node, context);
            },
            [components](const FileKeys& keys) -> std::optional<ConfigNode> {
                return keys.cluster ? std::optional(cluster_schema(*components).write(*keys.cluster))
                                    : std::nullopt;
            })
        .field(
            {"network", "mapping", "", true, {}, "the fabric", {}},
            [components](FileKeys& keys, const ConfigNode& node, ReadContext& context) {
                keys.network = read_network(node, *components, context);
            },
            section(&FileKeys::network))
        .field(
            {"backend", "mapping", "", true, {}, "the engine that moves the bytes", {}},
            [components](FileKeys& keys, const ConfigNode& node, ReadContext& context) {
                keys.backend = components->backends.read(node, context);
            },
            section(&FileKeys::backend))
        .section("background", &FileKeys::background, background_schema(),
                 "flows between hosts beside the job, which end with it")
        .section("scaled", &FileKeys::scaled, scaled_schema(),
                 "resources times factors: what would change if there were more or less of them")
        .section("failures", &FileKeys::failures, failures_schema(),
                 "what fails or slows down of network and ranks, and when")
        .section("steady_state", &FileKeys::steady_state, steady_state_schema(),
                 "iterations that repeat are not simulated again");
    return schema;
}

/// Paths that were set since the file was read, in order.
class SetPaths {
public:
    explicit SetPaths(const std::vector<std::string>& paths)
        : paths_(paths) {}

    /// Place of the last one that set all of `path`, counted from 1; 0: none did.
    [[nodiscard]] std::size_t last_over(const std::string& path) const {
        std::size_t last = 0;
        for (std::size_t i = 0; i < paths_.size(); ++i) {
            last = (path + ".").starts_with(paths_[i] + ".") ? i + 1 : last;
        }
        return last;
    }
    /// Whether one after that place set `path` or a part of it.
    [[nodiscard]] bool reached_after(std::size_t place, const std::string& path) const {
        return std::any_of(paths_.begin() + static_cast<std::ptrdiff_t>(place), paths_.end(),
                           [&](const std::string& set) { return (set + ".").starts_with(path + "."); });
    }

private:
    const std::vector<std::string>& paths_;
};

/// `--set backend.kind=fluid` on a file that says {kind: tcp, mtu: 9000B}: keys of the file that the newly
/// chosen kind does not have belonged to the former one and go with it. Keys that were set beside the kind
/// are checked as ever; `shared` are those that belong to no kind.
template <class Product>
void drop_keys_of_former_kind(ConfigNode& root, const std::string& path, const Registry<Product>& registry,
                              const SetPaths& set, const std::vector<std::string>& shared = {}) {
    const std::string& discriminator = registry.discriminator();
    ConfigNode* section = node_at(root, path);
    const ConfigNode* kind = section == nullptr ? nullptr : section->find(discriminator);
    const std::size_t replaced = set.last_over(path);
    if (kind == nullptr || set.last_over(path + "." + discriminator) == replaced) {
        return;
    }
    std::vector<ComponentDescription> components = registry.descriptions();
    components.push_back({std::string(kAuto), {}, {}});
    for (const ComponentDescription& component : components) {
        if (component.name != kind->text) {
            continue;
        }
        std::erase_if(section->entries, [&](const ConfigEntry& entry) {
            return entry.key != discriminator && !set.reached_after(replaced, path + "." + entry.key) &&
                   std::find(shared.begin(), shared.end(), entry.key) == shared.end() &&
                   std::none_of(
                       component.parameters.begin(), component.parameters.end(),
                       [&](const ParameterDescriptor& parameter) { return parameter.key == entry.key; });
        });
    }
}

void drop_keys_of_former_kinds(ConfigNode& root, const SetPaths& set, const Components& components) {
    drop_keys_of_former_kind(root, "workload", components.workloads, set);
    drop_keys_of_former_kind(root, "network", components.networks, set, equal_cost_keys());
    drop_keys_of_former_kind(root, "backend", components.backends, set);
    drop_keys_of_former_kind(root, "cluster.device", components.devices, set);
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        drop_keys_of_former_kind(root, "cluster.collectives." + collective_key(kind), components.algorithms,
                                 set, collective_keys());
    }
}

/// Reports what is wrong with it.
void make_program(Experiment& experiment, const std::vector<OperationRule>& rules, const ConfigNode& root,
                  ReadContext& context) {
    experiment.program = program_of_ranks(experiment, root, context);
    experiment.program.check();
    apply_operation_rules(experiment, rules, root, context);
    if (const std::optional<std::string> problem =
            traffic_problem(experiment.program, experiment.cluster.options)) {
        context.error("config.traffic", root.find("workload")->where, *problem,
                      "take fewer iterations, ranks or bytes");
    } else if (experiment.cluster.padding) {
        system::pad_collectives(experiment.program, experiment.cluster.options);
    }
    if (experiment.cluster.measured) {
        experiment.measured = set_least_durations(experiment.program, *experiment.cluster.measured);
    } else if (experiment.cluster.nccl_tuning) {
        experiment.measured = set_least_durations(experiment.program, *experiment.cluster.nccl_tuning);
    }
    check_algorithms(experiment, root, context);
}

/// What choices of algorithms depend on beside the collective and the cluster.
std::string setting_of(const FileKeys& keys, const Experiment& experiment) {
    Fingerprint print;
    print.add(to_yaml(keys.network->resolved));
    print.add(to_yaml(keys.backend->resolved));
    // Seeds that nothing is drawn with make no difference.
    print.add(random_streams(experiment).empty() ? FileKeys().seed : keys.seed);
    if (experiment.network_is_built_for_job) {
        print.add(to_yaml(keys.workload->resolved));
        if (keys.cluster->device) {
            print.add(to_yaml(keys.cluster->device->resolved));
        }
    }
    return print.text();
}

/// What a choice for the job as a whole depends on.
std::string job_key(const FileKeys& keys, const Experiment& experiment, std::string_view what,
                    const Components& components) {
    ClusterKeys cluster = *keys.cluster;
    cluster.choices.clear();
    cluster.network_choice.reset();
    cluster.window_choice.reset();
    Fingerprint print;
    print.add(what);
    print.add(setting_of(keys, experiment));
    print.add(to_yaml(keys.workload->resolved));
    print.add(to_yaml(cluster_schema(components).write(cluster)));
    return print.text();
}

/// Chooses what is open of algorithms and chunks, and puts ranks in the order of circuits where they ask.
/// `network` is the number of the one of several that are offered for the job, whose routes may differ alone.
void carry_out(Experiment& experiment, std::optional<std::uint64_t> network, const FileKeys& keys,
               const Components& components) {
    experiment.setting = setting_of(keys, experiment);
    if (network) {
        Fingerprint print;
        print.add(experiment.setting);
        print.add(*network);
        experiment.setting = print.text();
    }
    choose_methods(experiment, keys.cluster->choices, components);
    if (experiment.cluster.padding) {
        system::pad_collectives(experiment.program,
                                experiment.cluster.options);  // of as many chunks as chosen
    }
    system::order_by_circuits(experiment.program, experiment.cluster.options, place_ranks(experiment));
}

/// Of networks that were offered for the job the one that it is fastest on.
void choose_network(Experiment& experiment, const network::NetworksForJob& networks, const FileKeys& keys,
                    const Components& components) {
    const Experiment without = experiment;
    take_network(experiment, networks.front());
    if (networks.size() == 1 || experiment.backend.unsupported(*experiment.fabric)) {
        return;
    }
    std::vector<std::uint64_t> numbers(networks.size());
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{1});
    const JobChoice choice = choose_for_job(
        job_key(keys, experiment, "network", components), keys.cluster->network_choice, numbers,
        [&](std::uint64_t number) -> std::optional<Experiment> {
            Experiment job = without;
            take_network(job, networks[number - 1]);
            if (job.backend.unsupported(*job.fabric)) {
                return std::nullopt;
            }
            carry_out(job, number, keys, components);
            return job;
        },
        components);
    experiment = without;
    take_network(experiment, networks[choice.taken - 1]);
    experiment.job_choices.network = choice;
}

/// `active_chunks: auto`, once all else is known.
void choose_window(Experiment& experiment, const FileKeys& keys, const Components& components) {
    if (keys.cluster->active_chunks) {
        return;
    }
    std::string key = job_key(keys, experiment, "active_chunks", components);
    if (keys.scaled) {
        Fingerprint print;
        print.add(key);
        print.add(to_yaml(scaled_schema().write(*keys.scaled)));
        key = print.text();
    }
    std::uint32_t& window = experiment.cluster.options.active_chunks;
    const JobChoice choice = choose_for_job(
        key, keys.cluster->window_choice, {window, 4, 16, 256, 1024},
        [&experiment](std::uint64_t chunks) {
            Experiment job = experiment;
            job.cluster.options.active_chunks = static_cast<std::uint32_t>(chunks);
            return std::optional(std::move(job));
        },
        components);
    window = static_cast<std::uint32_t>(choice.taken);
    experiment.job_choices.window = choice;
}

/// Of a file that is yet to be checked.
std::uint64_t seed_in(const ConfigNode& root) {
    const ConfigNode* given = root.find("seed");
    if (given != nullptr && given->is_scalar()) {
        const Parsed<std::int64_t> seed = parse_integer(given->text);
        if (const auto* number = std::get_if<std::int64_t>(&seed); number != nullptr && *number >= 0) {
            return static_cast<std::uint64_t>(*number);
        }
    }
    return FileKeys().seed;
}

/// `fabric` is what the network section makes, or null: it is made.
std::optional<Experiment> assemble(FileKeys& keys, const ConfigNode& root,
                                   const std::vector<std::string>& open_seeds, const Components& components,
                                   std::shared_ptr<const network::Fabric> fabric, ReadContext& context) {
    Experiment experiment;
    experiment.name = keys.name;
    experiment.seed = keys.seed;
    experiment.open_seeds = open_seeds;
    const network::FabricMaker network = keys.network->make();
    experiment.cluster = make_cluster(*keys.cluster, components, network.needs_job());
    experiment.job = keys.workload->make();
    experiment.network_kind = keys.network->kind;
    experiment.backend_kind = keys.backend->kind;
    experiment.backend = keys.backend->make();

    if (!keys.cluster->device && !experiment.job.flows) {
        context.error("config.missing-key", root.find("cluster")->where, "'cluster' needs 'device'",
                      "what a rank computes on: this workload computes (mapping)");
        return std::nullopt;
    }
    report_validation_errors(
        *root.find("workload"),
        experiment.job.validation_errors(experiment.cluster.device, experiment.cluster.ranks), context);
    if (const ConfigNode* device = root.find_path("cluster.device")) {
        report_validation_errors(*device, experiment.job.device_errors(experiment.cluster.device), context);
    }
    check_rank_devices(experiment, root, context);
    if (!network.needs_job()) {
        const bool is_of_all_jobs = fabric != nullptr;
        experiment.fabric = is_of_all_jobs ? std::move(fabric) : network(keys.seed);
        experiment.cluster.options.circuit_windows = experiment.fabric->family().circuit_windows();
        if (keys.scaled) {
            scale_network(experiment, *keys.scaled, *root.find("scaled"), context);
        }
        check_fabric(experiment, root, context);
        if (!is_of_all_jobs) {
            check_latencies(experiment, root, context);
        }
    }
    check_placement(experiment, keys.cluster->placement, network.needs_job(), root, context);
    if (context.error_count() > 0) {
        return std::nullopt;
    }
    if (!network.needs_job()) {
        experiment.placement =
            place(keys.cluster->placement, experiment.cluster.ranks, *experiment.fabric, keys.seed);
        experiment.placement_follows_seed =
            keys.cluster->placement.is_random() && !keys.cluster->placement.seed;
        if (std::optional<system::Shape>& shape = experiment.cluster.options.dimensions; !shape) {
            shape = server_shape(*experiment.fabric, experiment.placement, experiment.cluster.ranks);
        }
    } else if (std::optional<system::Shape>& shape = experiment.cluster.options.dimensions; !shape) {
        shape = server_shape(network.hosts_per_server(), experiment.cluster.ranks);
    }
    make_program(experiment, keys.cluster->operations, root, context);
    if (network.needs_job()) {
        if (context.error_count() > 0) {
            return std::nullopt;
        }
        const auto networks = networks_for_job(experiment, network.for_job(), to_yaml(keys.network->resolved),
                                               *components.job_networks);
        if (const auto* problems = std::get_if<ValidationErrors>(&networks)) {
            report_validation_errors(*root.find("network"), *problems, context);
            return std::nullopt;
        }
        choose_network(experiment, std::get<network::NetworksForJob>(networks), keys, components);
        if (keys.scaled) {
            scale_network(experiment, *keys.scaled, *root.find("scaled"), context);
        }
        if (context.error_count() > 0) {
            return std::nullopt;
        }
        check_fabric(experiment, root, context);
        check_latencies(experiment, root, context);
    }
    if (keys.scaled) {
        scale_ranks(experiment, *keys.scaled);
    }
    take_flows(experiment, keys.background, root, context);
    if (const std::optional<std::string> problem = time_problem(lower_bound(
            experiment.program, experiment.cluster.options, *experiment.fabric, experiment.placement))) {
        context.error("config.time", root.find("workload")->where, *problem,
                      "check the units of sizes and rates, or simulate fewer iterations");
    }
    if (context.error_count() == 0) {
        const auto& network_choice = experiment.job_choices.network;
        carry_out(experiment, network_choice ? std::optional(network_choice->taken) : std::nullopt, keys,
                  components);
        choose_window(experiment, keys, components);
        keys.cluster->choices = experiment.choices;
        keys.cluster->network_choice = network_choice;
        keys.cluster->window_choice = experiment.job_choices.window;
    }
    if (keys.failures && context.error_count() == 0) {
        add_failures(experiment, *keys.failures, *root.find("failures"), context);
        check_backend(experiment, root, context);
    }
    if (keys.steady_state) {
        experiment.steady_state = *keys.steady_state;
        experiment.steady_state->where = root.find("steady_state")->where;
        check_steady_state(experiment, *root.find("steady_state"), context);
    }
    return experiment;
}

/// The command that a file is for, where that is plain and no experiment is.
std::optional<Diagnostic> other_kind_of_file(const ConfigNode& root, const std::filesystem::path& path) {
    if (!root.is_mapping() || root.find("workload") != nullptr || root.find("jobs") != nullptr) {
        return std::nullopt;
    }
    const auto is = [&](const char* key, const char* kind, const char* command) {
        return Diagnostic{"config.kind-of-file",
                          root.find(key)->where,
                          fmt::format("this is a {}, not an experiment", kind),
                          fmt::format("astrolabe {} {}", command, path.string()),
                          {}};
    };
    if (root.find("optimize") != nullptr) {
        return is("optimize", "search", "optimize");
    }
    for (const char* key : {"base", "vary"}) {
        if (root.find(key) != nullptr) {
            return is(key, "study", "sweep");
        }
    }
    return std::nullopt;
}

/// Of a file without `jobs`, whose sections are all there. Reports what is wrong.
std::optional<Experiment> read_one_job(ConfigNode root, const std::string& default_name,
                                       std::optional<std::uint64_t> seed, const Components& components,
                                       std::shared_ptr<const network::Fabric> fabric, ReadContext& context) {
    const std::vector<std::string> open_seeds =
        fill_open_seeds(root, seed.value_or(seed_in(root)), components);
    std::optional<FileKeys> keys = file_schema(&components).read(root, context);
    if (!keys) {
        return std::nullopt;
    }
    keys->seed = seed.value_or(keys->seed);
    if (keys->name.empty()) {
        keys->name = default_name;
    }
    std::optional<Experiment> experiment =
        assemble(*keys, root, open_seeds, components, std::move(fabric), context);
    if (context.error_count() > 0) {
        return std::nullopt;
    }
    experiment->resolved = file_schema(&components).write(*keys);
    leave_seeds_open(experiment->resolved, open_seeds, components);
    return experiment;
}

}  // namespace

const std::string& algorithm_name(const Experiment& experiment,
                                  const system::CollectiveOperation& collective) {
    return collective.method != nullptr
               ? collective.method->name
               : experiment.cluster.algorithms[static_cast<std::size_t>(collective.kind)];
}

void read_schema_name(const ConfigNode& node, ReadContext& context) {
    if (!node.is_scalar() || node.text != kSchemaName) {
        context.error("config.schema", node.where,
                      fmt::format("schema is '{}', expected '{}'", node.text, kSchemaName),
                      "this program reads schema: astrolabe/1");
    }
}

void resolve_reference(ConfigNode& section, ReadContext& context) {
    if (!section.is_scalar() || section.text.empty() || context.usage().is_exceeded() ||
        !context.is_next_shown()) {
        return;
    }
    const std::filesystem::path path = directory_of(section) / section.text;
    Result<ConfigNode> file = load_config(path, context.usage());
    if (!file) {
        for (Diagnostic error : file.error()) {
            if (!error.where.source) {
                error.where = section.where;
                error.hint += fmt::format("{}a section is a mapping or the path of a YAML file{}",
                                          error.hint.empty() ? "" : "; ",
                                          section.text.find_first_of("./") == std::string::npos
                                              ? fmt::format(": did you mean {{kind: {}}}?", section.text)
                                              : "");
            } else if (context.usage().is_exceeded()) {
                error.notes.emplace_back(section.where, "the file is named here");
            }
            context.error(std::move(error));
        }
        section = ConfigNode::mapping();
        return;
    }
    if (file->is_mapping()) {
        if (const ConfigNode* schema = file->find("schema")) {
            read_schema_name(*schema, context);
            std::erase_if(file->entries, [](const ConfigEntry& entry) { return entry.key == "schema"; });
        }
    }
    section = *std::move(file);
}

void resolve_references(ConfigNode& root, ReadContext& context) {
    for (const char* key : {"workload", "cluster", "network", "backend"}) {
        if (ConfigNode* section = root.find(key)) {
            resolve_reference(*section, context);
        }
    }
    for (const auto& [section_key, key] : {std::pair{"workload", "model"}, std::pair{"cluster", "device"},
                                           std::pair{"cluster", "measured_collectives"}}) {
        if (ConfigNode* section = root.find(section_key)) {
            if (ConfigNode* part = section->find(key)) {
                resolve_reference(*part, context);
            }
        }
    }
    if (ConfigNode* devices = node_at(root, "cluster.devices")) {
        const auto resolve = [&context](ConfigNode& entry) {
            if (ConfigNode* device = entry.find("device")) {
                resolve_reference(*device, context);
            }
        };
        if (devices->is_mapping()) {
            resolve(*devices);
        }
        std::ranges::for_each(devices->items, resolve);
    }
    if (ConfigNode* jobs = root.find("jobs")) {
        resolve_job_references(*jobs, context);
    }
}

Result<Experiment> load_experiment(const std::filesystem::path& path, const LoadOptions& options,
                                   const Components& components) {
    ReadContext context;
    Result<ConfigNode> file = load_config(path, context.usage());
    if (!file) {
        return file.error();
    }
    ConfigNode root = *std::move(file);
    if (const std::optional<Diagnostic> error = other_kind_of_file(root, path)) {
        return *error;
    }
    resolve_references(root, context);
    std::vector<std::string> set;
    for (const std::string& assignment : options.overrides) {
        for (Diagnostic& error : apply_override(root, assignment)) {
            context.error(std::move(error));
        }
        set.push_back(assignment.substr(0, assignment.find('=')));
        // It may name a file where a mapping was, into which the next one reaches.
        resolve_references(root, context);
    }
    if (context.error_count() > 0) {
        return context.errors();
    }
    return read_experiment(std::move(root), set, name_of(path), options.seed, components);
}

Result<Experiment> read_experiment(ConfigNode root, const std::vector<std::string>& set,
                                   const std::string& default_name, std::optional<std::uint64_t> seed,
                                   const Components& components) {
    ReadContext context;
    resolve_references(root, context);
    drop_keys_of_former_kinds(root, SetPaths(set), components);
    if (context.error_count() > 0) {
        return context.errors();
    }
    const std::uint64_t used = seed.value_or(seed_in(root));
    std::optional<Experiment> experiment;
    if (root.find("jobs") == nullptr) {
        experiment = read_one_job(std::move(root), default_name, seed, components, nullptr, context);
    } else {
        const ConfigNode* name = root.find("name");
        const auto read_job = [&](ConfigNode one, std::shared_ptr<const network::Fabric> fabric,
                                  ReadContext& errors) {
            return read_one_job(std::move(one), default_name, used, components, std::move(fabric), errors);
        };
        experiment = read_jobs(root, name != nullptr && name->is_scalar() ? name->text : default_name, used,
                               components, read_job, context);
    }
    if (context.error_count() > 0) {
        return context.errors();
    }
    return std::move(*experiment);
}

ComponentDescription experiment_description() {
    const Schema<FileKeys> schema = file_schema(nullptr);
    std::vector<ParameterDescriptor> parameters = schema.parameters();
    parameters.push_back(jobs_parameter());
    return {schema.name(), schema.help(), std::move(parameters)};
}

}  // namespace astrolabe::experiment
