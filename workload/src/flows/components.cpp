#include "../register.hpp"

#include <memory>

#include <fmt/format.h>

#include <astrolabe/workload/flows/flows.hpp>

namespace astrolabe::workload {

void register_flows(Registry<Job>& registry) {
    const Schema<FlowKeys> schema =
        flow_schema("flows", "messages that start at times of their own, listed or drawn at random", false);
    registry.add<FlowKeys>(schema, [](const FlowKeys& keys) {
        Job job;
        job.validation_errors = [keys](const Device&, std::size_t ranks) {
            return validation_errors(keys, ranks);
        };
        job.device_errors = [](const Device&) { return ValidationErrors{}; };
        job.program = [](const Device&, std::size_t ranks) {
            system::Program program;
            program.ranks = ranks;
            program.iterations = 1;
            return program;
        };
        job.flows = [keys](const FlowSetting& setting) {
            return std::make_shared<const system::FlowTraffic>(make_traffic(keys, setting, "workload.flows"));
        };
        job.facts = [keys](const Device&, std::size_t) {
            Facts facts;
            if (keys.list) {
                facts.emplace_back("flows",
                                   fmt::format("{}", keys.list->flows.size() + keys.list->waiting.size()));
            } else {
                facts.emplace_back("mean size of a flow",
                                   fmt::format("{:.0f} bytes", keys.sizes->distribution->mean()));
            }
            return facts;
        };
        return job;
    });
}

}  // namespace astrolabe::workload
