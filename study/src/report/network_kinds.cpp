#include "network_kinds.hpp"

#include <algorithm>

namespace astrolabe::study {
namespace {

std::optional<std::size_t> kind_of(const ConfigNode& section, const std::vector<std::string>& kinds) {
    const ConfigNode* kind = section.is_mapping() ? section.find("kind") : nullptr;
    if (kind == nullptr || !kind->is_scalar()) {
        return std::nullopt;
    }
    const auto found = std::find(kinds.begin(), kinds.end(), kind->text);
    return found == kinds.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(found - kinds.begin()));
}

std::optional<std::size_t> kind_of_resolved(const std::string& resolved,
                                            const std::vector<std::string>& kinds) {
    const Result<ConfigNode> root = parse_config(resolved, "resolved experiment");
    const ConfigNode* network = root ? root->find("network") : nullptr;
    if (network == nullptr || !network->is_mapping()) {
        return std::nullopt;
    }
    std::optional<std::size_t> kind = kind_of(*network, kinds);
    for (const ConfigEntry& entry : network->entries) {
        if (const auto inner = kind_of(entry.value, kinds)) {
            kind = inner;
        }
    }
    return kind;
}

}  // namespace

std::vector<std::optional<std::size_t>> network_kinds(const StudyAxes& axes, std::size_t dimension,
                                                      const experiment::Components& components) {
    if (axes.dimensions[dimension].name != "network") {
        return {};
    }
    const std::vector<std::string> names = components.networks.names();
    std::vector<std::optional<std::size_t>> kinds(axes.dimensions[dimension].values.size());
    std::vector<bool> is_known(kinds.size(), false);
    for (const Place& place : axes.places) {
        const std::size_t value = place.at[dimension];
        if (!is_known[value]) {
            is_known[value] = true;
            kinds[value] = kind_of_resolved(place.row->result.resolved, names);
        }
    }
    return kinds;
}

}  // namespace astrolabe::study
