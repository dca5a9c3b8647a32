#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/study/sweep/result_store.hpp>
#include <astrolabe/study/sweep/stored_point.hpp>

namespace astrolabe::study {
namespace {

Diagnostic point_error(std::string message, std::string hint) {
    return {"run.point", {}, std::move(message), std::move(hint), {}};
}

/// What a finished point was, as YAML.
Result<std::string> resolved_text(const std::filesystem::path& folder, const std::string& wanted,
                                  std::size_t number) {
    std::error_code ignored;
    if (!std::filesystem::exists(folder / kStoreName, ignored)) {
        return point_error(fmt::format("'{}' has no {}", folder.string(), kStoreName),
                           "--point is for a folder that `astrolabe sweep` wrote");
    }
    const Result<ResultStore> store = ResultStore::open_to_read(folder);
    if (!store) {
        return store.error();
    }
    const Result<std::string> study = choose_study(store->studies(), wanted, folder);
    if (!study) {
        return study.error();
    }
    const std::vector<StudyRow> rows = store->rows(*study);
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const StudyRow& one) { return one.point.number == number; });
    if (row == rows.end()) {
        return point_error(fmt::format("'{}' has no point {}", *study, number),
                           fmt::format("its points are 1 to {}", rows.size()));
    }
    if (row->result.resolved.empty()) {
        return point_error(fmt::format("point {} of '{}' has no result: it is {}", number, *study,
                                       to_string(row->result.status)),
                           row->result.status == PointStatus::kFailed
                               ? "astrolabe sweep --resume tries again what failed"
                               : "astrolabe sweep computes what is missing");
    }
    return row->result.resolved;
}

}  // namespace

Result<std::string> choose_study(const std::vector<std::string>& studies, const std::string& wanted,
                                 const std::filesystem::path& folder) {
    const auto error = [](std::string what, std::string message, std::string hint) {
        return Diagnostic{"report." + std::move(what), {}, std::move(message), std::move(hint), {}};
    };
    if (studies.empty()) {
        return error("folder", fmt::format("the store in '{}' has no study", folder.string()),
                     "astrolabe sweep STUDY.yaml --out " + folder.string());
    }
    if (wanted.empty() && studies.size() > 1) {
        return error(
            "study",
            fmt::format("'{}' has several studies: '{}'", folder.string(), fmt::join(studies, "', '")),
            "choose one: --study '" + studies.front() + "'");
    }
    if (!wanted.empty() && std::find(studies.begin(), studies.end(), wanted) == studies.end()) {
        return error("study", fmt::format("'{}' has no study '{}'", folder.string(), wanted),
                     suggest(wanted, studies));
    }
    return wanted.empty() ? studies.front() : wanted;
}

Result<experiment::Experiment> load_stored_point(const std::filesystem::path& folder,
                                                 const std::string& study, std::size_t number,
                                                 const experiment::LoadOptions& options,
                                                 const experiment::Components& components) {
    Result<std::string> resolved = resolved_text(folder, study, number);
    if (!resolved) {
        return resolved.error();
    }
    const std::string name = fmt::format("{}, point {}", folder.string(), number);
    Result<ConfigNode> root = parse_config(*std::move(resolved), name);
    if (!root) {
        return root.error();
    }
    Diagnostics errors;
    std::vector<std::string> set;
    for (const std::string& assignment : options.overrides) {
        for (Diagnostic& error : apply_override(*root, assignment)) {
            errors.push_back(std::move(error));
        }
        set.push_back(assignment.substr(0, assignment.find('=')));
    }
    if (!errors.empty()) {
        return errors;
    }
    return experiment::read_experiment(*std::move(root), set, name, options.seed, components);
}

}  // namespace astrolabe::study
