/// What the workload layer offers to experiment files: training jobs and devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/system/flows/flow.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/device/device.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload {

/// Tables of which each has its own rank.
struct PlacedTables {
    std::vector<TablePlace> places;        ///< by table
    std::vector<std::int64_t> dimensions;  ///< columns of each
};
/// Tables that are all alike: how many each rank has.
struct CountedTables {
    std::vector<std::int64_t> tables;
};
/// Whole tables that can be moved to other ranks; none where a job places no whole tables.
using MovableTables = std::variant<std::monostate, PlacedTables, CountedTables>;

/// What the published source of a workload counts in an iteration otherwise than a run sends.
struct SourceCounts {
    std::string key;              ///< of `json` in results; empty: there are none
    nlohmann::ordered_json json;  ///< those counts, what a run sends, and why they differ
    std::string text;             ///< the same on one line, for people
};

/// What flows are sent over.
struct FlowSetting {
    std::size_t hosts = 0;
    Bandwidth rate;  ///< of the link of a host, mean over hosts
};

/// A configured training job; the cluster it runs on completes it.
struct Job {
    int iterations = 1;
    /// Errors of this job on that many ranks of this device; keys are those of the workload section…
    std::function<ValidationErrors(const Device&, std::size_t ranks)> validation_errors;
    /// … and of the device section.
    std::function<ValidationErrors(const Device&)> device_errors;
    /// Precondition: no validation errors.
    std::function<system::Program(const Device&, std::size_t ranks)> program;
    /// Precondition: no validation errors.
    std::function<MovableTables(const Device&, std::size_t ranks)> tables = [](const Device&, std::size_t) {
        return MovableTables();
    };
    /// Where the tables are, as TorchRec writes it; null where the job places none. Precondition: no
    /// validation errors.
    std::function<nlohmann::ordered_json(const Device&, std::size_t ranks)> torchrec_plan =
        [](const Device&, std::size_t) { return nlohmann::ordered_json(); };
    /// Size of the job for people, one (name, value) a line: parameters, bytes, compute time.
    std::function<std::vector<std::pair<std::string, std::string>>(const Device&, std::size_t ranks)> facts;
    /// Of a job that is flows between ranks, whose program is empty; null of all others. Precondition: no
    /// validation errors.
    std::function<std::shared_ptr<const system::FlowTraffic>(const FlowSetting&)> flows;
    /// Precondition: no validation errors.
    std::function<SourceCounts(const Device&, std::size_t ranks)> source_counts =
        [](const Device&, std::size_t) { return SourceCounts(); };
};

void register_builtin_workloads(Registry<Job>& registry);
void register_builtin_devices(Registry<Device>& registry);

}  // namespace astrolabe::workload
