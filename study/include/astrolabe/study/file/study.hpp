/// A study: an experiment and what varies in it, as a list of points.
///
///     schema: astrolabe/1
///     name: …
///     base: ../quickstart/experiment.yaml     # or the experiment itself
///     vary:                                   # every combination
///       workload.batch.global: {from: 1024, to: 8192, factor: 2}
///       network: {flat: …, fat_tree: inputs/networks/….yaml}      # sections have names
///     zip:                                    # each group side by side: one combination an entry
///       - {cluster.ranks: [16, 64], network.hosts: [16, 64]}
///     derived:                                # arithmetic (a path is set, a name is only reported)
///       batch_per_rank: workload.batch.global / cluster.ranks
///     when: {batch_per_rank: {at_least: 16}}  # points to keep
///     overrides:                              # what is different in some points
///       - {when: {network: fat_tree}, set: {cluster.scheduling: fifo}}
///     repeat: 3                               # seeds
///     report: [iteration_time]                # figures
///     slurm: {tasks: 32, time: 2h}            # for --launcher slurm
///
/// A point is made of the base in this order: varied values, sections before what is in them; the seed;
/// derived values, in the order of the file; then `when` decides, and overrides are applied in order.
/// Points are numbered from 1: the last parameter changes fastest, after those of `zip`, after the seed.
/// docs/studies.md explains it to users.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/study/slurm/slurm_options.hpp>

namespace astrolabe::study {

/// Points of the largest study.
inline constexpr std::size_t kMostPoints = 100'000;
/// Paths that one varies or derives, or that a search chooses at; each is compared with all others.
inline constexpr std::size_t kMostPaths = 1000;
/// Values that are set, over all points: each takes some 300 bytes, whatever section it is, for points share
/// sections. The text that parameters have of them is bounded by limits::kTotalBytes.
inline constexpr std::size_t kMostSettings = 5'000'000;

struct StudyPoint {
    std::size_t number = 0;  ///< from 1
    /// By path: a number, a text, or the name of an alternative; then derived values.
    nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
    /// What is set in the base, in order; not null.
    std::vector<std::pair<std::string, std::shared_ptr<const ConfigNode>>> settings;
};

struct Study {
    std::string name;
    SourceRange where;             ///< the file
    ConfigNode base;               ///< with its files resolved
    std::vector<std::string> set;  ///< paths of it that were set on the command line
    std::vector<StudyPoint> points;
    std::vector<std::string> report;  ///< names of figures
    SlurmOptions slurm;               ///< changes no result
};

/// Reads a study and makes its points, none of which has been read as an experiment yet. Overrides are of the
/// study: "base.cluster.ranks=16", "repeat=2". O(candidates · size of the base).
[[nodiscard]] Result<Study> load_study(const std::filesystem::path& path,
                                       const std::vector<std::string>& overrides);

/// Whether a file is meant as a study for `load_study`: a mapping with `base` and without `optimize`.
[[nodiscard]] bool is_study(const std::filesystem::path& path);

/// The experiment of a point as it is written, before defaults.
[[nodiscard]] ConfigNode tree_of(const Study& study, const StudyPoint& point);
/// The experiment that a point is, or why it is none.
[[nodiscard]] Result<experiment::Experiment> experiment_of(const Study& study, const StudyPoint& point,
                                                           const experiment::Components& components);

/// "workload.batch.global=1024, network=flat"
[[nodiscard]] std::string parameter_text(const nlohmann::ordered_json& parameters);

/// Keys of a study, for `describe`.
[[nodiscard]] ComponentDescription study_description();

}  // namespace astrolabe::study
