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

std::size_t prefetch(const TrainingPlan& plan) {
    return static_cast<std::size_t>(plan.prefetch);
}

}  // namespace

ProgramWriter::ProgramWriter(const TrainingPlan& plan)
    : plan_(plan),
      weights_(plan.layers.size()) {
    ASTROLABE_ASSERT(plan.ranks >= 1, "there are ranks");
    ASTROLABE_ASSERT(plan.iterations >= 1, "at least one iteration");
    ASTROLABE_ASSERT(!plan.layers.empty(), "at least one layer");
    ASTROLABE_ASSERT(plan.prefetch >= 0, "gathers come before what needs them");
    program_.ranks = plan.ranks;
    program_.iterations = plan.iterations;
    program_.partitions = plan.partitions;
}

void ProgramWriter::begin_iteration() {
    end_iteration();
    ++iteration_;
    gradients_missing_.clear();
    for (const GradientBucket& bucket : plan_.buckets) {
        gradients_missing_.push_back(bucket.layers.size());
    }
    visits_.clear();
    next_visit_ = 0;
    for (std::size_t layer = 0; layer < plan_.layers.size(); ++layer) {
        if (plan_.layers[layer].parameter_gather) {
            visits_.push_back({.layer = layer, .forward = true});
        }
    }
    for (std::size_t visit = visits_.size(); visit-- > 0;) {
        visits_.push_back({.layer = visits_[visit].layer, .forward = false});
    }
    for (std::size_t visit = 0; visit < visits_.size() && visit < prefetch(plan_); ++visit) {
        issue_gather(visit);
    }
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

void ProgramWriter::wait_for_weights(std::size_t index) {
    wait_for(weights_[index]);
    const TrainingLayer& layer = plan_.layers[index];
    if (weights_[index] && layer.optimizer_step) {
        add_compute(layer.name, "optimizer_step", *layer.optimizer_step);
    }
}

void ProgramWriter::compute(std::size_t index, Pass pass) {
    const TrainingLayer& layer = plan_.layers[index];
    if (pass == Pass::kForward) {
        gather_parameters(index);
        add_compute(layer.name, to_string(pass), layer.forward);
        return;
    }
    const auto& duration = pass == Pass::kInputGradient ? layer.input_gradient : layer.weight_gradient;
    if (duration) {
        if (pass == Pass::kWeightGradient) {
            gather_parameters(index);
        }
        add_compute(layer.name, to_string(pass), *duration);
    }
}

void ProgramWriter::update(std::size_t index, std::size_t late) {
    const TrainingLayer& layer = plan_.layers[index];
    const std::string suffix = late == 0 ? "" : fmt::format("_late_{}", late);
    if (layer.weight_gradient) {
        add_compute(layer.name, "update" + suffix, *layer.weight_gradient);
    }
    if (late == 0) {
        communicate(index, Pass::kWeightGradient, system::Priority::kDefault);
    } else {
        communicate(index, Pass::kWeightGradient, fmt::format("weight_gradient{}", suffix),
                    system::Priority::kDefault, {*last_compute_});
    }
}

std::optional<system::OperationId> ProgramWriter::communicate(std::size_t index, Pass pass,
                                                              system::Priority priority) {
    const TrainingLayer& layer = plan_.layers[index];
    if (pass == Pass::kWeightGradient && layer.bucket) {
        return complete_gradient(*layer.bucket);
    }
    if (!communication_of(layer, pass)) {
        return std::nullopt;
    }
    ASTROLABE_ASSERT(last_compute_, "a collective follows the compute that makes its data");
    return communicate(index, pass, to_string(pass), priority, {*last_compute_});
}

system::OperationId ProgramWriter::issue_input(int iteration) {
    ASTROLABE_ASSERT(plan_.input, "the plan has an input");
    std::vector<system::OperationId> dependencies;
    if (last_compute_) {
        dependencies.push_back(*last_compute_);
    }
    return issue({.communication = *plan_.input, .layer = "Input", .what = "indices", .iteration = iteration},
                 std::move(dependencies));
}

std::optional<system::OperationId> ProgramWriter::issue_at_start(std::size_t index, Pass pass,
                                                                 system::Priority priority) {
    return communicate(index, pass, to_string(pass), priority, {});
}

void ProgramWriter::recompute(std::size_t index, std::size_t initiator) {
    const TrainingLayer& layer = plan_.layers[index];
    const std::string what = fmt::format("recompute_for_{}", plan_.layers[initiator].name);
    add_compute(layer.name, what, layer.forward);
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
    const system::OperationId id = issue({.communication = *communication,
                                          .layer = layer.name,
                                          .what = std::string(what),
                                          .priority = priority,
                                          .explicit_priority = layer.priority,
                                          .completion_delay = layer.update_delay},
                                         std::move(dependencies));
    if (pass == Pass::kWeightGradient) {
        weights_[index] = id;
    }
    return id;
}

std::optional<system::OperationId> ProgramWriter::complete_gradient(std::size_t index) {
    ASTROLABE_ASSERT(gradients_missing_.at(index) > 0, "a layer computes its gradient once an iteration");
    if (--gradients_missing_[index] > 0) {
        return std::nullopt;
    }
    const GradientBucket& bucket = plan_.buckets[index];
    const system::OperationId id = issue({.communication = bucket.communication,
                                          .layer = bucket.name,
                                          .what = std::string(to_string(Pass::kWeightGradient)),
                                          .explicit_priority = bucket.priority},
                                         {*last_compute_});
    for (const std::size_t layer : bucket.layers) {
        weights_[layer] = id;
    }
    return id;
}

system::OperationId ProgramWriter::issue(const Issue& issue, std::vector<system::OperationId> dependencies) {
    if (issue.communication.encode) {
        append_compute(fmt::format("{}.{}.encode", issue.layer, issue.what), issue.layer,
                       *issue.communication.encode, std::move(dependencies));
        dependencies = {*last_compute_};
    }
    std::vector<const LayerCommunication*> stages{&issue.communication};
    for (const LayerCommunication& stage : issue.communication.then) {
        stages.push_back(&stage);
    }
    system::OperationId id;
    for (const LayerCommunication* stage : stages) {
        const bool is_last = stage == stages.back();
        id = program_.operations.push_back(
            {.name = fmt::format("{}.{}.{}{}{}", issue.layer, issue.what, system::to_string(stage->kind),
                                 stage->stage.empty() ? "" : ".", stage->stage),
             .layer = issue.layer,
             .iteration = issue.iteration.value_or(iteration_),
             .work =
                 system::CollectiveOperation{
                     .kind = stage->kind,
                     .partition = stage->partition,
                     .size = stage->size,
                     .priority = issue.explicit_priority ? system::Priority::kExplicit : issue.priority,
                     .explicit_priority = issue.explicit_priority.value_or(0),
                     .completion_delay = is_last ? issue.completion_delay : Time(0),
                     .pair_sizes = stage->pair_sizes},
             .dependencies = std::move(dependencies)});
        dependencies = {id};
    }
    if (issue.communication.decode) {
        decodes_[id] = {.layer = issue.layer, .what = issue.what, .duration = *issue.communication.decode};
    }
    return id;
}

void ProgramWriter::gather_parameters(std::size_t layer) {
    if (!plan_.layers[layer].parameter_gather) {
        return;
    }
    ASTROLABE_ASSERT(next_visit_ < visits_.size() && visits_[next_visit_].layer == layer,
                     "layers compute forward in order, then backward");
    const std::size_t visit = next_visit_++;
    if (visit + prefetch(plan_) < visits_.size()) {
        issue_gather(visit + prefetch(plan_));
    }
    wait_for(visits_[visit].gather);
}

void ProgramWriter::issue_gather(std::size_t index) {
    Visit& visit = visits_[index];
    const TrainingLayer& layer = plan_.layers[visit.layer];
    std::vector<system::OperationId> dependencies;
    if (last_compute_) {
        dependencies.push_back(*last_compute_);
    }
    if (visit.forward && weights_[visit.layer]) {
        dependencies.push_back(*weights_[visit.layer]);
    }
    visit.gather = issue({.communication = *layer.parameter_gather,
                          .layer = layer.name,
                          .what = visit.forward ? "forward_parameters" : "backward_parameters",
                          .priority = system::Priority::kHighest,
                          .explicit_priority = layer.priority},
                         std::move(dependencies));
}

void ProgramWriter::decode_awaited() {
    std::vector<system::OperationId> awaited;
    for (const system::OperationId id : std::exchange(waits_, {})) {
        awaited.push_back(id);
        const auto found = decodes_.find(id);
        if (found != decodes_.end()) {
            const Decode decode = std::move(found->second);
            decodes_.erase(found);
            append_compute(fmt::format("{}.{}.decode", decode.layer, decode.what), decode.layer,
                           decode.duration, std::exchange(awaited, {}));
        }
    }
    waits_ = std::move(awaited);
}

void ProgramWriter::add_compute(std::string_view layer, std::string_view what,
                                const system::PerRank<Time>& duration) {
    decode_awaited();
    append_compute(fmt::format("{}.{}", layer, what), std::string(layer), duration,
                   std::exchange(waits_, {}));
}

void ProgramWriter::append_compute(std::string name, std::string layer, const system::PerRank<Time>& duration,
                                   std::vector<system::OperationId> dependencies) {
    last_compute_ = program_.operations.push_back({.name = std::move(name),
                                                   .layer = std::move(layer),
                                                   .iteration = iteration_,
                                                   .work = system::ComputeOperation{.duration = duration},
                                                   .dependencies = std::move(dependencies)});
}

void ProgramWriter::end_iteration() {
    decode_awaited();
    if (waits_.empty()) {
        return;
    }
    const system::Operation& awaited = program_.operations[waits_.back()];
    std::string name = awaited.name + ".wait";
    std::string layer = awaited.layer;
    append_compute(std::move(name), std::move(layer), Time(0), std::exchange(waits_, {}));
}

}  // namespace astrolabe::workload
