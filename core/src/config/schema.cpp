#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe {

std::string ValueTraits<double>::format(double value) {
    return fmt::format("{}", value);
}

void report_unknown_keys(const ConfigNode& mapping, const std::vector<std::string>& known,
                         std::string_view section, bool described, ReadContext& context,
                         const std::vector<RenamedKey>& renamed) {
    for (const ConfigEntry& entry : mapping.entries) {
        if (std::ranges::find(known, entry.key) != known.end()) {
            continue;
        }
        const auto earlier = std::ranges::find(renamed, entry.key, &RenamedKey::old_name);
        std::string hint;
        if (earlier != renamed.end()) {
            hint = fmt::format("it is called '{}' now", earlier->new_name);
        } else if (context.is_next_shown()) {
            hint = suggest(entry.key, known);
        }
        context.error(
            "config.unknown-key", entry.key_where, fmt::format("'{}' is not a key of {}", entry.key, section),
            hint + (described ? fmt::format(" (astrolabe describe {} lists all keys)", section) : ""));
    }
}

void report_validation_errors(const ConfigNode& component, const ValidationErrors& errors,
                              ReadContext& context) {
    for (const ValidationError& error : errors) {
        // The key itself may have been left at its default; then its nearest enclosing section is the place.
        std::string_view path = error.key;
        const ConfigNode* place = component.find_path(path);
        while (place == nullptr) {
            const std::size_t dot = path.rfind('.');
            path = dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
            place = component.find_path(path);
        }
        const std::string subject = error.key.empty() ? "" : fmt::format("'{}': ", error.key);
        context.error("config.inconsistent", place->where, subject + error.message, error.hint);
    }
}

}  // namespace astrolabe
