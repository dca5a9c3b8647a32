/// What the workload layer offers to experiment files: training jobs and devices.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/registry.hpp>
#include <astrolabe/system/program.hpp>
#include <astrolabe/workload/device.hpp>

namespace astrolabe::workload {

/// A configured training job; the cluster it runs on completes it.
struct Job {
    int iterations = 1;
    /// What is wrong with this job on that many ranks of this device; keys are those of the workload section…
    std::function<std::vector<ParameterProblem>(const Device&, std::size_t ranks)> problems;
    /// … and of the device section.
    std::function<std::vector<ParameterProblem>(const Device&)> device_problems;
    /// Precondition: no problems.
    std::function<system::Program(const Device&, std::size_t ranks)> program;
    /// Size of the job for people, one (name, value) a line: parameters, bytes, compute time.
    std::function<std::vector<std::pair<std::string, std::string>>(const Device&, std::size_t ranks)> facts;
};

void register_builtin_workloads(Registry<Job>& registry);
void register_builtin_devices(Registry<Device>& registry);

}  // namespace astrolabe::workload
