#include "dlrm_training.hpp"
#include "mlperf/mlperf.hpp"
#include "torchrec/torchrec.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::workload {

namespace {

/// Precondition: exactly one of the two batch sizes is given.
void check_batch_size(ValidationErrors& found, const DlrmTraining& training, const DlrmModel& model,
                      std::size_t ranks) {
    const auto count = static_cast<std::int64_t>(ranks);
    const std::int64_t given = training.global_batch.value_or(training.local_batch.value_or(0));
    if (given < 1) {
        add_error(found, "batch", fmt::format("the batch must have at least one sample, got {}", given));
        return;
    }
    // Bounds every product of batch and model: 6·B·parameters FLOP, 2·B·values·16 bytes.
    constexpr std::int64_t kMax = std::int64_t{1} << 60;
    const detail::Int128 samples = static_cast<detail::Int128>(given) * (training.global_batch ? 1 : count);
    const bool has_kernels = training.embedding_time == EmbeddingTime::kFbgemm;
    const detail::Int128 per_sample = detail::Int128{8} * mlp_parameters(model) +
                                      detail::Int128{has_kernels ? 2048 : 0} * lookups_of_sample(model) +
                                      detail::Int128{32} * lookup_width(model) +
                                      detail::Int128{32} * interaction_width(model) + interaction_work(model);
    if (samples > kMax / per_sample) {
        add_error(found, "batch", fmt::format("a batch of {} is too large for this model", given),
                  "the work of one iteration must stay below 2^60 operations");
        return;
    }
    if (training.global_batch && given % count != 0) {
        const std::int64_t below = given / count * count;
        std::string near = fmt::format("{}", below + count);
        if (below > 0) {
            near = fmt::format("{} or {}", below, near);
        }
        add_error(found, "batch",
                  fmt::format("a global batch of {} cannot be shared evenly by {} ranks", given, count),
                  fmt::format("use a global batch of {}, or give the local batch", near));
    }
}

bool is_known(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Of the layers that embeddings make.
std::vector<std::string> embedding_names(const DlrmTraining& training, const DlrmModel& model) {
    if (training.sharding.is_balanced()) {
        return {std::string(kEmbeddingLayer)};
    }
    const TableCounts counts = count_tables(training.sharding, model);
    const auto count = [&counts](TableSharding kind) { return counts[static_cast<std::size_t>(kind)]; };
    std::vector<std::string> names;
    if (count(TableSharding::kTableWise) + count(TableSharding::kColumnWise) +
            count(TableSharding::kTableColumnWise) >
        0) {
        names.emplace_back(kEmbeddingLayer);
    }
    if (count(TableSharding::kTableRowWise) > 0) {
        names.emplace_back(kHostEmbeddingLayer);
    }
    if (count(TableSharding::kGrid) > 0) {
        names.emplace_back(kGridEmbeddingLayer);
    }
    if (count(TableSharding::kRowWise) > 0) {
        names.emplace_back(kRowEmbeddingLayer);
    }
    if (count(TableSharding::kDataParallel) > 0) {
        names.emplace_back(kReplicatedEmbeddingLayer);
    }
    return names;
}

std::vector<std::string> layer_names(const DlrmTraining& training, const DlrmModel& model) {
    std::vector<std::string> names = embedding_names(training, model);
    for (const MlpLayer& layer : bottom_layers(model)) {
        names.push_back(layer.name);
    }
    if (training.interaction_time) {
        names.emplace_back(kInteractionLayer);
    }
    for (const auto& layers : {cross_layers(model), top_layers(model)}) {
        for (const MlpLayer& layer : layers) {
            names.push_back(layer.name);
        }
    }
    return names;
}

/// Why a layer never computes a pass, or nothing if it does.
std::string_view absence_of(std::string_view layer, std::string_view pass) {
    if (is_embedding(layer) && pass == "input_gradient") {
        return "indices have no gradient; the update of the rows is its weight_gradient";
    }
    if (layer == kInteractionLayer && pass == "weight_gradient") {
        return "the interaction has no weights; its backward pass is its input_gradient";
    }
    return {};
}

void check_measured(ValidationErrors& found, const Device& device, const std::vector<std::string>& names) {
    for (const auto& [layer, times] : device.measured) {
        const std::string key = "layers." + layer;
        if (!is_known(names, layer)) {
            add_error(found, key, fmt::format("the model has no layer '{}'", layer),
                      layer == kInteractionLayer ? "set interaction_time to count the interaction"
                                                 : suggest(layer, names));
        }
        for (const auto& [pass, time] :
             {std::pair("forward", times.forward), std::pair("input_gradient", times.input_gradient),
              std::pair("weight_gradient", times.weight_gradient)}) {
            if (!time) {
                continue;
            }
            const std::string place = fmt::format("{}.{}", key, pass);
            for (const auto& [rows, listed] : time->by_rows()) {
                if (listed < Time(0)) {
                    add_error(found, place,
                              fmt::format("a time cannot be negative, got {}", to_string(listed)));
                }
            }
            if (const std::string_view reason = absence_of(layer, pass); !reason.empty()) {
                add_error(found, place, fmt::format("layer {} has no pass '{}'", layer, pass),
                          std::string(reason));
            }
        }
    }
}

void check_table_times(ValidationErrors& found, const Device& device, const DlrmModel& model) {
    if (!device.tables) {
        return;
    }
    const TableTimes& tables = *device.tables;
    constexpr std::int64_t kMaxSamples = std::int64_t{1} << 32;
    if (tables.samples < 1 || tables.samples > kMaxSamples) {
        add_error(found, "tables.samples",
                  fmt::format("must be from 1 to {}, got {}", kMaxSamples, tables.samples));
    }
    const auto count = static_cast<std::size_t>(table_count(model));
    for (const auto& [pass, times] :
         {std::pair("tables.forward", &tables.forward), std::pair("tables.backward", &tables.backward)}) {
        if (times->size() > 1 && times->size() != count) {
            add_error(found, pass, fmt::format("{} times for {} tables", times->size(), count),
                      "give one time for all tables, or one each");
        }
        if (std::any_of(times->begin(), times->end(), [](Time time) { return time < Time(0); })) {
            add_error(found, pass, "a time cannot be negative");
        }
    }
    for (const auto& [layer, times] : device.measured) {
        if (is_embedding(layer)) {
            add_error(found, "layers." + layer, "embeddings are measured both as a layer and by table",
                      "give one of the two");
        }
    }
}

/// Which rates computed times need, and the layer that needs them.
struct Needs {
    std::string peak;
    std::string memory_bandwidth;
};

bool is_measured(const Device& device, std::string_view layer,
                 std::optional<MeasuredTime> LayerTimes::*pass) {
    const auto found = device.measured.find(layer);
    return found != device.measured.end() && (found->second.*pass).has_value();
}

bool is_measured_completely(const Device& device, const std::string& layer) {
    if (is_embedding(layer) && device.tables) {
        return !device.tables->forward.empty() && !device.tables->backward.empty();
    }
    const bool learns = layer != kInteractionLayer;
    return is_measured(device, layer, &LayerTimes::forward) &&
           (is_embedding(layer) || is_measured(device, layer, &LayerTimes::input_gradient)) &&
           (!learns || is_measured(device, layer, &LayerTimes::weight_gradient));
}

/// The first collective that is converted, or nothing.
std::string_view converted_collective(const DlrmTraining& training, const DlrmModel& model) {
    const WireFormats& formats = training.wire_formats;
    const Bytes activation = activation_element_size(model);
    const std::tuple<std::string_view, std::optional<WireFormat>, Bytes> all[] = {
        {"forward_all_to_all", formats.forward_all_to_all, activation},
        {"backward_all_to_all", formats.backward_all_to_all, activation},
        {"forward_reduce_scatter", formats.forward_reduce_scatter, activation},
        {"backward_all_gather", formats.backward_all_gather, activation},
        {"all_reduce", formats.all_reduce, gradient_element_size(model)},
        {"parameter_all_gather", formats.parameter_all_gather, model.element_size},
        {"gradient_reduce_scatter", formats.gradient_reduce_scatter, gradient_element_size(model)}};
    for (const auto& [name, format, size] : all) {
        if (Payload{.element_size = size, .format = format}.is_converted()) {
            return name;
        }
    }
    return {};
}

Needs needed_rates(const Device& device, const DlrmTraining& training, const DlrmModel& model,
                   const std::vector<std::string>& names) {
    Needs needs;
    for (const std::string& layer : names) {
        const bool embeds = is_embedding(layer);
        // Where tables are placed, what each of them takes is asked for even if their layer was measured.
        const bool by_table = embeds && !training.sharding.is_balanced() && !device.tables;
        if (is_measured_completely(device, layer) && !by_table) {
            continue;
        }
        const bool flops = !embeds || training.embedding_time == EmbeddingTime::kFlops;
        const bool bytes = embeds ? training.embedding_time == EmbeddingTime::kBandwidth ||
                                        training.embedding_time == EmbeddingTime::kFbgemm
                                  : training.mlp_time != MlpTime::kFlops;
        if (flops && needs.peak.empty()) {
            needs.peak = fmt::format("layer {}", layer);
        }
        if (bytes && needs.memory_bandwidth.empty()) {
            needs.memory_bandwidth = fmt::format("layer {}", layer);
        }
    }
    if (training.dense_optimizer && needs.memory_bandwidth.empty()) {
        needs.memory_bandwidth = "the dense optimizer";
    }
    const std::string_view converted = converted_collective(training, model);
    if (!converted.empty() && needs.memory_bandwidth.empty()) {
        needs.memory_bandwidth = fmt::format("the wire format of {}", converted);
    }
    return needs;
}

/// What reads rows from the memory of the host, or nothing.
std::string host_link_need(const DlrmTraining& training, const DlrmModel& model) {
    const std::vector<EqualTables> tables = equal_tables(model);
    const bool is_needed = training.embedding_time == EmbeddingTime::kFbgemm &&
                           std::any_of(tables.begin(), tables.end(), [](const EqualTables& table) {
                               return table.traits.memory != TableMemory::kHbm;
                           });
    return is_needed ? "a table in the memory of the host" : "";
}

/// Keys of tables that only the kernels' cost heeds.
void check_traits(ValidationErrors& found, const DlrmTraining& training, const DlrmModel& model) {
    for (std::size_t group = 0; group < model.tables.size(); ++group) {
        const LookupTraits& traits = model.tables[group].traits;
        require(found, !traits.unique_share || !traits.reuse, fmt::format("model.tables.{}.reuse", group),
                "unique rows are given twice, by reuse and by unique_share", "leave one of them out");
    }
    if (training.embedding_time == EmbeddingTime::kFbgemm) {
        return;
    }
    for (std::size_t group = 0; group < model.tables.size(); ++group) {
        require(found, model.tables[group].traits.memory == TableMemory::kHbm,
                fmt::format("model.tables.{}.memory", group),
                "lookups in the memory of the host are modelled kernel by kernel",
                "set embedding_time to fbgemm");
        require(found, !model.tables[group].traits.unique_share && !model.tables[group].traits.reuse,
                fmt::format("model.tables.{}.{}", group,
                            model.tables[group].traits.unique_share ? "unique_share" : "reuse"),
                "unique rows are counted where lookups are modelled kernel by kernel",
                "set embedding_time to fbgemm");
    }
}

template <class Rate>
void check_rate(ValidationErrors& found, const std::string& key, const std::optional<Rate>& rate,
                const std::string& needed_by) {
    if (rate && *rate <= Rate(0)) {
        add_error(found, key, fmt::format("{} must be positive", key));
    } else if (!rate && !needed_by.empty()) {
        add_error(found, key, fmt::format("{} is missing and {} needs it", key, needed_by),
                  fmt::format("give {}, or measured times of every layer", key));
    }
}

void check_embedding_exchange(ValidationErrors& found, const DlrmTraining& training, const DlrmModel& model) {
    const bool is_hybrid = training.parallelism == Parallelism::kHybrid;
    const bool has_copies =
        training.parallelism == Parallelism::kData ||
        (is_hybrid && is_known(embedding_names(training, model), std::string(kReplicatedEmbeddingLayer)));
    require(found, has_copies || training.embedding_gradients == EmbeddingGradients::kSparse,
            "embedding_gradients", "no table has copies that exchange gradients",
            "leave it out, choose data parallelism, or name tables that are data_parallel");
    require(found, is_hybrid || training.embedding_update == EmbeddingUpdate::kAfterGradients,
            "embedding_update", "only hybrid parallelism brings embedding gradients by an all-to-all",
            "leave it out, or set parallelism to hybrid");
    require(found, !training.staleness || training.embedding_update == EmbeddingUpdate::kStale, "staleness",
            "bounds stale updates, and these are not", "write embedding_update: stale, or leave it out");
}

void check_dense_gradients(ValidationErrors& found, const DlrmTraining& training) {
    const bool replicates = training.parallelism != Parallelism::kModel;
    const bool is_fsdp = training.dense_sharding == DenseSharding::kFsdp;
    require(found, replicates || !is_fsdp, "dense_sharding",
            "model parallelism shards the MLPs in its own way", "choose hybrid or data parallelism");
    require(found, !training.dense_optimizer || (replicates && !is_fsdp), "dense_optimizer",
            "only the update of MLPs that every rank has is modelled",
            "leave it out, or choose hybrid or data parallelism without fsdp");
    if (training.gradient_buckets) {
        require(found, replicates, "gradient_buckets", "model parallelism reduces no weight gradients",
                "choose hybrid or data parallelism");
        require(found, !is_fsdp, "gradient_buckets", "fsdp reduces gradients layer by layer",
                "leave the buckets out, or set dense_sharding to replicated");
        require(found, training.gradient_buckets->size >= Bytes(1), "gradient_buckets.size",
                fmt::format("a bucket holds at least one byte, got {}",
                            to_string(training.gradient_buckets->size)));
    }
    if (training.parameter_prefetch) {
        require(found, is_fsdp, "parameter_prefetch", "only fsdp gathers parameters",
                "set dense_sharding to fsdp");
        require(found, *training.parameter_prefetch >= 0 && *training.parameter_prefetch <= 1024,
                "parameter_prefetch",
                fmt::format("must be from 0 to 1024, got {}", *training.parameter_prefetch));
    }
}

void check_wire_formats(ValidationErrors& found, const DlrmTraining& training, const DlrmModel& model) {
    const bool is_hybrid = training.parallelism == Parallelism::kHybrid;
    const bool is_fsdp = training.dense_sharding == DenseSharding::kFsdp;
    const std::vector<std::string> names = embedding_names(training, model);
    const auto has = [&](std::string_view name) { return is_hybrid && is_known(names, std::string(name)); };
    const bool exchanges = has(kEmbeddingLayer) || has(kHostEmbeddingLayer) || has(kGridEmbeddingLayer);
    const WireFormats& formats = training.wire_formats;
    const std::tuple<std::string_view, bool, bool> all[] = {
        {"forward_all_to_all", formats.forward_all_to_all.has_value(), exchanges},
        {"backward_all_to_all", formats.backward_all_to_all.has_value(), exchanges},
        {"forward_reduce_scatter", formats.forward_reduce_scatter.has_value(), has(kRowEmbeddingLayer)},
        {"backward_all_gather", formats.backward_all_gather.has_value(), has(kRowEmbeddingLayer)},
        {"all_reduce", formats.all_reduce.has_value(),
         training.parallelism != Parallelism::kModel && !is_fsdp},
        {"parameter_all_gather", formats.parameter_all_gather.has_value(), is_fsdp},
        {"gradient_reduce_scatter", formats.gradient_reduce_scatter.has_value(), is_fsdp}};
    for (const auto& [name, given, exists] : all) {
        require(found, !given || exists, fmt::format("wire_formats.{}", name),
                "this training has no such collective to convert",
                "see parallelism, sharding and dense_sharding for what it exchanges");
    }
    for (const auto& [name, format] :
         {std::pair("all_reduce", formats.all_reduce),
          std::pair("parameter_all_gather", formats.parameter_all_gather),
          std::pair("gradient_reduce_scatter", formats.gradient_reduce_scatter)}) {
        require(found, !format || !packs_vectors(*format), fmt::format("wire_formats.{}", name),
                "int8_blocks, fp8_rows and mx4 pack the vectors of embeddings",
                "choose fp16, bf16, fp8 or int8");
    }
}

void check_priorities(ValidationErrors& found, const DlrmTraining& training, const DlrmModel& model) {
    std::vector<std::string> names = layer_names(training, model);
    if (training.parallelism == Parallelism::kModel) {
        names.emplace_back(kInteractionLayer);
    } else {
        names.erase(std::remove(names.begin(), names.end(), std::string(kInteractionLayer)), names.end());
    }
    constexpr std::int64_t kLargest = 1'000'000'000;
    for (const auto& [layer, priority] : training.priorities) {
        const std::string key = "priorities." + layer;
        require(found, is_known(names, layer), key,
                fmt::format("there is no layer '{}' that communicates", layer), suggest(layer, names));
        require(found, priority >= -kLargest && priority <= kLargest, key,
                fmt::format("must be from {} to {}, got {}", -kLargest, kLargest, priority));
    }
}

void check_sharding(ValidationErrors& found, const DlrmTraining& training, const DlrmModel& model,
                    std::size_t ranks) {
    require(found, training.sharding.is_balanced() || training.parallelism == Parallelism::kHybrid,
            "sharding.plan", "only hybrid parallelism places tables on ranks",
            "set parallelism to hybrid, or use the balanced plan");
    ValidationErrors more = validation_errors(training.sharding, model, ranks);
    found.insert(found.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

ValidationErrors validation_errors(const DlrmTraining& training, const DlrmModel& model, std::size_t ranks) {
    ASTROLABE_ASSERT(ranks >= 1, "there are ranks");
    ValidationErrors found;
    if (training.global_batch.has_value() == training.local_batch.has_value()) {
        add_error(found, "batch",
                  training.global_batch ? "both the global and the local batch are given"
                                        : "no batch size is given",
                  "give either the global batch or the local one");
    } else {
        check_batch_size(found, training, model, ranks);
    }
    if (training.iterations < 1) {
        add_error(found, "iterations",
                  fmt::format("at least one iteration must run, got {}", training.iterations));
    }
    if (training.embedding_time == EmbeddingTime::kFixed && training.fixed_embedding_time < Time(0)) {
        add_error(found, "embedding_time",
                  fmt::format("a time cannot be negative, got {}", to_string(training.fixed_embedding_time)));
    }
    check_traits(found, training, model);
    check_sharding(found, training, model, ranks);
    check_dense_gradients(found, training);
    if (found.empty()) {
        check_embedding_exchange(found, training, model);
        check_wire_formats(found, training, model);
        check_priorities(found, training, model);
        if (torchrec_of(training) != nullptr) {
            torchrec::check(found, training);
        }
        if (mlperf_of(training) != nullptr) {
            mlperf::check(found, training, ranks);
        }
    }
    return found;
}

ValidationErrors validation_errors(const Device& device, const DlrmTraining& training,
                                   const DlrmModel& model) {
    ValidationErrors found;
    const std::vector<std::string> names = layer_names(training, model);
    const Needs needs = needed_rates(device, training, model, names);
    check_rate(found, "peak",
               training.mlp_time == MlpTime::kGemm ? device.gemm_rate(precision(training))
                                                   : device.peak_of(precision(training)),
               needs.peak);
    check_rate(found, "memory_bandwidth", device.memory_bandwidth, needs.memory_bandwidth);
    check_rate(found, "host_link", device.host_link, host_link_need(training, model));
    check_measured(found, device, names);
    check_table_times(found, device, model);
    if (torchrec_of(training) != nullptr) {
        torchrec::check(found, device, training, model);
    }
    return found;
}

}  // namespace astrolabe::workload
