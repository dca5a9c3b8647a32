#include "study_file.hpp"
#include "study_points.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/core/config/file_name.hpp>
#include <astrolabe/experiment/file/config_path.hpp>
#include <astrolabe/study/file/study.hpp>

namespace astrolabe::study {
namespace {

/// Files are named by their figures, so there is one of a name.
void read_report(Study& study, const ConfigNode& root, const SweepKeys& keys, ReadContext& context) {
    for (std::size_t i = 0; i < keys.report.size(); ++i) {
        std::string name = ValueTraits<FigureName>::format(keys.report[i]);
        if (std::find(study.report.begin(), study.report.end(), name) != study.report.end()) {
            context.error("config.choice", root.find("report")->items[i].where,
                          fmt::format("figure '{}' is there twice", name), "list every figure once");
        }
        study.report.push_back(std::move(name));
    }
}

}  // namespace

Result<Study> load_study(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
    ReadContext context;
    Study study;
    std::optional<ConfigNode> root = load_study_tree(path, overrides, study.set, context);
    if (context.error_count() > 0) {
        return context.errors();
    }
    std::optional<SweepKeys> keys = sweep_schema().read(*root, context);
    if (!keys) {
        return context.errors();
    }
    if (keys->base.is_mapping() && keys->base.find("schema") == nullptr) {
        keys->base.set("schema", ConfigNode::scalar(std::string(experiment::kSchemaName)));
    }
    study.name = keys->name.empty() ? name_of(path) : keys->name;
    study.where = {root->where.source, 0, 0, 1};
    read_report(study, *root, *keys, context);
    study.slurm = keys->slurm;
    study.points = study_points(*keys, context);
    if (context.error_count() > 0) {
        return context.errors();
    }
    study.base = std::move(keys->base);
    study.base.set("name", ConfigNode::scalar(study.name));
    return study;
}

bool is_study(const std::filesystem::path& path) {
    const Result<ConfigNode> file = load_config(path);
    return file && file->is_mapping() && file->find("base") != nullptr && file->find("optimize") == nullptr;
}

ConfigNode tree_of(const Study& study, const StudyPoint& point) {
    ConfigNode tree = study.base;
    for (const auto& [path, value] : point.settings) {
        const std::string_view nowhere = experiment::set_at(tree, path, *value);
        ASTROLABE_ASSERT(nowhere.empty(), "the paths of a point were tried when it was made");
    }
    return tree;
}

Result<experiment::Experiment> experiment_of(const Study& study, const StudyPoint& point,
                                             const experiment::Components& components) {
    std::vector<std::string> paths = study.set;
    for (const auto& [path, value] : point.settings) {
        paths.push_back(path);
    }
    Result<experiment::Experiment> experiment =
        experiment::read_experiment(tree_of(study, point), paths, study.name, {}, components);
    if (experiment) {
        return experiment;
    }
    Diagnostics errors = experiment.error();
    for (Diagnostic& error : errors) {
        error.notes.emplace_back(
            study.where, fmt::format("in point {}: {}", point.number, parameter_text(point.parameters)));
    }
    return errors;
}

std::string parameter_text(const nlohmann::ordered_json& parameters) {
    std::string text;
    for (const auto& [name, value] : parameters.items()) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value_text(value));
    }
    return text.empty() ? "the base" : text;
}

}  // namespace astrolabe::study
