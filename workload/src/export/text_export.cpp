/// Text workloads of ASTRA-sim 1.0 from a Program (docs/models/traces.md, "Text").
///
/// Method. Layers, times and collectives are read off the names of the first iteration (training_loop.hpp).
/// Each keyword, with each last bottom layer where it has one, is then tried: the text is written, read and
/// built (astra_text.hpp), and it says the Program exactly if both are the same, operation by operation,
/// times rounded up to a nanosecond. So what is written is proven, and what no keyword says is refused with
/// the first operation in which the closest one differs. O(keywords · layers · operations).
#include "../traces/astra_text.hpp"
#include "../traces/keywords.hpp"
#include "exports.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace astrolabe::workload {
namespace {

using system::Operation;
using system::OperationId;
using system::Program;

constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

std::int64_t cycles_of(Time time) {
    return (time.count() + kPicosecondsPerNanosecond - 1) / kPicosecondsPerNanosecond;
}

std::string_view word_of(system::CollectiveKind kind) {
    switch (kind) {
        case system::CollectiveKind::kAllReduce:
            return "ALLREDUCE";
        case system::CollectiveKind::kAllToAll:
            return "ALLTOALL";
        case system::CollectiveKind::kAllGather:
            return "ALLGATHER";
        case system::CollectiveKind::kReduceScatter:
            return "REDUCESCATTER";
        default:
            return {};
    }
}

/// A keyword with all that stands beside the layers, and what a reader is told.
struct Candidate {
    AstraKeyword keyword = AstraKeyword::kData;
    std::string extra;  ///< of line 1
    AstraOptions options;
};

/// What a program is read as.
struct TextLayers {
    std::vector<AstraLayer> layers;
    /// (layer, initiator) of forward passes that are computed again.
    std::vector<std::pair<std::size_t, std::size_t>> recomputed;
};

Diagnostic cannot_say(std::string_view operation, std::string_view why) {
    return export_error(fmt::format("'{}' {}", operation, why),
                        "a text workload is layers with three passes and a collective each; --format chakra "
                        "says any program");
}

class LayerReader {
public:
    explicit LayerReader(const Program& program)
        : program_(program) {}

    [[nodiscard]] Result<TextLayers> read() {
        for (const Operation& operation : program_.operations) {
            if (operation.iteration != 0) {
                continue;
            }
            if (std::optional<Diagnostic> error = take(operation)) {
                return *std::move(error);
            }
        }
        for (const auto& [layer, initiator] : recomputed_) {
            const std::optional<std::size_t> found = place_of(initiator);
            if (!found) {
                return cannot_say(initiator, "is no layer");
            }
            result_.recomputed.emplace_back(layer, *found);
        }
        return std::move(result_);
    }

private:
    [[nodiscard]] std::optional<std::size_t> place_of(std::string_view layer) const {
        for (std::size_t i = 0; i < result_.layers.size(); ++i) {
            if (result_.layers[i].name == layer) {
                return i;
            }
        }
        return std::nullopt;
    }

    std::optional<Diagnostic> take(const Operation& operation) {
        const std::string& layer = operation.layer;
        if (operation.is_receive() || !operation.name.starts_with(layer + ".") || layer.empty() ||
            layer.find_first_of(" \t\r\n") != std::string::npos) {
            return cannot_say(operation.name, "belongs to no layer");
        }
        if (!place_of(layer)) {
            result_.layers.push_back(
                {.name = layer, .forward = {}, .input_gradient = {}, .weight_gradient = {}});
        }
        const std::size_t place = *place_of(layer);
        const std::string_view what = std::string_view(operation.name).substr(layer.size() + 1);
        return operation.is_compute() ? take_computation(operation, place, what)
                                      : take_collective(operation, place, what);
    }

    std::optional<Diagnostic> take_computation(const Operation& operation, std::size_t place,
                                               std::string_view what) {
        AstraLayer& layer = result_.layers[place];
        if (!operation.compute().duration.uniform() || operation.compute().ranks) {
            return cannot_say(operation.name, "is not the same on all ranks");
        }
        const std::int64_t cycles = cycles_of(operation.compute().duration[system::RankId(0)]);
        constexpr std::string_view kRecompute = "recompute_for_";
        if (what == "forward") {
            layer.forward.cycles = cycles;
        } else if (what == "input_gradient") {
            layer.input_gradient.cycles = cycles;
        } else if (what == "weight_gradient" || what == "update") {
            layer.weight_gradient.cycles = cycles;
        } else if (what.starts_with(kRecompute)) {
            recomputed_.emplace_back(place, what.substr(kRecompute.size()));
        } else if (!what.ends_with("wait")) {
            return cannot_say(operation.name,
                              "is none of the passes forward, input_gradient, weight_gradient");
        }
        return std::nullopt;
    }

    std::optional<Diagnostic> take_collective(const Operation& operation, std::size_t place,
                                              std::string_view what) {
        AstraLayer& layer = result_.layers[place];
        const system::CollectiveOperation& work = operation.collective();
        if (work.is_uneven()) {
            return cannot_say(operation.name, "has sizes of its own for each pair of ranks");
        }
        if (word_of(work.kind).empty()) {
            return cannot_say(operation.name,
                              fmt::format("is a {}, which the text has no word for", to_string(work.kind)));
        }
        const std::string_view pass = what.substr(0, what.find('.'));
        AstraPass* const taken = pass == "forward"           ? &layer.forward
                                 : pass == "input_gradient"  ? &layer.input_gradient
                                 : pass == "weight_gradient" ? &layer.weight_gradient
                                                             : nullptr;
        if (pass.starts_with("recompute_for_")) {
            return std::nullopt;
        }
        if (taken == nullptr) {
            return cannot_say(operation.name, "is the collective of no pass");
        }
        taken->collective = AstraCollective{work.kind, work.size};
        if (work.completion_delay > Time(0)) {
            layer.update_delay = cycles_of(work.completion_delay);
        }
        return std::nullopt;
    }

    const Program& program_;
    TextLayers result_;
    std::vector<std::pair<std::size_t, std::string>> recomputed_;
};

/// Sizes of two logical dimensions whose groups the partitions are: that of ranks side by side first.
std::optional<std::int64_t> inner_dimension(const Program& program) {
    for (const system::Partition& partition : program.partitions) {
        const std::vector<system::RankId>& group = partition.groups.front();
        if (group.size() < 2 || group.size() == program.ranks) {
            continue;
        }
        const std::size_t stride = group[1].index() - group[0].index();
        return static_cast<std::int64_t>(stride == 1 ? group.size() : stride);
    }
    return std::nullopt;
}

std::vector<Candidate> candidates(const Program& program, const TextLayers& text) {
    AstraOptions options;
    options.passes = program.iterations;
    std::vector<Candidate> all;
    const auto add = [&](AstraKeyword keyword, std::string extra = {}) {
        all.push_back({keyword, std::move(extra), options});
    };
    const std::optional<std::int64_t> inner = inner_dimension(program);
    for (std::size_t bottom = 0; !inner && bottom + 1 < text.layers.size(); ++bottom) {
        for (const EmbeddingUpdate update :
             {EmbeddingUpdate::kAfterGradients, EmbeddingUpdate::kBeforeGradients, EmbeddingUpdate::kStale}) {
            options.embedding_update =
                update == EmbeddingUpdate::kAfterGradients ? std::nullopt : std::optional(update);
            add(AstraKeyword::kHybridDlrm, fmt::format(" {}", bottom));
        }
        options.embedding_update = std::nullopt;
    }
    for (const AstraKeyword keyword : {AstraKeyword::kData, AstraKeyword::kModel,
                                       AstraKeyword::kDistributedInference, AstraKeyword::kMicro}) {
        add(keyword);
    }
    const std::int64_t group = inner.value_or(static_cast<std::int64_t>(program.ranks));
    add(AstraKeyword::kHybridTransformer, fmt::format(" model_parallel_NPU_group: {}", group));
    if (!text.recomputed.empty()) {
        std::set<std::size_t> kept;
        std::set<std::size_t> initiates;
        for (const auto& [layer, initiator] : text.recomputed) {
            // The lowest layer that is computed again for an initiator is kept.
            const auto lowest = std::min_element(text.recomputed.begin(), text.recomputed.end(),
                                                 [&, for_one = initiator](auto& one, auto& other) {
                                                     return std::pair(one.second != for_one, one.first) <
                                                            std::pair(other.second != for_one, other.first);
                                                 });
            kept.insert(lowest->first);
            initiates.insert(initiator);
        }
        add(AstraKeyword::kHybridTransformerFwdInBckwd,
            fmt::format(" model_parallel_NPU_group: {} checkpoints: {} {} checkpoint_initiates: {} {}", group,
                        kept.size(), fmt::join(kept, " "), initiates.size(), fmt::join(initiates, " ")));
    }
    if (inner) {
        options.dimensions = {*inner, static_cast<std::int64_t>(program.ranks) / *inner};
        add(AstraKeyword::kHybridDataModel);
        add(AstraKeyword::kHybridModelData);
    }
    return all;
}

std::string text_of(const Candidate& candidate, const TextLayers& text) {
    std::string file =
        fmt::format("{}{}\n{}\n", to_string(candidate.keyword), candidate.extra, text.layers.size());
    const auto pass = [](const AstraPass& one) {
        return fmt::format(" {} {} {}", one.cycles, one.collective ? word_of(one.collective->kind) : "NONE",
                           one.collective ? one.collective->size.count() : 0);
    };
    for (const AstraLayer& layer : text.layers) {
        file += fmt::format("{} -1{}{}{} {}\n", layer.name, pass(layer.forward), pass(layer.input_gradient),
                            pass(layer.weight_gradient), layer.update_delay);
    }
    return file;
}

bool same_work(const Program& program, const Operation& one, const Program& other_program,
               const Operation& other) {
    if (one.name != other.name || one.work.index() != other.work.index() ||
        one.iteration != other.iteration || one.dependencies != other.dependencies) {
        return false;
    }
    const system::RankId any(0);
    if (one.is_compute()) {
        return cycles_of(one.compute().duration[any]) == cycles_of(other.compute().duration[any]);
    }
    const system::CollectiveOperation& work = one.collective();
    const system::CollectiveOperation& other_work = other.collective();
    return work.kind == other_work.kind && work.size == other_work.size &&
           work.priority == other_work.priority && work.explicit_priority == other_work.explicit_priority &&
           cycles_of(work.completion_delay) == cycles_of(other_work.completion_delay) &&
           work.least_duration == Time(0) && !work.begins_together &&
           program.partitions[work.partition].groups == other_program.partitions[other_work.partition].groups;
}

/// The first operation in which they differ; the number of operations where they do not.
std::size_t first_difference(const Program& program, const Program& other) {
    const std::size_t shorter = std::min(program.operations.size(), other.operations.size());
    for (std::size_t i = 0; i < shorter; ++i) {
        const OperationId id(i);
        if (!same_work(program, program.operations[id], other, other.operations[id])) {
            return i;
        }
    }
    return program.operations.size() == other.operations.size()
               ? shorter
               : std::min(shorter, program.operations.size() - 1);
}

class TextExport final : public TraceExport {
public:
    TextExport(std::string name, std::string text, std::vector<std::pair<std::string, std::string>> facts)
        : name_(std::move(name)),
          text_(std::move(text)),
          facts_(std::move(facts)) {}

    [[nodiscard]] std::size_t files() const override { return 1; }
    [[nodiscard]] std::string name(std::size_t /*file*/) const override { return name_; }
    void write(std::size_t /*file*/, const Append& append) override { append(text_); }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const override { return facts_; }

private:
    std::string name_;
    std::string text_;
    std::vector<std::pair<std::string, std::string>> facts_;
};

std::vector<std::pair<std::string, std::string>> told(const Program& program, const Candidate& candidate) {
    std::vector<std::pair<std::string, std::string>> facts{
        {"keyword", fmt::format("{}{}", to_string(candidate.keyword), candidate.extra)},
        {"passes", fmt::format("{}", program.iterations)}};
    if (!candidate.options.dimensions.empty()) {
        facts.emplace_back("dimensions", fmt::format("[{}]", fmt::join(candidate.options.dimensions, ", ")));
    }
    if (candidate.options.embedding_update) {
        facts.emplace_back("embedding_update", *candidate.options.embedding_update == EmbeddingUpdate::kStale
                                                   ? "stale"
                                                   : "before_gradients");
    }
    return facts;
}

}  // namespace

MadeExport make_text_export(const Program& program, const TraceExportOptions& options) {
    if (program.streams.size() > 1 || program.compute_order != system::ComputeOrder::kProgram) {
        return export_error("its ranks compute on several streams, or in an order of their own",
                            "--format chakra says streams");
    }
    const Result<TextLayers> layers = LayerReader(program).read();
    if (!layers) {
        return layers.error();
    }
    std::size_t closest = 0;
    std::string closest_keyword = "DATA";
    for (const Candidate& candidate : candidates(program, *layers)) {
        std::string text = text_of(candidate, *layers);
        const Result<AstraText> read = read_astra_text(text, options.prefix);
        if (!read || !validation_errors(*read, candidate.options, program.ranks).empty()) {
            continue;
        }
        const Program built = build_astra_program(*read, candidate.options, program.ranks);
        const std::size_t difference = first_difference(program, built);
        if (difference == program.operations.size()) {
            return std::unique_ptr<TraceExport>(std::make_unique<TextExport>(
                options.prefix + ".txt", std::move(text), told(program, candidate)));
        }
        if (difference > closest) {
            closest = difference;
            closest_keyword = to_string(candidate.keyword);
        }
    }
    return cannot_say(
        program.operations[OperationId(closest)].name,
        fmt::format("is where the loop of {}, the closest, does something else", closest_keyword));
}

}  // namespace astrolabe::workload
