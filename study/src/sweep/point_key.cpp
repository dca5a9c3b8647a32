#include "point_key.hpp"

#include "../process/text_file.hpp"

#include <algorithm>
#include <filesystem>

#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/results/fingerprint.hpp>
#include <astrolabe/experiment/results/results.hpp>

namespace astrolabe::study {
namespace {

std::string hash_of(ConfigNode& tree, const std::vector<std::string>& set) {
    std::erase_if(tree.entries, [](const ConfigEntry& entry) { return entry.key == "name"; });
    experiment::Fingerprint print;
    print.add(experiment::program_version());
    print.add(to_yaml(tree));
    for (const std::string& path : set) {
        print.add(path);
    }
    return print.text();
}

}  // namespace

std::string PointKeys::contents_of(const std::filesystem::path& path) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure)) {
        return {};
    }
    experiment::Fingerprint print;
    const std::string suffix = path.extension().string();
    Result<ConfigNode> tree = suffix == ".yaml" || suffix == ".yml" ? load_config(path) : Diagnostic{};
    if (tree) {
        replace_files(*tree, false);
        print.add(to_yaml(*tree));
    } else {
        print.add(text_of_file(path, kAnyBytes).value_or(""));
    }
    return "contents " + print.text();
}

void PointKeys::replace_files(ConfigNode& node, bool only_absolute) {
    for (ConfigNode& item : node.items) {
        replace_files(item, only_absolute);
    }
    for (ConfigEntry& entry : node.entries) {
        replace_files(entry.value, only_absolute);
    }
    constexpr std::size_t kLongestPath = 4096;
    const bool may_be_path =
        node.is_scalar() && !node.text.empty() && node.text.size() < kLongestPath &&
        (node.text.front() < '0' || node.text.front() > '9' || node.text.find('/') != std::string::npos);
    if (!may_be_path || (only_absolute && node.text.front() != '/')) {
        return;
    }
    const std::filesystem::path path = directory_of(node) / node.text;
    const auto [known, is_new] = contents_.try_emplace(path.string());
    if (is_new) {
        known->second = contents_of(path);  // a file that names itself finds nothing here
    }
    if (!known->second.empty()) {
        node.text = known->second;
    }
}

std::string PointKeys::of_written(const ConfigNode& tree, const std::vector<std::string>& set) {
    ConfigNode copy = tree;
    replace_files(copy, false);
    return hash_of(copy, set);
}

std::string PointKeys::of_experiment(const experiment::Experiment& experiment) {
    ConfigNode copy = experiment.resolved;
    if (experiment::random_streams(experiment).empty()) {
        std::erase_if(copy.entries, [](const ConfigEntry& entry) { return entry.key == "seed"; });
    }
    replace_files(copy, true);
    return hash_of(copy, {});
}

}  // namespace astrolabe::study
