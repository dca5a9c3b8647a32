#include "framework_config.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe {

namespace workload {

enum class FrameworkKind : std::uint8_t { kTorchrec, kMlperf };

}  // namespace workload

template <>
struct EnumNames<workload::FrameworkKind> {
    static constexpr std::array<std::pair<std::string_view, workload::FrameworkKind>, 2> kNames{
        {{"torchrec", workload::FrameworkKind::kTorchrec}, {"mlperf", workload::FrameworkKind::kMlperf}}};
};
template <>
struct EnumNames<workload::TorchrecPipeline> {
    static constexpr std::array<std::pair<std::string_view, workload::TorchrecPipeline>, 7> kNames{
        {{"base", workload::TorchrecPipeline::kBase},
         {"sparse_dist_lite", workload::TorchrecPipeline::kSparseDistLite},
         {"sparse_dist", workload::TorchrecPipeline::kSparseDist},
         {"sparse_dist_2023", workload::TorchrecPipeline::kSparseDist2023},
         {"fused_sparse_dist", workload::TorchrecPipeline::kFusedSparseDist},
         {"semi_sync", workload::TorchrecPipeline::kSemiSync},
         {"prefetch", workload::TorchrecPipeline::kPrefetch}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

/// The options of a framework, with its name.
template <class Options>
struct Named : Options {
    FrameworkKind kind{};
};

template <class Options>
Schema<Named<Options>> named_schema() {
    Schema<Named<Options>> schema("training", "the loop of a training framework");
    schema.required("kind", &Named<Options>::kind,
                    "torchrec: the loop of PyTorch, TorchRec and FBGEMM; mlperf: that of HugeCTR in MLPerf");
    return schema;
}

Schema<Named<TorchrecTraining>> torchrec_schema() {
    Schema<Named<TorchrecTraining>> schema = named_schema<TorchrecTraining>();
    schema.optional("pipeline", &Named<TorchrecTraining>::pipeline,
                    "which part of which batch is issued when");
    return schema;
}

Schema<Named<MlperfTraining>> mlperf_schema() {
    using Options = Named<MlperfTraining>;
    Schema<Options> schema = named_schema<MlperfTraining>();
    schema
        .optional("ranks_per_host", &Options::ranks_per_host,
                  "of mlperf; where there are several hosts, exchanges go through them; unset: one host",
                  {1, {}})
        .optional("replicate_below", &Options::replicate_below,
                  "of mlperf; weights and state of a table; unset: 8 MB, on 8 hosts and more 12.5 MB",
                  {Bytes(0), {}})
        .optional("memory", &Options::memory, "of mlperf; that a rank has for tables",
                  {Bytes(1), Bytes(1'000'000'000'000)})
        .optional("bandwidth_ratio", &Options::bandwidth_ratio,
                  "of mlperf; of memory to exchange, for the plan; unset: 7, on several hosts 67",
                  {0.0, 1e6});
    return schema;
}

template <class Options>
Framework read_options(const Schema<Named<Options>>& schema, const ConfigNode& node, ReadContext& context) {
    if (!node.is_mapping()) {
        return Options{};
    }
    const std::optional<Named<Options>> read = schema.read(node, context);
    return read ? Framework(static_cast<const Options&>(*read)) : Framework();
}

template <class Options>
ConfigNode write_options(const Schema<Named<Options>>& schema, const Options& options, FrameworkKind kind) {
    Named<Options> named{{options}, kind};
    return schema.write(named);
}

/// The node that names the framework; a mapping without one has an error in `context`.
const ConfigNode* kind_of(const ConfigNode& node, ReadContext& context) {
    if (!node.is_mapping()) {
        return &node;
    }
    for (const ConfigEntry& entry : node.entries) {
        if (entry.key == "kind") {
            return &entry.value;
        }
    }
    context.error("config.missing", node.where, "'training' does not say its kind",
                  "write training: torchrec, or training: {kind: torchrec, pipeline: base}");
    return nullptr;
}

}  // namespace

ParameterDescriptor framework_key() {
    std::vector<ParameterDescriptor> keys = torchrec_schema().parameters();
    const std::vector<ParameterDescriptor> of_mlperf = mlperf_schema().parameters();
    for (const ParameterDescriptor& key : of_mlperf) {
        if (key.key != "kind") {
            keys.push_back(key);
        }
    }
    return {"training",
            "torchrec, mlperf, or mapping",
            "unset",
            false,
            {},
            "the loop of a training framework, with placed tables; unset: that of the study",
            std::move(keys)};
}

Framework read_framework(const ConfigNode& node, ReadContext& context) {
    const ConfigNode* kind_node = kind_of(node, context);
    if (kind_node == nullptr) {
        return {};
    }
    const auto kind = read_scalar<FrameworkKind>(*kind_node, "'training'", context);
    if (!kind) {
        return {};
    }
    switch (*kind) {
        case FrameworkKind::kTorchrec:
            return read_options(torchrec_schema(), node, context);
        case FrameworkKind::kMlperf:
            return read_options(mlperf_schema(), node, context);
    }
    invariant_failed("kind of training", "every framework is read");
}

std::optional<ConfigNode> write_framework(const Framework& framework) {
    if (const auto* options = std::get_if<TorchrecTraining>(&framework)) {
        return write_options(torchrec_schema(), *options, FrameworkKind::kTorchrec);
    }
    if (const auto* options = std::get_if<MlperfTraining>(&framework)) {
        return write_options(mlperf_schema(), *options, FrameworkKind::kMlperf);
    }
    return std::nullopt;
}

}  // namespace astrolabe::workload
