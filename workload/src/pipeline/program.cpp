#include "pipeline.hpp"

#include <utility>

#include <fmt/format.h>

namespace astrolabe::workload {
namespace {

using system::CollectiveKind;
using system::OperationId;
using system::PartitionId;
using system::RankId;

/// Writes the iterations of a plan; a stage's operations are of all its ranks.
class PipelineWriter {
public:
    PipelineWriter(const PipelinePlan& plan, int iterations)
        : plan_(plan),
          size_(plan.size()),
          last_compute_(size_.stages),
          forward_(size_.parts(), std::vector<OperationId>(size_.micro_batches)),
          backward_(forward_),
          gradients_(size_.parts()) {
        program_.ranks = plan.ranks();
        program_.iterations = iterations;
        add_ranks();
    }

    [[nodiscard]] system::Program write() && {
        const std::vector<PipelineStep> steps = steps_in_order(size_);
        for (; iteration_ < program_.iterations; ++iteration_) {
            for (const PipelineStep& step : steps) {
                add(step);
            }
        }
        program_.check();
        return std::move(program_);
    }

private:
    void add_ranks() {
        for (std::size_t stage = 0; stage < size_.stages; ++stage) {
            std::vector<RankId> ranks;
            std::vector<std::vector<RankId>> replicas(plan_.replicas());
            std::vector<std::vector<RankId>> places(plan_.tensor());
            for (std::size_t replica = 0; replica < plan_.replicas(); ++replica) {
                for (std::size_t place = 0; place < plan_.tensor(); ++place) {
                    const RankId rank = plan_.rank(stage, replica, place);
                    ranks.push_back(rank);
                    replicas[replica].push_back(rank);
                    places[place].push_back(rank);
                }
            }
            if (size_.stages > 1) {
                stage_ranks_.emplace_back(program_.rank_sets.push_back(std::move(ranks)));
            } else {
                stage_ranks_.emplace_back();
            }
            const std::string of = size_.stages > 1 ? fmt::format(" of stage {}", stage) : "";
            const bool is_world = size_.stages == 1 && plan_.tensor() == 1;
            if (plan_.tensor() > 1) {
                tensor_groups_.push_back(program_.partitions.push_back({"tensor" + of, std::move(replicas)}));
            }
            if (plan_.replicas() > 1) {
                data_groups_.push_back(
                    program_.partitions.push_back({is_world ? "world" : "data" + of, std::move(places)}));
            }
        }
        for (std::size_t stage = 0; stage < size_.stages && size_.stages > 1; ++stage) {
            const std::size_t next = (stage + 1) % size_.stages;
            forward_pairs_.push_back(add_pairs(stage, next));
            backward_pairs_.push_back(add_pairs(next, stage));
        }
    }

    PartitionId add_pairs(std::size_t from, std::size_t to) {
        std::vector<std::vector<RankId>> pairs;
        for (std::size_t replica = 0; replica < plan_.replicas(); ++replica) {
            for (std::size_t place = 0; place < plan_.tensor(); ++place) {
                pairs.push_back({plan_.rank(from, replica, place), plan_.rank(to, replica, place)});
            }
        }
        return program_.partitions.push_back({fmt::format("stage {} to {}", from, to), std::move(pairs)});
    }

    void add(const PipelineStep& step) {
        const std::size_t stage = size_.stage_of(step.part);
        name_ = size_.parts_per_stage > 1
                    ? fmt::format("stage{}.part{}.{}.{}", stage, step.part / size_.stages,
                                  step.is_forward ? "forward" : "backward", step.micro_batch)
                    : fmt::format("stage{}.{}.{}", stage, step.is_forward ? "forward" : "backward",
                                  step.micro_batch);
        layer_ = fmt::format("stage{}", stage);
        compute(step, stage, what_comes_before(step, stage));
        (step.is_forward ? forward_ : backward_)[step.part][step.micro_batch] = last_of_step_;
        if (step.is_forward && step.part + 1 < size_.parts()) {
            forward_[step.part][step.micro_batch] = send(forward_pairs_[stage], plan_.message(step.part));
        } else if (!step.is_forward && step.part > 0) {
            backward_[step.part][step.micro_batch] =
                send(backward_pairs_[size_.stage_of(step.part - 1)], plan_.message(step.part - 1));
        }
    }

    std::vector<OperationId> what_comes_before(const PipelineStep& step, std::size_t stage) {
        std::vector<OperationId> before;
        if (step.is_forward && step.micro_batch == 0) {
            before = std::exchange(gradients_[step.part], {});
        }
        if (step.is_forward && step.part > 0) {
            before.push_back(receive(forward_[step.part - 1][step.micro_batch], stage));
        } else if (!step.is_forward && step.part + 1 < size_.parts()) {
            before.push_back(receive(backward_[step.part + 1][step.micro_batch], stage));
        } else if (!step.is_forward) {
            before.push_back(forward_[step.part][step.micro_batch]);
        }
        return before;
    }

    void compute(const PipelineStep& step, std::size_t stage, std::vector<OperationId> before) {
        const bool ends = !step.is_forward && step.micro_batch + 1 == size_.micro_batches;
        const std::vector<PipelinePlan::Piece> pieces = plan_.pieces(step.part, step.is_forward, ends);
        std::size_t bucket = 0;
        for (std::size_t number = 0; number < pieces.size(); ++number) {
            const PipelinePlan::Piece& piece = pieces[number];
            const std::string name = pieces.size() > 1 ? fmt::format("{}.piece{}", name_, number) : name_;
            last_of_step_ =
                push(name, system::ComputeOperation{.duration = piece.duration, .ranks = stage_ranks_[stage]},
                     std::move(before));
            last_compute_[stage] = last_of_step_;
            before.clear();
            if (piece.gradients && plan_.replicas() > 1) {
                gradients_[step.part].push_back(push(
                    fmt::format("{}.gradients{}.all_reduce", name_, bucket++),
                    system::CollectiveOperation{.partition = data_groups_[stage], .size = *piece.gradients},
                    {last_of_step_}));
            }
            if (piece.tensor_all_reduce) {
                last_of_step_ = push(name + ".all_reduce",
                                     system::CollectiveOperation{.partition = tensor_groups_[stage],
                                                                 .size = *piece.tensor_all_reduce},
                                     {last_of_step_});
                before = {last_of_step_};
            }
        }
    }

    OperationId send(PartitionId pairs, Bytes size) {
        return push(name_ + ".send",
                    system::CollectiveOperation{.kind = CollectiveKind::kPointToPoint,
                                                .partition = pairs,
                                                .size = size,
                                                .is_one_sided = true},
                    {last_of_step_});
    }

    /// Asked for when the stage is done with what it computes before.
    OperationId receive(OperationId send, std::size_t stage) {
        std::vector<OperationId> after;
        if (last_compute_[stage]) {
            after.push_back(*last_compute_[stage]);
        }
        return push(name_ + ".receive", system::ReceiveOperation{send}, std::move(after));
    }

    template <class Work>
    OperationId push(std::string name, Work work, std::vector<OperationId> dependencies) {
        return program_.operations.push_back({.name = std::move(name),
                                              .layer = layer_,
                                              .iteration = iteration_,
                                              .work = std::move(work),
                                              .dependencies = std::move(dependencies)});
    }

    const PipelinePlan& plan_;
    const PipelineSize& size_;
    system::Program program_;
    std::vector<std::optional<system::RankSetId>> stage_ranks_;
    std::vector<PartitionId> tensor_groups_;   // by stage, where there are several ranks
    std::vector<PartitionId> data_groups_;     // by stage, where there are several replicas
    std::vector<PartitionId> forward_pairs_;   // by sending stage
    std::vector<PartitionId> backward_pairs_;  // by receiving stage
    int iteration_ = 0;
    std::string name_;   // of the step that is written
    std::string layer_;  // likewise
    OperationId last_of_step_;
    std::vector<std::optional<OperationId>> last_compute_;  // by stage
    std::vector<std::vector<OperationId>> forward_;         // by part and micro-batch; sends, where sent
    std::vector<std::vector<OperationId>> backward_;
    std::vector<std::vector<OperationId>> gradients_;  // by part, all-reduces of the iteration before
};

}  // namespace

system::Program pipeline_program(const PipelinePlan& plan, int iterations) {
    return PipelineWriter(plan, iterations).write();
}

}  // namespace astrolabe::workload
