/// The training loop of the MLPerf submissions with HugeCTR: what a rank's streams do in which order.
///
/// Streams: `compute`, the kernels of the device; `side`, what embeddings compute between the stages of an
/// exchange; `host`, which launches an iteration as one graph; `copy`, batches to the device. Iteration i:
///
///     host      one launch, of the device's time for one in the forward pass and for an iteration
///     compute   1  lookup in shards, behind the keys of i; the pooled exchange begins
///               2  lookup in replicas, bottom MLP forward: beside the exchange
///               3  collect the partial sums; interaction, cross layers, top MLP forward
///               4  input gradients of the top MLP and back to the embeddings; spread; their exchange begins
///               5  weight gradients of the top MLP and cross layers; bottom MLP backward; gradients of
///                  replicas: beside that exchange. Then the grouped all-reduce begins
///               6  update of the shards, behind their gradients, beside the all-reduce
///               7  optimiser of dense parameters and replicas, behind the all-reduce
///     copy      batch i+1, from the launch of i on
///     keys      of batch i+1, behind that copy and step 3
///
/// The submissions compute weight gradients on a stream beside the input gradients. Two streams of one GPU
/// share its cores, which a Program does not model (program.hpp), so that these are put where their overlap
/// counts: behind what the exchange waits for. Collectives of keys, embeddings and dense gradients have
/// communicators of their own and do not wait for one another.
///
/// Names: "Embedding.forward", "Embedding.forward.collect", "Embedding.update", "Embedding_replicas.forward",
/// "Bottom_0.forward", …, "Gradients.all_reduce", "Optimizer.step", "Input.keys.all_to_all", "Graph.launch".
#pragma once

#include "mlperf_plan.hpp"

namespace astrolabe::workload::mlperf {

/// O(iterations · layers) operations.
[[nodiscard]] system::Program mlperf_loop(const MlperfPlan& plan, Time launch);

}  // namespace astrolabe::workload::mlperf
