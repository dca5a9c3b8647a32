#include "../integer_division.hpp"
#include "astra_text.hpp"
#include "keywords.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

// 1 cycle at the 1 GHz that the format assumes.
constexpr std::int64_t kPicosecondsPerCycle = 1'000;

bool is_dlrm(const AstraText& text) {
    return text.keyword == AstraKeyword::kHybridDlrm || text.keyword == AstraKeyword::kHybridDlrmEnhanced;
}

/// Logical dimensions, of which the first `tensor_dimensions` make the tensor group.
struct Layout {
    std::vector<std::int64_t> sizes;
    std::size_t tensor_dimensions = 0;
};

/// Nothing where the group is no product of leading dimensions and a divisor of the next one.
std::optional<Layout> layout_of(std::vector<std::int64_t> sizes, std::int64_t group) {
    std::size_t dimension = 0;
    while (dimension < sizes.size() && group % sizes[dimension] == 0) {
        group /= sizes[dimension++];
    }
    if (group == 1) {
        return Layout{std::move(sizes), dimension};
    }
    if (dimension == sizes.size() || sizes[dimension] % group != 0) {
        return std::nullopt;
    }
    sizes[dimension] /= group;
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dimension), group);
    return Layout{std::move(sizes), dimension + 1};
}

std::vector<std::int64_t> dimensions_of(const AstraOptions& options, std::size_t ranks) {
    return options.dimensions.empty() ? std::vector{static_cast<std::int64_t>(ranks)} : options.dimensions;
}

/// Tensor group, expert group, what is left of data parallelism, pipeline stages; nothing where they do not
/// make the header's ranks.
std::optional<std::vector<std::int64_t>> simai_sizes(const AstraText& text) {
    const SimaiHeader& simai = *text.simai;
    std::int64_t left = simai.ranks;
    for (const std::int64_t size : {text.tensor_group, simai.stages, simai.expert_group}) {
        if (left % size != 0) {
            return std::nullopt;
        }
        left /= size;
    }
    return std::vector{text.tensor_group, simai.expert_group, left, simai.stages};
}

/// count · unit · scale, rounded up; the scale 1 stays exact beyond the 53 bits of a double.
std::int64_t scaled(std::int64_t count, std::int64_t unit, double scale) {
    if (scale == 1) {
        return count * unit;
    }
    return static_cast<std::int64_t>(
        std::ceil(static_cast<double>(count) * static_cast<double>(unit) * scale));
}

Time time_of(std::int64_t cycles, double scale) {
    return Time(scaled(cycles, kPicosecondsPerCycle, scale));
}

class PlanBuilder {
public:
    PlanBuilder(const AstraText& text, const AstraOptions& options, std::size_t ranks)
        : text_(text),
          options_(options),
          layout_(text.simai ? Layout{*simai_sizes(text), 1}
                             : *layout_of(dimensions_of(options, ranks), text.tensor_group)) {
        plan_.ranks = ranks;
        plan_.iterations = options.passes;
    }

    [[nodiscard]] TrainingPlan build() && {
        std::set<std::string> names;
        for (std::size_t index = 0; index < text_.layers.size(); ++index) {
            const AstraLayer& layer = text_.layers[index];
            const LayerSpans spanned = spans(layer.policy, index);
            TrainingLayer made;
            made.name = layer.name;
            // The format lets names repeat, a plan does not.
            while (!names.insert(made.name).second) {
                made.name += fmt::format("#{}", index);
            }
            made.forward = time_of(layer.forward.cycles, options_.compute_scale);
            made.input_gradient = gradient(layer.input_gradient);
            made.weight_gradient = gradient(layer.weight_gradient);
            made.forward_communication = communication(layer.forward, spanned.activations);
            made.input_gradient_communication = communication(layer.input_gradient, spanned.activations);
            made.weight_gradient_communication = communication(layer.weight_gradient, spanned.weights);
            made.update_delay = time_of(layer.update_delay, 1);
            plan_.layers.push_back(std::move(made));
        }
        return std::move(plan_);
    }

private:
    [[nodiscard]] std::optional<system::PerRank<Time>> gradient(const AstraPass& pass) const {
        if (pass.cycles == 0) {
            return std::nullopt;
        }
        return system::PerRank<Time>(time_of(pass.cycles, options_.compute_scale));
    }

    [[nodiscard]] std::optional<LayerCommunication> communication(const AstraPass& pass, Span span) {
        if (!pass.collective) {
            return std::nullopt;
        }
        std::int64_t size = scaled(pass.collective->size.count(), 1, options_.comm_scale);
        if (pass.collective->group == AstraGroup::kOfKeyword) {
            return LayerCommunication{
                .kind = pass.collective->kind, .size = Bytes(size), .partition = partition(span)};
        }
        const system::PartitionId group = partition(pass.collective->group);
        if (pass.collective->kind == system::CollectiveKind::kAllGather) {
            size = divide_up(size, static_cast<std::int64_t>(plan_.partitions[group].groups.front().size()));
        }
        return LayerCommunication{.kind = pass.collective->kind, .size = Bytes(size), .partition = group};
    }

    [[nodiscard]] system::PartitionId partition(AstraGroup group) {
        const auto known = simai_partitions_.find(group);
        if (known != simai_partitions_.end()) {
            return known->second;
        }
        const system::PartitionId made = plan_.partitions.push_back(make_partition(group));
        simai_partitions_.emplace(group, made);
        return made;
    }

    [[nodiscard]] system::Partition make_partition(AstraGroup group) const {
        switch (group) {
            case AstraGroup::kTensor:
                return make_partition("tensor parallel", 0, 1);
            case AstraGroup::kExpert:
                return make_partition("expert parallel", 1, 2);
            case AstraGroup::kData:
                return make_partition("data parallel", 1, 3);
            case AstraGroup::kDataOfExperts:
                return make_partition("data parallel of experts", 2, 3);
            case AstraGroup::kOfKeyword:
                break;
        }
        invariant_failed("collective has a group", "SimAI's dialect gives every collective a group");
    }

    [[nodiscard]] system::PartitionId partition(Span span) {
        const auto known = partitions_.find(span);
        if (known != partitions_.end()) {
            return known->second;
        }
        const system::PartitionId made = plan_.partitions.push_back(make_partition(span));
        partitions_.emplace(span, made);
        return made;
    }

    [[nodiscard]] system::Partition make_partition(Span span) const {
        const std::size_t all = layout_.sizes.size();
        switch (span) {
            case Span::kAll:
                return system::Partition::world(plan_.ranks);
            case Span::kFirst:
                return make_partition("dimension 0", 0, 1);
            case Span::kAllButFirst:
                return make_partition("dimensions from 1", 1, all);
            case Span::kTensorGroup:
                return make_partition("tensor group", 0, layout_.tensor_dimensions);
            case Span::kAllButTensorGroup:
                return make_partition("beside the tensor group", layout_.tensor_dimensions, all);
            case Span::kNone:
                break;
        }
        invariant_failed("collective spans dimensions", "the reader refuses what spans none");
    }

    /// Groups along the dimensions first … end-1: ranks that agree in all other coordinates.
    [[nodiscard]] system::Partition make_partition(std::string name, std::size_t first,
                                                   std::size_t end) const {
        std::size_t stride = 1;
        std::size_t length = 1;
        for (std::size_t dimension = 0; dimension < end; ++dimension) {
            (dimension < first ? stride : length) *= static_cast<std::size_t>(layout_.sizes[dimension]);
        }
        system::Partition made{.name = std::move(name), .groups = {}};
        for (std::size_t block = 0; block < plan_.ranks; block += stride * length) {
            for (std::size_t offset = 0; offset < stride; ++offset) {
                std::vector<system::RankId>& group = made.groups.emplace_back();
                for (std::size_t position = 0; position < length; ++position) {
                    group.emplace_back(block + offset + position * stride);
                }
            }
        }
        return made;
    }

    const AstraText& text_;
    const AstraOptions& options_;
    Layout layout_;
    TrainingPlan plan_;
    std::map<Span, system::PartitionId> partitions_;
    std::map<AstraGroup, system::PartitionId> simai_partitions_;
};

ValidationErrors simai_errors(const AstraText& text, const AstraOptions& options, std::size_t ranks) {
    const SimaiHeader& simai = *text.simai;
    if (simai.ranks != static_cast<std::int64_t>(ranks)) {
        return {{"trace", fmt::format("all_gpus is {}, and the cluster has {} ranks", simai.ranks, ranks),
                 fmt::format("set cluster.ranks to {}", simai.ranks)}};
    }
    if (!options.dimensions.empty()) {
        return {{"dimensions", "the trace has sizes of its groups of its own", "leave 'dimensions' out"}};
    }
    if (!simai_sizes(text)) {
        return {{"trace",
                 fmt::format(
                     "{} ranks are not divided by a tensor group of {}, {} stages and an expert group of {}",
                     ranks, text.tensor_group, simai.stages, simai.expert_group),
                 "their product divides all_gpus"}};
    }
    return {};
}

ValidationErrors dimension_errors(const AstraText& text, const AstraOptions& options, std::size_t ranks) {
    if (text.simai) {
        return simai_errors(text, options, ranks);
    }
    const std::vector<std::int64_t> sizes = dimensions_of(options, ranks);
    detail::Int128 product = 1;
    for (const std::int64_t size : sizes) {
        product *= std::max<std::int64_t>(size, 0);
        if (product == 0 || product > std::numeric_limits<std::int64_t>::max()) {
            break;
        }
    }
    if (product != static_cast<detail::Int128>(ranks)) {
        return {
            {"dimensions",
             fmt::format("dimensions {} do not make the cluster's {} ranks", fmt::join(sizes, " x "), ranks),
             "their product is the number of ranks"}};
    }
    if (!layout_of(sizes, text.tensor_group)) {
        return {{"dimensions",
                 fmt::format("the trace's model-parallel group of {} does not fit into dimensions {}",
                             text.tensor_group, fmt::join(sizes, " x ")),
                 "it is the product of leading dimensions and of a divisor of the next one"}};
    }
    const bool two_dimensional =
        std::any_of(text.layers.begin(), text.layers.end(), [](const AstraLayer& layer) {
            return layer.policy == AstraKeyword::kHybridDataModel ||
                   layer.policy == AstraKeyword::kHybridModelData;
        });
    if (two_dimensional && sizes.size() < 2) {
        return {{"dimensions", "a hybrid of data and model parallelism needs two dimensions, found one",
                 "write [ranks of a package, packages]"}};
    }
    return {};
}

/// Times of all passes at most half of Time::max(), sizes of all ranks' shares together within 62 bits.
ValidationErrors size_errors(const AstraText& text, const AstraOptions& options, std::size_t ranks) {
    constexpr double kMaxTime = static_cast<double>(Time::max().count()) / 2;
    constexpr double kMaxBytes = 4.6e18;
    double cycles = 0;
    double bytes = 0;
    const double repeats = 1 + static_cast<double>(text.checkpoints.initiates.size());
    for (const AstraLayer& layer : text.layers) {
        for (const AstraPass* pass : {&layer.forward, &layer.input_gradient, &layer.weight_gradient}) {
            cycles += repeats * (static_cast<double>(pass->cycles) * options.compute_scale +
                                 static_cast<double>(layer.update_delay));
            if (pass->collective) {
                bytes = std::max(bytes, static_cast<double>(pass->collective->size.count()));
            }
        }
    }
    ValidationErrors found;
    if (cycles * options.passes * static_cast<double>(kPicosecondsPerCycle) > kMaxTime) {
        found.push_back({"trace",
                         fmt::format("{} passes compute for {:.4g} s, expected at most {}", options.passes,
                                     cycles * options.passes / 1e9, readable(Time::max() / 2)),
                         "check 'compute_scale' and the trace's cycles, or simulate fewer passes"});
    }
    if (bytes * options.comm_scale * static_cast<double>(ranks) > kMaxBytes) {
        found.push_back(
            {"trace",
             fmt::format("a collective of {} ranks moves {:.4g} bytes, expected at most {:.4g}", ranks,
                         bytes * options.comm_scale * static_cast<double>(ranks), kMaxBytes),
             "check 'comm_scale' and the trace's sizes"});
    }
    return found;
}

}  // namespace

ValidationErrors validation_errors(const AstraText& text, const AstraOptions& options, std::size_t ranks) {
    ValidationErrors found = dimension_errors(text, options, ranks);
    if (options.embedding_update && !is_dlrm(text)) {
        found.push_back({"embedding_update",
                         fmt::format("{} has no embedding update", to_string(text.keyword)),
                         "only HYBRID_DLRM and HYBRID_DLRM_ENHANCED have one"});
    }
    for (ValidationError& problem : size_errors(text, options, ranks)) {
        found.push_back(std::move(problem));
    }
    return found;
}

TrainingPlan astra_training_plan(const AstraText& text, const AstraOptions& options, std::size_t ranks) {
    ASTROLABE_ASSERT(validation_errors(text, options, ranks).empty(),
                     "the user's errors were reported before");
    return PlanBuilder(text, options, ranks).build();
}

system::Program build_astra_program(const AstraText& text, const AstraOptions& options, std::size_t ranks) {
    const TrainingPlan plan = astra_training_plan(text, options, ranks);
    switch (text.keyword) {
        case AstraKeyword::kData:
            return data_loop(plan);
        case AstraKeyword::kModel:
            return model_loop(plan);
        case AstraKeyword::kHybridDataModel:
        case AstraKeyword::kHybridModelData:
        case AstraKeyword::kHybridCustomized:
            return hybrid_loop(plan);
        case AstraKeyword::kMicro:
            return micro_loop(plan);
        case AstraKeyword::kDistributedInference:
            return inference_loop(plan);
        case AstraKeyword::kHybridTransformer:
        case AstraKeyword::kHybridTransformerFwdInBckwd:
            return transformer_loop(plan, text.checkpoints);
        case AstraKeyword::kHybridDlrm:
            return dlrm_loop(plan, text.last_bottom_layer,
                             options.embedding_update.value_or(EmbeddingUpdate::kAfterGradients));
        case AstraKeyword::kHybridDlrmEnhanced:
            return dlrm_loop(plan, text.last_bottom_layer,
                             options.embedding_update.value_or(EmbeddingUpdate::kStale));
    }
    invariant_failed("keyword has a loop", "every keyword does");
}

}  // namespace astrolabe::workload
