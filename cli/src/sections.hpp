// What an experiment file can name, section by section.
#pragma once

#include <string>
#include <vector>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::cli {

/// A named part of an experiment file and the components that can stand there.
struct Section {
    std::string name;    ///< "network"
    std::string plural;  ///< what `list` takes
    std::vector<ComponentDescription> components;
};

[[nodiscard]] std::vector<Section> sections(const experiment::Components& components);

}  // namespace astrolabe::cli
