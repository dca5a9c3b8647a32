/// An experiment: one file that names a job, a cluster, a network and a backend, read and checked.
///
///     schema: astrolabe/1
///     name: …            seed: …
///     workload: {kind: …}  cluster: {ranks: …}  network: {kind: …}  backend: {kind: …}
///
/// `workload.model`, `cluster.device` and each of the four sections may be the path of a YAML file instead of
/// a mapping; paths resolve against the file that names them. Overrides ("path=value") apply after that, so
/// they reach into such files; one that changes a section's `kind`, or the `algorithm` of a collective, drops
/// the keys of the file that the new one does not have. Everything is checked before anything runs: keys and
/// ranges by the schemas of the components, then what only shows across sections (ranks against hosts, batch
/// against ranks, algorithm against the shapes of groups, backend against fabric).
///
/// A `seed` that network or workload leave out is that of the experiment.
///
/// `scaled` multiplies resources of what the rest of the file says (experiment/src/file/scaled.hpp), and
/// `failures` says what fails of it (experiment/src/file/failures.hpp). `steady_state` lets a run leave out
/// iterations that repeat (steady_state.hpp).
///
/// A network that is built for a job (FabricMaker::needs_job) is found for the program of the same file,
/// after all else was checked, with all_reduce, reduce_scatter and all_gather on rings of it unless the file
/// chooses their algorithms.
///
/// `jobs` in place of `workload`: several on the one network (jobs.hpp).
///
/// What the file leaves open of algorithms and chunks is chosen last, for the network (choice/choice.hpp). Of
/// several networks that are offered for a job, each is tried with the algorithms that are chosen for it,
/// before anything is `scaled`.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/calibration/measured_collectives.hpp>
#include <astrolabe/experiment/calibration/nccl_tuning.hpp>
#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/file/job_networks.hpp>
#include <astrolabe/experiment/file/placement.hpp>
#include <astrolabe/experiment/file/rank_compute.hpp>
#include <astrolabe/experiment/file/steady_state.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/system/components.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/flows/flow.hpp>
#include <astrolabe/workload/components.hpp>

namespace astrolabe::experiment {

inline constexpr std::string_view kSchemaName = "astrolabe/1";

/// Everything an experiment file can choose from.
struct Components {
    Registry<workload::Job> workloads{"workload"};
    Registry<workload::Device> devices{"cluster.device"};
    Registry<network::FabricMaker> networks{"network"};
    Registry<network::BackendMaker> backends{"backend"};
    system::AlgorithmRegistry algorithms{"algorithm", "algorithm"};
    /// Of all experiments that are read with these components.
    std::shared_ptr<ChoiceCache> choices = std::make_shared<ChoiceCache>();
    /// Likewise, those that are built for a job.
    std::shared_ptr<JobNetworks> job_networks = std::make_shared<JobNetworks>();
};

/// All that was built into the program.
[[nodiscard]] Components builtin_components();

/// Whether ranks that are images of each other are simulated once (system/symmetry/folding.hpp). The results
/// are the same.
enum class FoldingMode : std::uint8_t { kAuto, kOff };

struct Cluster {
    std::size_t ranks = 0;
    workload::Device device;
    system::SystemOptions options;
    FoldingMode folding = FoldingMode::kAuto;
    bool padding = false;  ///< of collectives (system/program/padding.hpp)
    std::array<std::string, system::kCollectiveKinds> algorithms;  ///< names, by CollectiveKind
    std::array<ConfigNode, system::kCollectiveKinds>
        named;                                              ///< keys of a named one that differ from defaults
    std::bitset<system::kCollectiveKinds> algorithm_given;  ///< else it is chosen for every collective
    std::bitset<system::kCollectiveKinds> chunks_given;     ///< likewise
    std::optional<MeasuredCollectives> measured;            ///< below whose times no collective ends
    std::optional<NcclTuning> nccl_tuning;                  ///< likewise; not both
    std::vector<RankDevice> devices;                        ///< of ranks that have their own
    std::optional<Jitter> jitter;                           ///< of computations
    std::optional<Contention> contention;                   ///< of computations and collectives
};

/// A failure as people know it.
struct FailureSpan {
    std::string what;  ///< "leaf 0 - spine 1 down", "rank 5 at 0.5 of its speed"
    Time from;
    Time until = Time::max();  ///< for ever
};

struct JobSet;

struct Experiment {
    std::string name;
    std::uint64_t seed = 1;
    ConfigNode resolved;  ///< reading it again gives this experiment
    workload::Job job;
    Cluster cluster;
    std::string network_kind;
    std::shared_ptr<const network::Fabric> fabric;
    bool network_is_built_for_job = false;
    Placement placement;                  ///< of the ranks on the hosts of the fabric
    bool placement_follows_seed = false;  ///< it was drawn with `seed`
    std::vector<FailureSpan> failures;    ///< of network and ranks, by time
    bool failures_follow_seed = false;    ///< some were drawn with `seed`
    std::string backend_kind;
    network::BackendMaker backend;
    system::Program program;
    /// Of a workload that is flows between ranks, whose program is empty; null of all others.
    std::shared_ptr<const system::FlowTraffic> flows;
    /// Between hosts, beside the job; null where there are none.
    std::shared_ptr<const system::FlowTraffic> background;
    std::optional<SteadyState> steady_state;  ///< unset: every iteration is simulated
    std::string setting;                ///< hash of network, backend, seed, and the job that shapes a network
    std::vector<MethodChoice> choices;  ///< in the order of the first operations
    std::optional<MeasuredUse> measured;  ///< of the cluster's measured collectives, or of NCCL's model
    JobChoices job_choices;
    /// Of a file with `jobs`: what runs (jobs.hpp). The program is empty then, `cluster` has the number of
    /// all ranks and nothing else, and `fabric` is that of the first job where each has one of its own. Null
    /// of a file with a workload.
    std::shared_ptr<const JobSet> jobs;
    /// Paths of seeds of network and workload that the file leaves to `seed` (src/file/open_seeds.hpp).
    std::vector<std::string> open_seeds;
};

/// Of the algorithm that carries it out.
[[nodiscard]] const std::string& algorithm_name(const Experiment& experiment,
                                                const system::CollectiveOperation& collective);

struct LoadOptions {
    std::vector<std::string> overrides;  ///< "path=value", in order
    std::optional<std::uint64_t> seed;   ///< wins over the file's
};

[[nodiscard]] Result<Experiment> load_experiment(const std::filesystem::path& path,
                                                 const LoadOptions& options, const Components& components);

/// Reads an experiment that is a tree already, as `load_experiment` does after its overrides. `set` are the
/// dotted paths that were set since the file was read, in order; `default_name` is for a tree without a name.
[[nodiscard]] Result<Experiment> read_experiment(ConfigNode root, const std::vector<std::string>& set,
                                                 const std::string& default_name,
                                                 std::optional<std::uint64_t> seed,
                                                 const Components& components);

/// Reports a `schema` that this program does not read.
void read_schema_name(const ConfigNode& node, ReadContext& context);
/// Replaces a section given as the path of a file by the file's mapping; reports a file that cannot be read.
void resolve_reference(ConfigNode& section, ReadContext& context);
/// The same for all sections of an experiment that may be files.
void resolve_references(ConfigNode& root, ReadContext& context);

/// Keys of the cluster section, for `describe`.
[[nodiscard]] ComponentDescription cluster_description(const Components& components);
/// Keys of the file itself, for `describe`.
[[nodiscard]] ComponentDescription experiment_description();

}  // namespace astrolabe::experiment
