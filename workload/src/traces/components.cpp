#include "../register.hpp"
#include "astra_text.hpp"

#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <astrolabe/core/limits.hpp>

namespace astrolabe::workload {
namespace {

/// The keys of an ASTRA-sim text workload.
struct AstraParameters : AstraOptions {
    std::string trace;  ///< absolute, so that a resolved experiment finds it from anywhere
    AstraText text;
};

void read_trace(AstraParameters& parameters, const ConfigNode& node, ReadContext& context) {
    const std::optional<std::string> given = read_scalar<std::string>(node, "'trace'", context);
    if (!given) {
        return;
    }
    const std::filesystem::path path = (directory_of(node) / *given).lexically_normal();
    std::ifstream file(path, std::ios::binary);
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure) || !file) {
        context.error("config.file", node.where, fmt::format("cannot read the trace '{}'", path.string()),
                      "paths resolve against the file that names them");
        return;
    }
    if (const std::uintmax_t size = std::filesystem::file_size(path, failure); size > limits::kFileBytes) {
        context.error("config.limit", node.where,
                      fmt::format("the trace '{}' has {} bytes, expected at most {}", path.string(), size,
                                  limits::kFileBytes),
                      "is this the right file?");
        return;
    }
    Result<AstraText> text = read_astra_text(
        {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, path.string());
    if (!text) {
        for (const Diagnostic& diagnostic : text.error()) {
            context.error(diagnostic);
        }
        return;
    }
    parameters.trace = std::filesystem::absolute(path).lexically_normal().string();
    parameters.text = *std::move(text);
}

Schema<AstraParameters> astra_schema() {
    Schema<AstraParameters> schema(
        "astra_text", "a text workload of ASTRA-sim 1.0 or SimAI; its times replace the device's");
    schema
        .field({"trace", "path", "", true, {}, "the workload's file, relative to the file that names it", {}},
               read_trace,
               [](const AstraParameters& parameters) {
                   return std::optional(ConfigNode::scalar(parameters.trace));
               })
        .list("dimensions", &AstraParameters::dimensions,
              "sizes of the logical dimensions, fastest first; none: one of all ranks", false, {1, {}})
        .optional("passes", &AstraParameters::passes, "iterations to simulate", {1, 100'000})
        .optional("compute_scale", &AstraParameters::compute_scale,
                  "multiplies the compute cycles, 1 ns each", {0.0, 1e9})
        .optional("comm_scale", &AstraParameters::comm_scale, "multiplies the sizes of collectives",
                  {1e-9, 1e9})
        .optional("embedding_update", &AstraParameters::embedding_update,
                  "when the embedding update of HYBRID_DLRM runs; unset: after_gradients, stale for the "
                  "enhanced loop");
    return schema;
}

Facts astra_facts(const AstraParameters& parameters, std::size_t ranks) {
    Time compute;
    std::array<Bytes, system::kCollectiveKinds> traffic{};
    for (const system::Operation& operation :
         build_astra_program(parameters.text, parameters, ranks).operations) {
        if (operation.iteration != 0) {
            continue;
        }
        if (operation.is_compute()) {
            compute += operation.compute().duration[system::RankId(0)];
        } else if (operation.is_collective()) {
            traffic[static_cast<std::size_t>(operation.collective().kind)] += operation.collective().size;
        }
    }
    Facts facts{{"layers", fmt::format("{}", parameters.text.layers.size())},
                {"compute per iteration", readable(compute)}};
    append_traffic(facts, traffic);
    return facts;
}

}  // namespace

void register_astra_text(Registry<Job>& registry) {
    registry.add<AstraParameters>(astra_schema(), [](const AstraParameters& parameters) {
        Job job;
        job.iterations = parameters.passes;
        job.validation_errors = [parameters](const Device&, std::size_t ranks) {
            return validation_errors(parameters.text, parameters, ranks);
        };
        job.device_errors = [](const Device&) { return ValidationErrors{}; };
        job.program = [parameters](const Device&, std::size_t ranks) {
            return build_astra_program(parameters.text, parameters, ranks);
        };
        job.facts = [parameters](const Device&, std::size_t ranks) { return astra_facts(parameters, ranks); };
        return job;
    });
}

}  // namespace astrolabe::workload
