// The section `jobs` as it is read, and an experiment made of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/experiment/file/jobs.hpp>

namespace astrolabe::experiment {

/// Reads one experiment without `jobs`; reports what is wrong with it. `fabric`, unless null, is what its
/// network section makes.
using ReadJob = std::function<std::optional<Experiment>(
    ConfigNode root, std::shared_ptr<const network::Fabric> fabric, ReadContext& context)>;

/// Replaces sections of jobs that are the paths of files.
void resolve_job_references(ConfigNode& jobs, ReadContext& context);

/// Makes the experiment of a file with `jobs`, whose `name` and `seed` are known already; reports what is
/// wrong.
[[nodiscard]] std::optional<Experiment> read_jobs(const ConfigNode& root, const std::string& name,
                                                  std::uint64_t seed, const Components& components,
                                                  const ReadJob& read_job, ReadContext& context);

/// The section, with its keys.
[[nodiscard]] ParameterDescriptor jobs_parameter();

}  // namespace astrolabe::experiment
