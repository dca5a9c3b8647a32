#include "study_file.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::study {

std::optional<ConfigNode> load_study_tree(const std::filesystem::path& path,
                                          const std::vector<std::string>& overrides,
                                          std::vector<std::string>& set, ReadContext& context) {
    Result<ConfigNode> file = load_config(path, context.usage());
    if (!file) {
        for (const Diagnostic& error : file.error()) {
            context.error(error);
        }
        return std::nullopt;
    }
    const auto resolve = [&] {
        if (ConfigNode* base = file->find("base")) {
            experiment::resolve_reference(*base, context);
            experiment::resolve_references(*base, context);
        }
    };
    resolve();
    constexpr std::string_view kBase = "base.";
    for (const std::string& assignment : overrides) {
        for (const Diagnostic& error : apply_override(*file, assignment)) {
            context.error(error);
        }
        if (assignment.starts_with("base=")) {
            set.clear();
        } else if (assignment.starts_with(kBase)) {
            set.push_back(assignment.substr(kBase.size(), assignment.find('=') - kBase.size()));
        }
        resolve();
    }
    return *std::move(file);
}

void report_nowhere(std::string_view path, std::string_view nowhere, const SourceRange& where,
                    ReadContext& context) {
    if (std::optional<Diagnostic> error = deep_path(path, where)) {
        context.error(*std::move(error));
        return;
    }
    context.error("config.choice", where,
                  fmt::format("'{}' of '{}' leads nowhere: it is empty, inside a value or outside a list",
                              nowhere, path),
                  "name a key of the experiment by its path: cluster.scheduling");
}

}  // namespace astrolabe::study
