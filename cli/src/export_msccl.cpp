#include "export_msccl.hpp"

#include "console.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/system/schedule/msccl_text.hpp>

namespace astrolabe::cli {

namespace {

constexpr std::uint32_t kMostGpus = 4096;

Diagnostic wrong_option(const std::string& option, const std::string& text, std::string message,
                        std::string hint) {
    const auto source = std::make_shared<const SourceText>(SourceText{option, text});
    return {"export.msccl",
            {source, 1, 1, std::max(1, static_cast<int>(text.size()))},
            std::move(message),
            std::move(hint),
            {}};
}

Result<system::CollectiveKind> kind_named(std::string name) {
    std::ranges::replace(name, '-', '_');
    std::vector<std::string> names;
    for (std::size_t index = 0; index < system::kCollectiveKinds; ++index) {
        const auto kind = static_cast<system::CollectiveKind>(index);
        if (to_string(kind) == name) {
            return kind;
        }
        names.emplace_back(to_string(kind));
    }
    return wrong_option("--kind", name, fmt::format("'{}' is no kind of collective", name),
                        suggest(name, names));
}

Result<system::Shape> shape_of(const MscclExport& arguments) {
    std::vector<system::Position> sizes;
    std::uint64_t ranks = 1;
    const std::string& text = arguments.dimensions;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('x', begin), text.size());
        system::Position size = 0;
        const auto [last, error] = std::from_chars(text.data() + begin, text.data() + end, size);
        ranks = std::min<std::uint64_t>(ranks * size, kMostGpus + 1);
        if (error != std::errc{} || last != text.data() + end || size < 1 || ranks > kMostGpus) {
            return wrong_option("--dimensions", text,
                                fmt::format("'{}' are no dimensions of at most {} ranks", text, kMostGpus),
                                "write 8x4, the fastest-varying first");
        }
        sizes.push_back(size);
        begin = end + 1;
    }
    if (!sizes.empty() && arguments.ranks && *arguments.ranks != ranks) {
        return wrong_option("--dimensions", text,
                            fmt::format("{} are {} ranks, --ranks says {}", text, ranks, *arguments.ranks),
                            "leave --ranks out");
    }
    if (sizes.empty() && !arguments.ranks) {
        return wrong_option("--ranks", "", "the number of ranks is missing",
                            "give --ranks 8 or --dimensions 4x2");
    }
    if (sizes.empty()) {
        sizes.push_back(*arguments.ranks);
    }
    system::Shape shape(std::move(sizes));
    if (shape.ranks() < 2) {
        return wrong_option("--ranks", "1", "one rank has nothing to send", "take 2 or more");
    }
    return shape;
}

Result<system::AlgorithmPointer> algorithm_named(const std::string& text,
                                                 const experiment::Components& components) {
    const bool is_mapping = !text.empty() && text.front() == '{';
    const Result<ConfigNode> node =
        parse_config(is_mapping ? text : fmt::format("{{algorithm: {}}}", text), "--algorithm");
    if (!node) {
        return node.error();
    }
    ReadContext context;
    const auto configured = components.algorithms.read(*node, context);
    if (!configured) {
        return context.errors();
    }
    return configured->make();
}

Result<std::string> text_of(const MscclExport& arguments, const experiment::Components& components) {
    if (arguments.algorithm.empty()) {
        return wrong_option("--algorithm", "", "the algorithm is missing",
                            suggest("", components.algorithms.names()));
    }
    const Result<system::CollectiveKind> kind = kind_named(arguments.kind);
    if (!kind) {
        return kind.error();
    }
    const Result<system::Shape> shape = shape_of(arguments);
    if (!shape) {
        return shape.error();
    }
    const Result<system::AlgorithmPointer> algorithm = algorithm_named(arguments.algorithm, components);
    if (!algorithm) {
        return algorithm.error();
    }
    if (*algorithm == nullptr || (*algorithm)->needs_rings()) {
        return wrong_option("--algorithm", arguments.algorithm, "its rings are those of a network",
                            "name the strides");
    }
    if (const auto reason = (*algorithm)->unsupported(*kind, *shape)) {
        return wrong_option("--algorithm", arguments.algorithm,
                            fmt::format("{} over {}: {}", to_string(*kind), shape->text(), *reason),
                            "choose another kind, another algorithm or other ranks");
    }
    const unsigned variants = (*algorithm)->variants(*kind, *shape);
    if (arguments.variant >= variants) {
        return wrong_option("--variant", std::to_string(arguments.variant),
                            fmt::format("there are {} variants", variants), "they count from 0");
    }
    const system::CollectiveSchedule schedule = (*algorithm)->schedule(*kind, *shape, arguments.variant);
    if (const auto reason = unsupported_by_msccl(schedule)) {
        return wrong_option("--kind", arguments.kind, *reason,
                            "MSCCL has all_reduce, reduce_scatter, all_gather, "
                            "all_to_all, broadcast and reduce");
    }
    const bool is_mapping = arguments.algorithm.front() == '{';
    return msccl_text(schedule, fmt::format("{}_{}_{}", is_mapping ? "astrolabe" : arguments.algorithm,
                                            to_string(*kind), shape->ranks()));
}

}  // namespace

void add_msccl_options(CLI::App& command, MscclExport& arguments) {
    command.add_option("--algorithm", arguments.algorithm,
                       "msccl: one of astrolabe list algorithms; with keys of its own: '{algorithm: "
                       "windowed_direct, window: 4}'");
    command.add_option("--kind", arguments.kind, "msccl: of the collective")->capture_default_str();
    command.add_option("--ranks", arguments.ranks, "msccl: number of GPUs")->check(CLI::Range(2U, kMostGpus));
    command.add_option("--dimensions", arguments.dimensions,
                       "msccl: logical dimensions, the fastest-varying first: 8x4; unset: one");
    command
        .add_option("--variant", arguments.variant,
                    "msccl: of an algorithm whose chunks take turns between several schedules, from 0")
        ->capture_default_str();
}

int export_msccl(const MscclExport& arguments, const std::string& path,
                 const experiment::Components& components) {
    const Result<std::string> text = text_of(arguments, components);
    if (!text) {
        return report_invalid(text.error());
    }
    if (path.empty()) {
        print_out(*text);
        return kDone;
    }
    Result<experiment::OutputFile> file = experiment::OutputFile::create(path);
    if (!file) {
        return report_unusable(file.error());
    }
    file->append(*text);
    if (const std::optional<Diagnostic> error = file->finish()) {
        return report_unusable({*error});
    }
    return kDone;
}

}  // namespace astrolabe::cli
