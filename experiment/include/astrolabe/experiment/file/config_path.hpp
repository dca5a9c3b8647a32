/// Nodes of a configuration tree at dotted paths, to change them.
#pragma once

#include <string_view>
#include <utility>

#include <astrolabe/core/config/config.hpp>

namespace astrolabe::experiment {

/// ConfigNode::find_path of a tree that may change.
[[nodiscard]] inline ConfigNode* node_at(ConfigNode& root, std::string_view path) {
    return const_cast<ConfigNode*>(std::as_const(root).find_path(path));
}

/// Whether a path is that of a section or of something in it.
[[nodiscard]] inline bool is_within(std::string_view path, std::string_view section) {
    return path.starts_with(section) && (path.size() == section.size() || path[section.size()] == '.');
}

/// Puts a value at a path; mappings on the way are made, lists are reached into by number. Returns the step
/// that leads nowhere (below a value, or outside a list; all of a path that is too deep; the tree is as it
/// was then), or an empty text.
[[nodiscard]] std::string_view set_at(ConfigNode& root, std::string_view path, ConfigNode value);

}  // namespace astrolabe::experiment
