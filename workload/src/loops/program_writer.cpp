#include "program_writer.hpp"

#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

std::string_view to_string(Pass pass) {
    switch (pass) {
        case Pass::kForward:
            return "forward";
        case Pass::kInputGradient:
            return "input_gradient";
        case Pass::kWeightGradient:
            return "weight_gradient";
    }
    ASTROLABE_ASSERT(false, "every pass has a name");
}

const std::optional<LayerCommunication>& communication_of(const TrainingLayer& layer, Pass pass) {
    switch (pass) {
        case Pass::kForward:
            return layer.forward_communication;
        case Pass::kInputGradient:
            return layer.input_gradient_communication;
        case Pass::kWeightGradient:
            return layer.weight_gradient_communication;
    }
    ASTROLABE_ASSERT(false, "every pass has its communication");
}

}  // namespace

ProgramWriter::ProgramWriter(const TrainingPlan& plan)
    : plan_(plan),
      weights_(plan.layers.size()) {
    ASTROLABE_ASSERT(plan.ranks >= 1, "somebody trains");
    ASTROLABE_ASSERT(plan.iterations >= 1, "at least one iteration");
    ASTROLABE_ASSERT(!plan.layers.empty(), "at least one layer");
    program_.ranks = plan.ranks;
    program_.iterations = plan.iterations;
    program_.partitions = plan.partitions;
}

void ProgramWriter::begin_iteration() {
    end_iteration();
    ++iteration_;
}

system::Program ProgramWriter::finish() && {
    end_iteration();
    program_.check();
    return std::move(program_);
}

void ProgramWriter::wait_for(std::optional<system::OperationId> collective) {
    if (collective) {
        waits_.push_back(*collective);
    }
}

void ProgramWriter::compute(std::size_t index, Pass pass) {
    const TrainingLayer& layer = plan_.layers[index];
    if (pass == Pass::kForward) {
        add_compute(layer, to_string(pass), layer.forward);
        return;
    }
    const auto& duration = pass == Pass::kInputGradient ? layer.input_gradient : layer.weight_gradient;
    if (duration) {
        add_compute(layer, to_string(pass), *duration);
    }
}

void ProgramWriter::update(std::size_t index) {
    const TrainingLayer& layer = plan_.layers[index];
    if (layer.weight_gradient) {
        add_compute(layer, "update", *layer.weight_gradient);
    }
}

std::optional<system::OperationId> ProgramWriter::communicate(std::size_t index, Pass pass,
                                                              system::Priority priority) {
    if (!communication_of(plan_.layers[index], pass)) {
        return std::nullopt;
    }
    ASTROLABE_ASSERT(last_compute_, "a collective follows the compute that makes its data");
    return communicate(index, pass, to_string(pass), priority, {*last_compute_});
}

std::optional<system::OperationId> ProgramWriter::issue_at_start(std::size_t index, Pass pass,
                                                                 system::Priority priority) {
    return communicate(index, pass, to_string(pass), priority, {});
}

void ProgramWriter::recompute(std::size_t index, std::size_t initiator) {
    const TrainingLayer& layer = plan_.layers[index];
    const std::string what = fmt::format("recompute_for_{}", plan_.layers[initiator].name);
    add_compute(layer, what, layer.forward);
    wait_for(communicate(index, Pass::kForward, what, system::Priority::kDefault, {*last_compute_}));
}

std::optional<system::OperationId> ProgramWriter::communicate(std::size_t index, Pass pass,
                                                              std::string_view what,
                                                              system::Priority priority,
                                                              std::vector<system::OperationId> dependencies) {
    const TrainingLayer& layer = plan_.layers[index];
    const std::optional<LayerCommunication>& communication = communication_of(layer, pass);
    if (!communication) {
        return std::nullopt;
    }
    const system::OperationId id = program_.operations.push_back(
        {.name = fmt::format("{}.{}.{}", layer.name, what, system::to_string(communication->kind)),
         .layer = layer.name,
         .iteration = iteration_,
         .work = system::CollectiveOperation{.kind = communication->kind,
                                             .partition = communication->partition,
                                             .size = communication->size,
                                             .priority = priority,
                                             .completion_delay = layer.update_delay},
         .dependencies = std::move(dependencies)});
    if (pass == Pass::kWeightGradient) {
        weights_[index] = id;
    }
    return id;
}

void ProgramWriter::add_compute(const TrainingLayer& layer, std::string_view what,
                                const system::PerRank<Time>& duration) {
    last_compute_ = program_.operations.push_back({.name = fmt::format("{}.{}", layer.name, what),
                                                   .layer = layer.name,
                                                   .iteration = iteration_,
                                                   .work = system::ComputeOperation{.duration = duration},
                                                   .dependencies = std::exchange(waits_, {})});
}

void ProgramWriter::end_iteration() {
    if (waits_.empty()) {
        return;
    }
    const system::Operation& awaited = program_.operations[waits_.back()];
    std::string name = awaited.name + ".wait";
    std::string layer = awaited.layer;
    last_compute_ = program_.operations.push_back({.name = std::move(name),
                                                   .layer = std::move(layer),
                                                   .iteration = iteration_,
                                                   .work = system::ComputeOperation{},
                                                   .dependencies = std::exchange(waits_, {})});
}

}  // namespace astrolabe::workload
