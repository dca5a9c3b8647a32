/// The training loop of TorchRec: host order, device order, and what each pipeline issues ahead.
///
/// Model (pytorch/torchrec, distributed/train_pipeline/train_pipelines.py and models/dlrm.py; the step
/// recorded in facebookresearch/param, dlrm_kineto.tar.gz). Iteration i of `sparse_dist`, host order:
///
///     1  zero the gradients
///     2  batch i+1: permute its indices, exchange the splits of all groups at once   stream data_dist
///     3  load batch i+2 on this thread, copy it                                       stream memcpy
///     4  forward pass of i: bottom MLP, permute indices (data_dist), each group's lookup and output
///        exchange, lookup of replicated tables, wait for all exchanges at once, interaction, cross layers
///        and top MLP, loss
///     5  batch i+1: block until its splits are there, issue lengths and values of every group
///     6  backward pass of i: loss, top MLP and cross layers, interaction, exchanges of the pooled
///        gradients from the last group to the first, replicated tables, then each group: wait, divide,
///        update; bottom MLP. The all-reduce of a bucket is issued when its last gradient is there
///     7  dense optimizer, which waits for all buckets
///
/// A dot interaction makes the host block once a pass for all that the device was given.
/// Differences of the other pipelines:
///
///     base              the indices of i are exchanged group by group in step 4, on the compute stream, behind
///                       the bottom MLP; the next batch is loaded first, and copied after the backward pass
///     sparse_dist_lite  the exchange of i's indices comes before step 4, on data_dist; no step 5
///     sparse_dist_2023  steps 2 and 5 come together, after step 4
///     fused_sparse_dist the lookups and output exchanges of i begin the iteration, on data_dist: beside the
///                       optimizer of i-1, behind the updates of i-1
///     semi_sync         the lookups and output exchanges of i+1 follow step 4, before the updates of i: rows
///                       lack one update (a staleness of 1). The pooled gradients of i are sent, and the
///                       tables updated, after the dense backward pass. Inputs are one batch further ahead
///     prefetch          step 5 comes before step 4; after step 4 stream prefetch fetches the rows of i+1 that
///                       caches miss; step 2 comes last, for batch i+2
///
/// Operations belong to the iteration that trains their batch. The last iterations issue nothing for batches
/// that do not come, so that they take less.
///
/// Limits: fused_sparse_dist looks up replicated tables in step 4, because the optimizer updates them. When
/// sparse_dist_lite copies the next batch is assumed: after the first part of the exchange.
#pragma once

#include "plan.hpp"

#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload::torchrec {

/// O(iterations · (layers + groups + buckets)).
[[nodiscard]] system::Program torchrec_loop(const TorchrecPlan& plan, TorchrecPipeline pipeline,
                                            const Device& device);

}  // namespace astrolabe::workload::torchrec
