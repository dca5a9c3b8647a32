#include <string>
#include <utility>

#include <astrolabe/experiment/file/config_path.hpp>

namespace astrolabe::experiment {

namespace {

std::string_view set_below(ConfigNode& root, std::string_view path, ConfigNode value) {
    const std::size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    ConfigNode* child = node_at(root, step);
    if (step.empty() || root.is_scalar() || (child == nullptr && !root.is_mapping())) {
        return path.empty() ? "." : path;  // a path that is empty, or ends with a dot, leads nowhere too
    }
    if (dot == std::string_view::npos) {
        if (child != nullptr) {
            *child = std::move(value);
        } else {
            root.entries.push_back({std::string(step), value.where, std::move(value)});
        }
        return {};
    }
    if (child != nullptr) {
        return set_below(*child, path.substr(dot + 1), std::move(value));
    }
    ConfigNode made = ConfigNode::mapping();
    made.where = value.where;
    const std::string_view nowhere = set_below(made, path.substr(dot + 1), std::move(value));
    if (nowhere.empty()) {
        root.entries.push_back({std::string(step), made.where, std::move(made)});
    }
    return nowhere;
}

}  // namespace

std::string_view set_at(ConfigNode& root, std::string_view path, ConfigNode value) {
    if (deep_path(path, value.where)) {
        return path;
    }
    return set_below(root, path, std::move(value));
}

}  // namespace astrolabe::experiment
