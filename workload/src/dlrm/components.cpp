#include "../device/precision_names.hpp"
#include "../register.hpp"
#include "dlrm_training.hpp"
#include "framework_config.hpp"
#include "mlperf/mlperf.hpp"
#include "model_schema.hpp"
#include "planner/torchrec_plan.hpp"
#include "sharding_schema.hpp"
#include "torchrec/torchrec.hpp"

#include <fmt/format.h>

#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::Parallelism> {
    static constexpr std::array<std::pair<std::string_view, workload::Parallelism>, 3> kNames{
        {{"data", workload::Parallelism::kData},
         {"model", workload::Parallelism::kModel},
         {"hybrid", workload::Parallelism::kHybrid}}};
};
template <>
struct EnumNames<workload::MlpTime> {
    static constexpr std::array<std::pair<std::string_view, workload::MlpTime>, 3> kNames{
        {{"flops", workload::MlpTime::kFlops},
         {"roofline", workload::MlpTime::kRoofline},
         {"gemm", workload::MlpTime::kGemm}}};
};
template <>
struct EnumNames<workload::EmbeddingOptimizer> {
    static constexpr std::array<std::pair<std::string_view, workload::EmbeddingOptimizer>, 6> kNames{
        {{"sgd", workload::EmbeddingOptimizer::kSgd},
         {"adagrad", workload::EmbeddingOptimizer::kAdagrad},
         {"row_wise_adagrad", workload::EmbeddingOptimizer::kRowWiseAdagrad},
         {"adam", workload::EmbeddingOptimizer::kAdam},
         {"lamb", workload::EmbeddingOptimizer::kLamb},
         {"partial_row_wise_adam", workload::EmbeddingOptimizer::kPartialRowWiseAdam}}};
};
template <>
struct EnumNames<workload::DenseOptimizer> {
    static constexpr std::array<std::pair<std::string_view, workload::DenseOptimizer>, 3> kNames{
        {{"sgd", workload::DenseOptimizer::kSgd},
         {"adagrad", workload::DenseOptimizer::kAdagrad},
         {"adam", workload::DenseOptimizer::kAdam}}};
};
template <>
struct EnumNames<workload::EmbeddingGradients> {
    static constexpr std::array<std::pair<std::string_view, workload::EmbeddingGradients>, 2> kNames{
        {{"sparse", workload::EmbeddingGradients::kSparse}, {"dense", workload::EmbeddingGradients::kDense}}};
};
template <>
struct EnumNames<workload::BucketOrder> {
    static constexpr std::array<std::pair<std::string_view, workload::BucketOrder>, 2> kNames{
        {{"reverse", workload::BucketOrder::kReverse}, {"forward", workload::BucketOrder::kForward}}};
};
template <>
struct EnumNames<workload::DenseSharding> {
    static constexpr std::array<std::pair<std::string_view, workload::DenseSharding>, 2> kNames{
        {{"replicated", workload::DenseSharding::kReplicated}, {"fsdp", workload::DenseSharding::kFsdp}}};
};
template <>
struct EnumNames<workload::WireFormat> {
    static constexpr std::array<std::pair<std::string_view, workload::WireFormat>, 8> kNames{
        {{"fp32", workload::WireFormat::kFp32},
         {"fp16", workload::WireFormat::kFp16},
         {"bf16", workload::WireFormat::kBf16},
         {"fp8", workload::WireFormat::kFp8},
         {"int8", workload::WireFormat::kInt8},
         {"int8_blocks", workload::WireFormat::kInt8Blocks},
         {"fp8_rows", workload::WireFormat::kFp8Rows},
         {"mx4", workload::WireFormat::kMx4}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

/// The keys of a DLRM workload: training options beside the model.
struct DlrmParameters : DlrmTraining {
    DlrmModel model;
};

Schema<DlrmTraining> batch_schema() {
    Schema<DlrmTraining> schema("batch", "samples of an iteration: one of the two");
    schema
        .optional("global", &DlrmTraining::global_batch, "over all ranks, a multiple of their number",
                  {1, {}})
        .optional("local", &DlrmTraining::local_batch, "of each rank", {1, {}});
    return schema;
}

std::string embedding_time_text(const DlrmTraining& training) {
    switch (training.embedding_time) {
        case EmbeddingTime::kBandwidth:
            return "bandwidth";
        case EmbeddingTime::kFlops:
            return "flops";
        case EmbeddingTime::kFbgemm:
            return "fbgemm";
        case EmbeddingTime::kFixed:
            return to_string(training.fixed_embedding_time);
    }
    invariant_failed("embedding time rule", "every rule has a text");
}

void read_embedding_time(DlrmParameters& parameters, const ConfigNode& node, ReadContext& context) {
    if (node.is_scalar() && node.text == "bandwidth") {
        parameters.embedding_time = EmbeddingTime::kBandwidth;
    } else if (node.is_scalar() && node.text == "flops") {
        parameters.embedding_time = EmbeddingTime::kFlops;
    } else if (node.is_scalar() && node.text == "fbgemm") {
        parameters.embedding_time = EmbeddingTime::kFbgemm;
    } else if (std::optional<Time> fixed = read_scalar<Time>(
                   node, "'embedding_time' (bandwidth, flops, fbgemm or a time)", context, {Time(0), {}})) {
        parameters.embedding_time = EmbeddingTime::kFixed;
        parameters.fixed_embedding_time = *fixed;
    }
}

Schema<GradientBuckets> buckets_schema() {
    Schema<GradientBuckets> schema("gradient_buckets", "MLP gradients that are all-reduced together");
    schema.optional("size", &GradientBuckets::size, "a bucket is full when it holds as much", {Bytes(1), {}})
        .optional("first", &GradientBuckets::first, "the same of the first bucket; unset: size",
                  {Bytes(1), {}})
        .optional("order", &GradientBuckets::order, "of packing: from the last layer on, or from the first");
    return schema;
}

Schema<WireFormats> wire_formats_schema() {
    Schema<WireFormats> schema("wire_formats", "what collectives carry instead of what is computed with");
    schema.optional("forward_all_to_all", &WireFormats::forward_all_to_all, "pooled embeddings")
        .optional("backward_all_to_all", &WireFormats::backward_all_to_all, "gradients of pooled embeddings")
        .optional("forward_reduce_scatter", &WireFormats::forward_reduce_scatter,
                  "partial sums of row_wise tables")
        .optional("backward_all_gather", &WireFormats::backward_all_gather, "gradients for row_wise tables")
        .optional("all_reduce", &WireFormats::all_reduce, "MLP gradients")
        .optional("parameter_all_gather", &WireFormats::parameter_all_gather, "MLP parameters of fsdp")
        .optional("gradient_reduce_scatter", &WireFormats::gradient_reduce_scatter, "MLP gradients of fsdp");
    return schema;
}

void read_priorities(DlrmParameters& parameters, const ConfigNode& node, ReadContext& context) {
    if (!node.is_mapping()) {
        context.error("config.type", node.where,
                      fmt::format("'priorities' takes a mapping, found {}", node.kind_name()),
                      "write {Top_0: 10, Embedding: 20}");
        return;
    }
    for (const ConfigEntry& entry : node.entries) {
        if (const auto priority = read_scalar<std::int64_t>(
                entry.value, fmt::format("the priority of '{}'", entry.key), context)) {
            parameters.priorities[entry.key] = *priority;
        }
    }
}

std::optional<ConfigNode> write_priorities(const DlrmParameters& parameters) {
    if (parameters.priorities.empty()) {
        return std::nullopt;
    }
    ConfigNode node = ConfigNode::mapping();
    for (const auto& [layer, priority] : parameters.priorities) {
        node.set(layer, ConfigNode::scalar(std::to_string(priority)));
    }
    return node;
}

Schema<DlrmParameters> dlrm_schema() {
    Schema<DlrmParameters> schema("dlrm", "training of a deep learning recommendation model");
    schema
        .section("model", &DlrmParameters::model, model_schema(),
                 "the model, or the path of a file that holds it", true)
        .optional("parallelism", &DlrmParameters::parallelism,
                  "hybrid: embedding tables spread over the ranks, MLPs on every rank")
        .field(
            framework_key(),
            [](DlrmParameters& parameters, const ConfigNode& node, ReadContext& context) {
                parameters.framework = read_framework(node, context);
            },
            [](const DlrmParameters& parameters) { return write_framework(parameters.framework); })
        .field(
            {"batch", "mapping", "", true, {}, "samples of an iteration", batch_schema().parameters()},
            [](DlrmParameters& parameters, const ConfigNode& node, ReadContext& context) {
                if (const std::optional<DlrmTraining> batch = batch_schema().read(node, context)) {
                    parameters.global_batch = batch->global_batch;
                    parameters.local_batch = batch->local_batch;
                    if (batch->global_batch.has_value() == batch->local_batch.has_value()) {
                        context.error("config.batch", node.where,
                                      "'batch' takes exactly one of 'global' and 'local'",
                                      "write {global: 65536} or {local: 512}");
                    }
                }
            },
            [](const DlrmParameters& parameters) { return std::optional(batch_schema().write(parameters)); })
        .optional("iterations", &DlrmParameters::iterations, "training iterations to simulate", {1, 100'000})
        .optional(
            "mlp_time", &DlrmParameters::mlp_time,
            "time of a dense layer: FLOP only, roofline with its memory traffic, or by the device's gemm "
            "rates with the memory traffic between products")
        .optional("precision", &DlrmParameters::precision, "of matrix products; unset: fp32")
        .optional("embedding_optimizer", &DlrmParameters::embedding_optimizer,
                  "whose state the tables have, in memory and updates; unset: not counted")
        .optional("dense_optimizer", &DlrmParameters::dense_optimizer,
                  "of dense layers, a step after the backward pass; unset: not counted")
        .field(
            {"embedding_time",
             "bandwidth, flops, fbgemm or a time",
             embedding_time_text({}),
             false,
             {},
             "time of the embedding lookup: by memory bandwidth, by FLOP, by what FBGEMM's kernels move, or "
             "fixed",
             {}},
            read_embedding_time,
            [](const DlrmParameters& parameters) {
                return std::optional(ConfigNode::scalar(embedding_time_text(parameters)));
            })
        .optional("interaction_time", &DlrmParameters::interaction_time,
                  "count the interaction's compute time")
        .optional(
            "dense_feature_gradient", &DlrmParameters::dense_feature_gradient,
            "compute the gradient of the dense features, as the reference loop does although nothing uses it")
        .optional(
            "embedding_update", &DlrmParameters::embedding_update,
            "when the embedding update runs relative to the all-to-all that brings its gradients (hybrid)")
        .optional("staleness", &DlrmParameters::staleness,
                  "of embedding_update: stale, the iterations whose gradients a lookup may lack; unset: "
                  "nothing ever waits for them",
                  {0, 100'000})
        .optional("embedding_gradients", &DlrmParameters::embedding_gradients,
                  "how copies of a table exchange their gradients: touched rows only, or whole tables")
        .section("sharding", &DlrmParameters::sharding, sharding_schema(),
                 "which rank holds what of which embedding table (hybrid)")
        .section("gradient_buckets", &DlrmParameters::gradient_buckets, buckets_schema(),
                 "MLP gradients that are all-reduced together; unset: layer by layer, of training: torchrec "
                 "{first: 1MiB, size: 25MiB}")
        .optional("dense_sharding", &DlrmParameters::dense_sharding,
                  "fsdp: each rank keeps a part of every MLP layer and gathers the rest when it computes")
        .optional("parameter_prefetch", &DlrmParameters::parameter_prefetch,
                  "of fsdp: layers whose parameters are gathered ahead; unset: 1", {0, 1024})
        .section("wire_formats", &DlrmParameters::wire_formats, wire_formats_schema(),
                 "what collectives carry instead of what is computed with")
        .field({"priorities",
                "mapping of layer names to integers",
                "unset",
                false,
                {},
                "explicit priority of a layer's collectives; larger starts first",
                {}},
               read_priorities, write_priorities);
    return schema;
}

std::vector<std::int64_t> table_dimensions(const DlrmModel& model) {
    std::vector<std::int64_t> dimensions;
    for (const EqualTables& run : equal_tables(model)) {
        dimensions.insert(dimensions.end(), static_cast<std::size_t>(run.count), run.dimension);
    }
    return dimensions;
}

/// What the full search found, and what the plans that one would write by hand are worth by its measure.
void append_report(Facts& facts, const PlannerReport& report) {
    const auto bound = static_cast<double>(report.lower_bound.count());
    const double gap = bound > 0 ? static_cast<double>(report.makespan.count()) / bound - 1 : 0;
    facts.emplace_back("planner", fmt::format("{}, lower bound {}, gap {:.2f} %, {}",
                                              readable(report.makespan), readable(report.lower_bound),
                                              100 * gap, report.proven ? "optimal" : "not proven optimal"));
    const auto phase = [](const PlannerReport::Phase& busiest, std::string_view parts) {
        return fmt::format("rank {}, {}: {}; most for table {}, {}", busiest.rank.index(),
                           readable(busiest.input + busiest.compute + busiest.exchange),
                           fmt::format(fmt::runtime(parts), readable(busiest.input),
                                       readable(busiest.compute), readable(busiest.exchange)),
                           busiest.table, readable(busiest.table_time));
    };
    facts.emplace_back("planner, forward",
                       phase(report.forward, "indices {0}, lookups {1}, pooled values {2}"));
    facts.emplace_back("planner, backward", phase(report.backward, "gradients {2}, updates {1}"));
    std::string others;
    for (const PlannerReport::Baseline& baseline : report.baselines) {
        others += fmt::format("{}{} {}{}", others.empty() ? "" : ", ", baseline.name,
                              readable(baseline.makespan), baseline.fits ? "" : " (does not fit)");
    }
    if (!others.empty()) {
        facts.emplace_back("planner, plans by hand", std::move(others));
    }
}

void append_sharding(Facts& facts, const DlrmSummary& summary) {
    facts.emplace_back("embedding shards", fmt::format("{} placed; the largest share of a rank is {}",
                                                       summary.shards, readable(summary.largest_memory)));
    facts.emplace_back(
        "embedding imbalance (maximum over mean)",
        fmt::format("lookup and update {:.3f}, all-to-all {:.3f}, memory {:.3f}", summary.imbalance.compute,
                    summary.imbalance.bytes, summary.imbalance.memory));
    if (summary.report) {
        append_report(facts, *summary.report);
    }
    if (summary.placement && !summary.report) {
        facts.emplace_back("placement",
                           fmt::format("busiest rank {}, lower bound {}, {} after {} placements tried",
                                       readable(Time(summary.placement->makespan)),
                                       readable(Time(summary.placement->lower_bound)),
                                       summary.placement->proven ? "optimal" : "not proven optimal",
                                       summary.placement->nodes));
    }
}

/// The collectives of an iteration in the order of issue.
void append_operations(Facts& facts, const DlrmParameters& parameters, const Device& device,
                       std::size_t ranks) {
    DlrmTraining once = parameters;
    once.iterations = 1;
    const torchrec::Operations operations =
        torchrec::operations_of(build_dlrm_program(parameters.model, once, device, ranks));
    append_traffic(facts, operations.traffic);
    std::size_t number = 0;
    for (const auto& [name, size] : operations.collectives) {
        facts.emplace_back(fmt::format("collective {}", ++number),
                           fmt::format("{}, {}", name, readable(size)));
    }
}

Facts dlrm_facts(const DlrmParameters& parameters, const Device& device, std::size_t ranks) {
    const DlrmSummary summary = summarise(parameters.model, parameters, device, ranks);
    Facts facts{
        {"batch", fmt::format("{} samples, {} per rank", summary.global_batch, summary.local_batch)},
        {"parameters", fmt::format("{} dense, {} in embeddings ({})", summary.mlp_parameters,
                                   summary.embedding_parameters, readable(summary.embedding_size))},
        {"compute per iteration",
         fmt::format("MLP {}, embeddings {}, interaction {}", readable(summary.mlp_compute),
                     readable(mlperf_of(parameters) != nullptr
                                  ? mlperf::embedding_compute(parameters.model, parameters, device, ranks)
                                  : summary.embedding_compute),
                     readable(summary.interaction_compute))}};
    if (summary.conversion_compute > Time(0)) {
        facts.emplace_back("conversion per iteration", readable(summary.conversion_compute));
    }
    if (!parameters.sharding.is_balanced()) {
        append_sharding(facts, summary);
    }
    if (mlperf_of(parameters) != nullptr) {
        for (auto& fact : mlperf::facts(parameters.model, parameters, device, ranks)) {
            facts.push_back(std::move(fact));
        }
    } else if (!summary.fullest_rank.empty()) {
        facts.emplace_back("memory of the fullest rank", summary.fullest_rank);
    }
    if (torchrec_of(parameters) != nullptr || mlperf_of(parameters) != nullptr) {
        append_operations(facts, parameters, device, ranks);
    } else {
        append_traffic(facts, summary.traffic);
    }
    return facts;
}

}  // namespace

void register_dlrm(Registry<Job>& registry) {
    registry.add<DlrmParameters>(dlrm_schema(), [](const DlrmParameters& parameters) {
        Job job;
        job.iterations = parameters.iterations;
        job.validation_errors = [parameters](const Device& device, std::size_t ranks) {
            const DlrmTraining& training = parameters;
            ValidationErrors found = validation_errors(training, parameters.model, ranks);
            if (found.empty() && validation_errors(device, training, parameters.model).empty()) {
                found = validation_errors(parameters.model, training, device, ranks);
            }
            return found;
        };
        job.device_errors = [parameters](const Device& device) {
            return validation_errors(device, parameters, parameters.model);
        };
        job.program = [parameters](const Device& device, std::size_t ranks) {
            return build_dlrm_program(parameters.model, parameters, device, ranks);
        };
        job.tables = [parameters](const Device& device, std::size_t ranks) -> MovableTables {
            auto places = table_places(parameters.model, parameters, device, ranks);
            if (!places) {
                return {};
            }
            return PlacedTables{*std::move(places), table_dimensions(parameters.model)};
        };
        job.torchrec_plan = [parameters](const Device& device, std::size_t ranks) -> nlohmann::ordered_json {
            const auto places = table_places(parameters.model, parameters, device, ranks);
            if (!places) {
                return {};
            }
            const std::int64_t ranks_per_host = parameters.sharding.ranks_per_host.value_or(1);
            return planner::torchrec_plan(parameters.model, *places, ranks, ranks_per_host);
        };
        job.facts = [parameters](const Device& device, std::size_t ranks) {
            return dlrm_facts(parameters, device, ranks);
        };
        return job;
    });
}

}  // namespace astrolabe::workload
