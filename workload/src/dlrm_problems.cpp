#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/workload/dlrm_training.hpp>

namespace astrolabe::workload {

namespace {

using Problems = std::vector<ParameterProblem>;

/// Precondition: exactly one of the two batch sizes is given.
void check_batch_size(Problems& found, const DlrmTraining& training, const DlrmModel& model,
                      std::size_t ranks) {
    const auto count = static_cast<std::int64_t>(ranks);
    const std::int64_t given = training.global_batch.value_or(training.local_batch.value_or(0));
    if (given < 1) {
        found.push_back({.key = "batch",
                         .message = fmt::format("the batch must have at least one sample, got {}", given),
                         .hint = ""});
        return;
    }
    // Bounds every product of batch and model: 6·B·parameters FLOP, 2·B·values·16 bytes.
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    const detail::Int128 samples = static_cast<detail::Int128>(given) * (training.global_batch ? 1 : count);
    const detail::Int128 per_sample = detail::Int128{8} * mlp_parameters(model) +
                                      detail::Int128{32} * lookup_width(model) +
                                      detail::Int128{32} * interaction_width(model) + interaction_work(model);
    if (samples > kMost / per_sample) {
        found.push_back({.key = "batch",
                         .message = fmt::format("a batch of {} is too large for this model", given),
                         .hint = "the work of one iteration must stay below 2^60 operations"});
        return;
    }
    if (training.global_batch && given % count != 0) {
        const std::int64_t below = given / count * count;
        std::string near = fmt::format("{}", below + count);
        if (below > 0) {
            near = fmt::format("{} or {}", below, near);
        }
        found.push_back(
            {.key = "batch",
             .message = fmt::format("a global batch of {} cannot be shared evenly by {} ranks", given, count),
             .hint = fmt::format("use a global batch of {}, or give the local batch", near)});
    }
}

bool is_known(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> layer_names(const DlrmTraining& training, const DlrmModel& model) {
    std::vector<std::string> names{std::string(kEmbeddingLayer)};
    for (const MlpLayer& layer : bottom_layers(model)) {
        names.push_back(layer.name);
    }
    if (training.interaction_time) {
        names.emplace_back(kInteractionLayer);
    }
    for (const MlpLayer& layer : top_layers(model)) {
        names.push_back(layer.name);
    }
    return names;
}

/// Why a layer never computes a pass, or nothing if it does.
std::string_view absence_of(std::string_view layer, std::string_view pass) {
    if (layer == kEmbeddingLayer && pass == "input_gradient") {
        return "indices have no gradient; the update of the rows is its weight_gradient";
    }
    if (layer == kInteractionLayer && pass == "weight_gradient") {
        return "the interaction has no weights; its backward pass is its input_gradient";
    }
    return {};
}

void check_measured(Problems& found, const Device& device, const std::vector<std::string>& names) {
    for (const auto& [layer, times] : device.measured) {
        const std::string key = "layers." + layer;
        if (!is_known(names, layer)) {
            found.push_back({.key = key,
                             .message = fmt::format("the model has no layer '{}'", layer),
                             .hint = layer == kInteractionLayer
                                         ? "set interaction_time to count the interaction"
                                         : suggest(layer, names)});
        }
        for (const auto& [pass, time] :
             {std::pair("forward", times.forward), std::pair("input_gradient", times.input_gradient),
              std::pair("weight_gradient", times.weight_gradient)}) {
            if (!time) {
                continue;
            }
            const std::string place = fmt::format("{}.{}", key, pass);
            if (*time < Time(0)) {
                found.push_back(
                    {.key = place,
                     .message = fmt::format("a time cannot be negative, got {}", to_string(*time)),
                     .hint = ""});
            }
            if (const std::string_view reason = absence_of(layer, pass); !reason.empty()) {
                found.push_back({.key = place,
                                 .message = fmt::format("layer {} has no pass '{}'", layer, pass),
                                 .hint = std::string(reason)});
            }
        }
    }
}

/// Which rates computed times need, and the layer that needs them.
struct Needs {
    std::string peak;
    std::string memory_bandwidth;
};

Needs needed_rates(const Device& device, const DlrmTraining& training,
                   const std::vector<std::string>& names) {
    Needs needs;
    for (const std::string& layer : names) {
        const bool is_embedding = layer == kEmbeddingLayer;
        const bool learns = layer != kInteractionLayer;
        const bool complete = device.measured_time(layer, &LayerTimes::forward) &&
                              (is_embedding || device.measured_time(layer, &LayerTimes::input_gradient)) &&
                              (!learns || device.measured_time(layer, &LayerTimes::weight_gradient));
        if (complete) {
            continue;
        }
        const bool flops = !is_embedding || training.embedding_time == EmbeddingTime::kFlops;
        const bool bytes = is_embedding ? training.embedding_time == EmbeddingTime::kBandwidth
                                        : training.mlp_time == MlpTime::kRoofline;
        if (flops && needs.peak.empty()) {
            needs.peak = layer;
        }
        if (bytes && needs.memory_bandwidth.empty()) {
            needs.memory_bandwidth = layer;
        }
    }
    return needs;
}

template <class Rate>
void check_rate(Problems& found, const std::string& key, const std::optional<Rate>& rate,
                const std::string& needed_by) {
    if (rate && *rate <= Rate(0)) {
        found.push_back({.key = key, .message = fmt::format("{} must be positive", key), .hint = ""});
    } else if (!rate && !needed_by.empty()) {
        found.push_back({.key = key,
                         .message = fmt::format("{} is missing and layer {} needs it", key, needed_by),
                         .hint = fmt::format("give {}, or measured times of every layer", key)});
    }
}

}  // namespace

std::vector<ParameterProblem> problems(const DlrmTraining& training, const DlrmModel& model,
                                       std::size_t ranks) {
    ASTROLABE_ASSERT(ranks >= 1, "somebody trains");
    Problems found;
    if (training.global_batch.has_value() == training.local_batch.has_value()) {
        found.push_back({.key = "batch",
                         .message = training.global_batch ? "both the global and the local batch are given"
                                                          : "no batch size is given",
                         .hint = "give either the global batch or the local one"});
    } else {
        check_batch_size(found, training, model, ranks);
    }
    if (training.iterations < 1) {
        found.push_back(
            {.key = "iterations",
             .message = fmt::format("at least one iteration must run, got {}", training.iterations),
             .hint = ""});
    }
    if (training.embedding_time == EmbeddingTime::kFixed && training.fixed_embedding_time < Time(0)) {
        found.push_back({.key = "embedding_time",
                         .message = fmt::format("a time cannot be negative, got {}",
                                                to_string(training.fixed_embedding_time)),
                         .hint = ""});
    }
    return found;
}

std::vector<ParameterProblem> problems(const Device& device, const DlrmTraining& training,
                                       const DlrmModel& model) {
    Problems found;
    const std::vector<std::string> names = layer_names(training, model);
    const Needs needs = needed_rates(device, training, names);
    check_rate(found, "peak", device.peak, needs.peak);
    check_rate(found, "memory_bandwidth", device.memory_bandwidth, needs.memory_bandwidth);
    check_measured(found, device, names);
    return found;
}

}  // namespace astrolabe::workload
