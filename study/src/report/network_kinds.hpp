/// Which kinds of network the values of a dimension are, so that a kind has one colour in every study.
#pragma once

#include "study_axes.hpp"

#include <optional>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::study {

/// By value: the place of its kind among the kinds the program has, in their order there, to which new kinds
/// are added at the end. A network that is made of another one, as servers over a scale-out network are, is
/// of the kind of that one. None where no point of the value has finished. Empty of a dimension that is not
/// the network.
[[nodiscard]] std::vector<std::optional<std::size_t>> network_kinds(const StudyAxes& axes,
                                                                    std::size_t dimension,
                                                                    const experiment::Components& components);

}  // namespace astrolabe::study
