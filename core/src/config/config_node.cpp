// What a node of a configuration is by itself, without a text that it is read from or written to.
#include "config_path.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/limits.hpp>

namespace astrolabe {

ConfigNode ConfigNode::scalar(std::string text) {
    ConfigNode node;
    node.kind = Kind::kScalar;
    node.text = std::move(text);
    return node;
}

ConfigNode ConfigNode::sequence(std::vector<ConfigNode> items) {
    ConfigNode node;
    node.kind = Kind::kSequence;
    node.items = std::move(items);
    return node;
}

ConfigNode ConfigNode::mapping() {
    return {};
}

std::string_view ConfigNode::kind_name() const {
    switch (kind) {
        case Kind::kScalar:
            return text.empty() ? "nothing" : "a value";
        case Kind::kSequence:
            return "a list";
        case Kind::kMapping:
            return "a mapping";
    }
    return {};
}

const ConfigNode* ConfigNode::find(std::string_view key) const {
    for (const ConfigEntry& entry : entries) {
        if (entry.key == key) {
            return &entry.value;
        }
    }
    return nullptr;
}

ConfigNode* ConfigNode::find(std::string_view key) {
    return const_cast<ConfigNode*>(std::as_const(*this).find(key));
}

const ConfigNode* ConfigNode::find_path(std::string_view path) const {
    const ConfigNode* node = this;
    while (node != nullptr && !path.empty()) {
        const std::string_view step = take_step(path);
        if (node->is_sequence()) {
            const std::optional<std::size_t> index = list_index(step);
            node = index && *index < node->items.size() ? &node->items[*index] : nullptr;
        } else {
            node = node->find(step);
        }
    }
    return node;
}

void ConfigNode::set(std::string key, ConfigNode value) {
    if (ConfigNode* existing = find(key)) {
        *existing = std::move(value);
    } else {
        entries.push_back({std::move(key), {}, std::move(value)});
    }
}

std::optional<Diagnostic> deep_path(std::string_view path, const SourceRange& where) {
    const auto steps = static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')) + 1;
    if (steps <= limits::kNesting) {
        return std::nullopt;
    }
    return Diagnostic{"config.limit",
                      where,
                      fmt::format("a path of {} steps, expected at most {}", steps, limits::kNesting),
                      "name a key by its path: cluster.scheduling",
                      {}};
}

}  // namespace astrolabe
