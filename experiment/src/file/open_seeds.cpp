#include "open_seeds.hpp"

#include "background.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace astrolabe::experiment {
namespace {

constexpr const char* kSeedKey = "seed";

using Parameters = std::vector<ParameterDescriptor>;
using Visit = std::function<void(ConfigNode& mapping, const std::string& path)>;

bool has_key(const Parameters& parameters, const char* key) {
    return std::any_of(parameters.begin(), parameters.end(),
                       [key](const ParameterDescriptor& parameter) { return parameter.key == key; });
}

/// Whether values of this mapping are drawn: one of several forms may be, and what a file holds is there.
bool is_drawn(const ConfigNode& mapping, const Parameters& parameters) {
    return has_key(parameters, kSeedKey) && mapping.find("file") == nullptr &&
           mapping.find("flows") == nullptr &&
           (!has_key(parameters, "distribution") || mapping.find("distribution") != nullptr);
}

/// Every mapping whose values are drawn. A list of one may be written as a mapping.
void for_each_drawn(ConfigNode& node, const Parameters& parameters, const std::string& path,
                    const Visit& visit) {
    if (node.is_sequence()) {
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            if (node.items[i].is_mapping()) {
                for_each_drawn(node.items[i], parameters, path + "." + std::to_string(i), visit);
            }
        }
        return;
    }
    if (!node.is_mapping()) {
        return;
    }
    for (const ParameterDescriptor& parameter : parameters) {
        ConfigNode* part = parameter.parameters.empty() ? nullptr : node.find(parameter.key);
        if (part == nullptr) {
            continue;
        }
        const bool is_list_of_one = part->is_mapping() && parameter.type.find("list") != std::string::npos;
        for_each_drawn(*part, parameter.parameters, path + "." + parameter.key + (is_list_of_one ? ".0" : ""),
                       visit);
    }
    if (is_drawn(node, parameters)) {
        visit(node, path + "." + kSeedKey);
    }
}

template <class Product>
void for_each_drawn(ConfigNode& root, const char* section, const Registry<Product>& registry,
                    const Visit& visit) {
    ConfigNode* node = root.find(section);
    const ConfigNode* given = node == nullptr ? nullptr : node->find(registry.discriminator());
    if (given == nullptr) {
        return;
    }
    const std::string kind = given->text;  // a visit may add a key, which moves all others
    for (const ComponentDescription& component : registry.descriptions()) {
        if (component.name == kind) {
            for_each_drawn(*node, component.parameters, section, visit);
        }
    }
}

void for_each_drawn(ConfigNode& root, const Components& components, const Visit& visit) {
    for_each_drawn(root, "network", components.networks, visit);
    for_each_drawn(root, "workload", components.workloads, visit);
    if (ConfigNode* background = root.find("background")) {
        for_each_drawn(*background, background_schema().parameters(), "background", visit);
    }
}

}  // namespace

std::vector<std::string> fill_open_seeds(ConfigNode& root, std::uint64_t seed, const Components& components) {
    std::vector<std::string> paths;
    for_each_drawn(root, components, [&](ConfigNode& mapping, const std::string& path) {
        if (mapping.find(kSeedKey) == nullptr) {
            ConfigNode value = ConfigNode::scalar(std::to_string(seed));
            value.where = mapping.where;
            mapping.set(kSeedKey, std::move(value));
            paths.push_back(path);
        }
    });
    return paths;
}

void leave_seeds_open(ConfigNode& resolved, const std::vector<std::string>& paths,
                      const Components& components) {
    for_each_drawn(resolved, components, [&](ConfigNode& mapping, const std::string& path) {
        if (std::find(paths.begin(), paths.end(), path) != paths.end()) {
            std::erase_if(mapping.entries, [](const ConfigEntry& entry) { return entry.key == kSeedKey; });
        }
    });
}

}  // namespace astrolabe::experiment
