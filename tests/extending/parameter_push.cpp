// Parameter push: in every iteration rank 0 broadcasts its parameters, and every rank computes with them.

#include "workload/src/register.hpp"

#include <vector>

namespace astrolabe::workload {

namespace {

struct PushParameters {
    Bytes size;
    Time compute;
    std::int64_t iterations = 1;
};

system::Program push_program(const PushParameters& parameters, std::size_t ranks) {
    system::Program program;
    program.ranks = ranks;
    program.iterations = static_cast<int>(parameters.iterations);
    const system::PartitionId world = program.partitions.push_back(system::Partition::world(ranks));
    std::vector<system::OperationId> before;
    for (int iteration = 0; iteration < program.iterations; ++iteration) {
        const system::OperationId push = program.operations.push_back(
            {.name = "push",
             .layer = "parameters",
             .iteration = iteration,
             .work =
                 system::CollectiveOperation{
                     .kind = system::CollectiveKind::kBroadcast, .partition = world, .size = parameters.size},
             .dependencies = before});
        before = {program.operations.push_back({.name = "compute",
                                                .layer = "model",
                                                .iteration = iteration,
                                                .work = system::ComputeOperation{parameters.compute},
                                                .dependencies = {push}})};
    }
    return program;
}

}  // namespace

void register_parameter_push(Registry<Job>& registry) {
    Schema<PushParameters> schema("parameter_push", "rank 0 broadcasts parameters, and every rank computes");
    schema.required("size", &PushParameters::size, "of the parameters", {Bytes(1), {}})
        .required("compute", &PushParameters::compute, "time of a rank in each iteration", {Time(0), {}})
        .optional("iterations", &PushParameters::iterations, "how often", {1, 1'000'000});
    registry.add<PushParameters>(schema, [](const PushParameters& parameters) {
        Job job;
        job.iterations = static_cast<int>(parameters.iterations);
        job.validation_errors = [](const Device&, std::size_t) { return ValidationErrors{}; };
        job.device_errors = [](const Device&) { return ValidationErrors{}; };
        job.program = [parameters](const Device&, std::size_t ranks) {
            return push_program(parameters, ranks);
        };
        job.facts = [parameters](const Device&, std::size_t) {
            return Facts{{"parameters", to_string(parameters.size)}};
        };
        return job;
    });
}

}  // namespace astrolabe::workload
