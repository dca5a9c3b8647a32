#include "stream_writer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload::torchrec {
namespace {

constexpr std::array<const char*, kStreams> kStreamNames{"compute", "host", "data_dist", "memcpy",
                                                         "prefetch"};

std::size_t index_of(Stream stream) {
    return static_cast<std::size_t>(stream);
}

/// `work`, but no rank less than `least`.
system::PerRank<Time> at_least(const system::PerRank<Time>& work, Time least) {
    const system::RankId any(0);
    if (work.uniform()) {
        return std::max(work[any], least);
    }
    std::vector<Time> each;
    for (std::size_t rank = 0; rank < work.size(); ++rank) {
        each.push_back(std::max(work[system::RankId(rank)], least));
    }
    return system::PerRank<Time>(std::move(each));
}

}  // namespace

StreamWriter::StreamWriter(system::Program& program, const Device& device)
    : program_(program),
      costs_(device.host.value_or(HostCosts{})),
      kernel_(device.kernel.value_or(Time(0))) {
    program_.streams.assign(kStreamNames.begin(), kStreamNames.end());
}

Time StreamWriter::gap() const {
    switch (phase_) {
        case Phase::kForward:
            return costs_.forward_launch;
        case Phase::kBackward:
            return costs_.backward_launch;
        case Phase::kOptimizer:
            return costs_.optimizer_launch;
        case Phase::kInput:
            return costs_.input_launch;
    }
    ASTROLABE_ASSERT(false, "every phase has its gap");
}

system::OperationId StreamWriter::launch(Stream stream, const Label& label, std::int64_t kernels,
                                         const system::PerRank<Time>& work) {
    if (kernels > 0) {
        advance_host(label, "launch", gap(), {});
    }
    const system::OperationId id = append(stream, label, at_least(work, kernels * kernel_), {});
    if (kernels > 1) {
        launch_more(kernels - 1);
    }
    return id;
}

system::OperationId StreamWriter::copy(const Label& label, Time time) {
    advance_host(label, "launch", Time(0), {});
    return append(Stream::kMemcpy, label, time, {});
}

system::OperationId StreamWriter::issue(Stream stream, const Label& label,
                                        const LayerCommunication& communication) {
    std::vector<const LayerCommunication*> stages{&communication};
    for (const LayerCommunication& stage : communication.then) {
        stages.push_back(&stage);
    }
    std::vector<system::OperationId> data;
    if (const auto& last = lasts_[index_of(stream)]) {
        data.push_back(*last);
    }
    for (const system::OperationId awaited : waits_[index_of(stream)]) {
        data.push_back(awaited);
    }
    system::OperationId id;
    for (const LayerCommunication* stage : stages) {
        Label of_stage = label;
        of_stage.name = fmt::format("{}.{}{}{}", label.name, system::to_string(stage->kind),
                                    stage->stage.empty() ? "" : ".", stage->stage);
        advance_host(of_stage, "call", costs_.collective, {});
        std::vector<system::OperationId> dependencies = data;
        if (const auto& host = lasts_[index_of(Stream::kHost)]) {
            dependencies.push_back(*host);
        }
        if (const auto before = groups_.find(stage->partition); before != groups_.end()) {
            dependencies.push_back(before->second);
        }
        id = program_.operations.push_back(
            {.name = std::move(of_stage.name),
             .layer = label.layer,
             .iteration = label.iteration,
             .work = system::CollectiveOperation{.kind = stage->kind,
                                                 .partition = stage->partition,
                                                 .size = stage->size,
                                                 .begins_together = true,
                                                 .pair_sizes = stage->pair_sizes},
             .dependencies = std::move(dependencies)});
        groups_[stage->partition] = id;
        data = {id};
    }
    return id;
}

void StreamWriter::wait(Stream stream, system::OperationId operation) {
    waits_[index_of(stream)].push_back(operation);
}

void StreamWriter::wait_for_collective(Stream stream, system::OperationId collective) {
    spend(costs_.wait);
    wait(stream, collective);
}

void StreamWriter::block(const Label& label, system::OperationId operation) {
    advance_host(label, "block", Time(0), {operation});
}

void StreamWriter::synchronise(const Label& label, Stream stream) {
    std::vector<system::OperationId> awaited = waits_[index_of(stream)];
    if (const auto& last = lasts_[index_of(stream)]) {
        awaited.push_back(*last);
    }
    advance_host(label, "block", Time(0), std::move(awaited));
}

void StreamWriter::finish_waits(Stream stream, const Label& label) {
    if (!waits_[index_of(stream)].empty()) {
        append(stream, label, Time(0), {});
    }
}

void StreamWriter::finish(const Label& label) {
    advance_host(label, "launch", Time(0), {});
    if (!lasts_[index_of(Stream::kPrefetch)]) {
        program_.streams.pop_back();
    }
}

void StreamWriter::advance_host(const Label& label, std::string_view what, Time more,
                                std::vector<system::OperationId> dependencies) {
    const Time time = std::exchange(pending_, Time(0)) + more;
    if (time == Time(0) && dependencies.empty()) {
        return;
    }
    // What the host did before it waits for something takes no part in the wait.
    if (time > Time(0) && !dependencies.empty()) {
        append(Stream::kHost, {fmt::format("{}.before_{}", label.name, what), label.layer, label.iteration},
               time, {});
        append(Stream::kHost, {fmt::format("{}.{}", label.name, what), label.layer, label.iteration}, Time(0),
               std::move(dependencies));
        return;
    }
    append(Stream::kHost, {fmt::format("{}.{}", label.name, what), label.layer, label.iteration}, time,
           std::move(dependencies));
}

system::OperationId StreamWriter::append(Stream stream, const Label& label,
                                         const system::PerRank<Time>& duration,
                                         std::vector<system::OperationId> dependencies) {
    const std::size_t index = index_of(stream);
    for (const system::OperationId awaited : std::exchange(waits_[index], {})) {
        dependencies.push_back(awaited);
    }
    const auto& host = lasts_[index_of(Stream::kHost)];
    if (stream != Stream::kHost && host && launched_by_[index] != host) {
        dependencies.push_back(*host);
        launched_by_[index] = host;
    }
    const system::OperationId id = program_.operations.push_back(
        {.name = label.name,
         .layer = label.layer,
         .iteration = label.iteration,
         .work = system::ComputeOperation{.duration = duration, .stream = static_cast<std::uint32_t>(index)},
         .dependencies = std::move(dependencies)});
    lasts_[index] = id;
    return id;
}

}  // namespace astrolabe::workload::torchrec
