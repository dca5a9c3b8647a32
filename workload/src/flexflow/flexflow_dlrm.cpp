#include "../integer_division.hpp"
#include "flexflow_cost.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::workload {

namespace {

using system::OperationId;

Bytes slice_size(const FlexflowModel& model, const FlexflowTraining& training, std::size_t nodes) {
    return training.batch / static_cast<std::int64_t>(nodes) * model.dimension * training.element_size;
}

Bytes scaled(Bytes size, const FlexflowTraining& training) {
    return Bytes(divide_up(size.count(), training.scale_down));
}

enum class Direction : std::uint8_t { kForward, kBackward };

/// Writes iterations task by task.
class TaskWriter {
public:
    TaskWriter(const FlexflowModel& model, const FlexflowTraining& training, const Device& device,
               std::size_t nodes)
        : training_(training),
          replay_(training.replay.value_or(FlexflowReplay{})),
          nodes_(nodes),
          rounds_(model, training, nodes),
          slice_(scaled(slice_size(model, training, nodes), training)),
          cost_(model, training, device, nodes),
          bottom_(bottom_layers(model)),
          top_(top_layers(model)) {
        program_.ranks = nodes;
        program_.iterations = training.iterations;
        program_.compute_order =
            is_first_come() ? system::ComputeOrder::kFirstCome : system::ComputeOrder::kProgram;
        world_ = program_.partitions.push_back(system::Partition::world(nodes));
        share_sizes();
    }

    void write_iteration(int iteration) {
        iteration_ = iteration;
        const std::vector<OperationId> before = std::exchange(end_of_iteration_, {});
        std::vector<OperationId> pooled = look_up_tables(before);
        last_ = before;
        forward(bottom_);
        append_ordered(pooled, last_);
        last_ = {concatenate("Concat.forward", std::move(pooled))};
        forward(top_);
        backward(top_);
        const OperationId concatenated = concatenate("Concat.backward", ordered(last_));
        last_ = {concatenated};
        const std::vector<OperationId> gradients = return_gradients(concatenated);
        backward(bottom_);
        std::vector<OperationId> all = std::exchange(reductions_, {});
        append_ordered(all, update_tables(gradients));
        end_of_iteration_ = {compute("Gradients.wait", "Gradients", Time(0), std::move(all))};
    }

    [[nodiscard]] system::Program finish() && {
        program_.check();
        return std::move(program_);
    }

private:
    [[nodiscard]] std::int64_t nodes() const { return static_cast<std::int64_t>(nodes_); }
    [[nodiscard]] bool is_first_come() const { return replay_.task_order == TaskOrder::kFirstCome; }

    /// Owners of a round are among those of the round before: as many are the same.
    void share_sizes() {
        for (std::int64_t round = 0; round < rounds_.count(); ++round) {
            const std::int64_t owners = rounds_[round].owners;
            if (owners == nodes() || uneven_.contains(owners)) {
                continue;
            }
            std::vector<Bytes> sizes(nodes_);
            for (std::size_t node = 0; node < nodes_; ++node) {
                sizes[node] = rounds_.is_owner(node, round) ? slice_ : Bytes(0);
            }
            using Sizes = const std::vector<system::PairSizes>;
            uneven_[owners] = {std::make_shared<Sizes>(1, system::PairSizes::by_source(sizes)),
                               std::make_shared<Sizes>(1, system::PairSizes::by_destination(sizes))};
        }
    }

    /// In program order computations that follow one another need no dependencies.
    [[nodiscard]] std::vector<OperationId> ordered(const std::vector<OperationId>& before) const {
        return is_first_come() ? before : std::vector<OperationId>();
    }
    void append_ordered(std::vector<OperationId>& dependencies, const std::vector<OperationId>& more) const {
        if (is_first_come()) {
            dependencies.insert(dependencies.end(), more.begin(), more.end());
        }
    }

    std::vector<OperationId> look_up_tables(const std::vector<OperationId>& before) {
        std::vector<OperationId> exchanges;
        for (std::int64_t round = 0; round < rounds_.count(); ++round) {
            const OperationId lookup = compute(fmt::format("Embedding_{}.forward", round), kEmbeddingLayer,
                                               on_owners(round, cost_.table_forward()), ordered(before));
            // Slices of every table for every node, in equal parts with the owners.
            const TableRound& in = rounds_[round];
            exchanges.push_back(
                exchange(round, Direction::kForward, in.tables * nodes() / in.owners * slice_, lookup));
        }
        return exchanges;
    }

    std::vector<OperationId> return_gradients(OperationId concatenated) {
        std::vector<OperationId> exchanges;
        for (std::int64_t round = 0; round < rounds_.count(); ++round) {
            // Every node holds a slice for each table of the round.
            exchanges.push_back(
                exchange(round, Direction::kBackward, rounds_[round].tables * slice_, concatenated));
        }
        return exchanges;
    }

    std::vector<OperationId> update_tables(const std::vector<OperationId>& gradients) {
        std::vector<OperationId> updates;
        for (std::int64_t round = 0; round < rounds_.count(); ++round) {
            updates.push_back(compute(fmt::format("Embedding_{}.backward", round), kEmbeddingLayer,
                                      on_owners(round, cost_.table_backward()),
                                      {gradients[static_cast<std::size_t>(round)]}));
        }
        return updates;
    }

    void forward(const std::vector<MlpLayer>& layers) {
        for (const MlpLayer& layer : layers) {
            last_ = {
                compute(layer.name + ".forward", layer.name, cost_.layer_forward(layer), ordered(last_))};
        }
    }

    void backward(const std::vector<MlpLayer>& layers) {
        for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
            const std::string name = layer->name + ".backward";
            const OperationId done = compute(name, layer->name, cost_.layer_backward(*layer), ordered(last_));
            last_ = {done};
            const OperationId start =
                replay_.all_reduce_start == AllReduceStart::kAllGradients ? on_all_nodes(*layer, done) : done;
            if (training_.separate_bias) {
                reduce(name + ".kernel", layer->name, layer->parameters(), start);
                reduce(name + ".bias", layer->name, layer->output_width, start);
            } else {
                reduce(name, layer->name, layer->parameters() + layer->output_width, start);
            }
        }
    }

    OperationId concatenate(std::string name, std::vector<OperationId> dependencies) {
        return compute(std::move(name), "Concat", cost_.concatenation(), std::move(dependencies));
    }

    void reduce(const std::string& name, std::string_view layer, std::int64_t elements, OperationId after) {
        Bytes size = elements * training_.gradient_element_size;
        if (replay_.early_stop && nodes_ > 1) {
            const ReplayRing ring = replay_ring(size, nodes_, replay_);
            if (ring.rounds == 1) {
                reductions_.push_back(send_once_around(name, layer, scaled(ring.flow, training_), after));
                return;
            }
            size = nodes() * ring.flow;
        }
        reductions_.push_back(collective(name, layer,
                                         {.kind = system::CollectiveKind::kAllReduce,
                                          .partition = world_,
                                          .size = scaled(size, training_)},
                                         after));
    }

    /// Every node sends `flow` bytes to the next.
    OperationId send_once_around(const std::string& name, std::string_view layer, Bytes flow,
                                 OperationId after) {
        std::shared_ptr<const std::vector<system::PairSizes>>& sizes = to_the_next_[flow];
        if (sizes == nullptr) {
            std::vector<Bytes> pairs(nodes_ * nodes_);
            for (std::size_t node = 0; node < nodes_; ++node) {
                pairs[node * nodes_ + (node + 1) % nodes_] = flow;
            }
            sizes = std::make_shared<const std::vector<system::PairSizes>>(
                1, system::PairSizes::of_pairs(nodes_, std::move(pairs)));
        }
        return collective(name + ".once_around", layer,
                          {.kind = system::CollectiveKind::kAllToAll,
                           .partition = world_,
                           .size = flow,
                           .pair_sizes = sizes},
                          after);
    }

    /// Ends when all nodes have done `backward`: a collective without bytes ends when all have issued it.
    OperationId on_all_nodes(const MlpLayer& layer, OperationId backward) {
        return collective(layer.name + ".backward.on_all_nodes", layer.name,
                          {.kind = system::CollectiveKind::kAllReduce, .partition = world_, .size = Bytes(0)},
                          backward);
    }

    OperationId exchange(std::int64_t round, Direction direction, Bytes held, OperationId after) {
        const bool forward = direction == Direction::kForward;
        system::CollectiveOperation all_to_all{
            .kind = system::CollectiveKind::kAllToAll, .partition = world_, .size = held};
        if (const auto uneven = uneven_.find(rounds_[round].owners); uneven != uneven_.end()) {
            all_to_all.pair_sizes = forward ? uneven->second.forward : uneven->second.backward;
        }
        return collective(fmt::format("Embedding_{}.{}", round, forward ? "forward" : "backward"),
                          kEmbeddingLayer, std::move(all_to_all), after);
    }

    /// The part of a pass over a table on the nodes that have one in the round.
    [[nodiscard]] system::PerRank<Time> on_owners(std::int64_t round, Time table) const {
        const TableRound& in = rounds_[round];
        if (in.owners == nodes()) {
            return in.part_of(table);
        }
        std::vector<Time> times(nodes_);
        for (std::size_t node = 0; node < nodes_; ++node) {
            times[node] = rounds_.is_owner(node, round) ? in.part_of(table) : Time(0);
        }
        return system::PerRank<Time>(std::move(times));
    }

    OperationId compute(std::string name, std::string_view layer, system::PerRank<Time> duration,
                        std::vector<OperationId> dependencies = {}) {
        return program_.operations.push_back(
            {.name = std::move(name),
             .layer = std::string(layer),
             .iteration = iteration_,
             .work = system::ComputeOperation{.duration = std::move(duration)},
             .dependencies = std::move(dependencies)});
    }

    OperationId collective(const std::string& what, std::string_view layer, system::CollectiveOperation work,
                           OperationId after) {
        std::string name = fmt::format("{}.{}", what, system::to_string(work.kind));
        return program_.operations.push_back({.name = std::move(name),
                                              .layer = std::string(layer),
                                              .iteration = iteration_,
                                              .work = std::move(work),
                                              .dependencies = {after}});
    }

    const FlexflowTraining& training_;
    FlexflowReplay replay_;
    std::size_t nodes_;
    TableRounds rounds_;
    Bytes slice_;
    FlexflowCost cost_;
    std::vector<MlpLayer> bottom_;
    std::vector<MlpLayer> top_;
    system::Program program_;
    system::PartitionId world_{0};
    struct UnevenSizes {
        std::shared_ptr<const std::vector<system::PairSizes>> forward;
        std::shared_ptr<const std::vector<system::PairSizes>> backward;
    };
    std::map<std::int64_t, UnevenSizes> uneven_;  // by number of owners, where they are not all
    std::map<Bytes, std::shared_ptr<const std::vector<system::PairSizes>>> to_the_next_;  // by bytes
    int iteration_ = 0;
    std::vector<OperationId> last_;              // what the next layer waits for in first-come order
    std::vector<OperationId> end_of_iteration_;  // the one before
    std::vector<OperationId> reductions_;        // of the iteration so far
};

std::vector<MlpLayer> chain(std::string_view name, std::int64_t input_width,
                            const std::vector<std::int64_t>& sizes) {
    std::vector<MlpLayer> layers;
    for (std::size_t layer = 1; layer < sizes.size(); ++layer) {
        layers.push_back({.name = fmt::format("{}_{}", name, layer - 1),
                          .input_width = input_width,
                          .output_width = sizes[layer]});
        input_width = sizes[layer];
    }
    return layers;
}

double share(Bytes part, Bytes rest) {
    const Bytes whole = part + rest;
    return whole == Bytes(0) ? 0.0 : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

}  // namespace

std::vector<MlpLayer> bottom_layers(const FlexflowModel& model) {
    return chain("Bottom", model.bottom_mlp.front(), model.bottom_mlp);
}

std::vector<MlpLayer> top_layers(const FlexflowModel& model) {
    return chain("Top", concatenation_width(model), model.top_mlp);
}

std::int64_t concatenation_width(const FlexflowModel& model) {
    return model.bottom_mlp.back() + model.tables * model.dimension;
}

std::int64_t dense_parameters(const FlexflowModel& model) {
    std::int64_t sum = 0;
    for (const MlpLayer& layer : dense_layers(model)) {
        sum += layer.parameters() + layer.output_width;
    }
    return sum;
}

std::int64_t embedding_parameters(const FlexflowModel& model) {
    return model.tables * model.rows * model.dimension;
}

system::Program build_flexflow_program(const FlexflowModel& model, const FlexflowTraining& training,
                                       const Device& device, std::size_t nodes) {
    TaskWriter writer(model, training, device, nodes);
    for (int iteration = 0; iteration < training.iterations; ++iteration) {
        writer.write_iteration(iteration);
    }
    return std::move(writer).finish();
}

std::vector<Bytes> gradient_tensors(const FlexflowModel& model, const FlexflowTraining& training) {
    std::vector<Bytes> tensors;
    for (const MlpLayer& layer : dense_layers(model)) {
        const Bytes kernel = layer.parameters() * training.gradient_element_size;
        const Bytes bias = layer.output_width * training.gradient_element_size;
        if (training.separate_bias) {
            tensors.insert(tensors.end(), {kernel, bias});
        } else {
            tensors.push_back(kernel + bias);
        }
    }
    return tensors;
}

Bytes slice_traffic(const FlexflowModel& model, const FlexflowTraining& training, std::size_t nodes) {
    return 2 * model.tables * (static_cast<std::int64_t>(nodes) - 1) * slice_size(model, training, nodes);
}

FlexflowCounts count(const FlexflowModel& model, const FlexflowTraining& training, std::size_t nodes) {
    const auto n = static_cast<std::int64_t>(nodes);
    const auto tensors = static_cast<std::int64_t>(gradient_tensors(model, training).size());
    const auto layers = static_cast<std::int64_t>(dense_layers(model).size());
    FlexflowCounts counts;
    const std::int64_t parts = TableRounds(model, training, nodes).parts();
    counts.slice = slice_size(model, training, nodes);
    counts.slices = 2 * parts * (n - 1);
    counts.tasks = 2 * n * (layers + 1) + 2 * parts + counts.slices + tensors + parts;
    counts.slice_traffic = slice_traffic(model, training, nodes);
    counts.all_reduce = training.replay && training.replay->early_stop
                            ? replay_traffic(model, training, nodes).all_reduce
                            : 2 * (n - 1) * dense_parameters(model) * training.gradient_element_size;
    counts.all_reduce_share = share(counts.all_reduce, counts.slice_traffic);
    return counts;
}

}  // namespace astrolabe::workload
