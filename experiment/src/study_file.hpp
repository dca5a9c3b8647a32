/// The file of a study, as searches (search_study.hpp) and sweeps (study.hpp) have it: `base`, and what is
/// done with it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/config.hpp>
#include <astrolabe/core/schema.hpp>

namespace astrolabe::experiment {

/// The file with its base resolved and overrides applied; those within the base add their paths in it to
/// `set`.
[[nodiscard]] std::optional<ConfigNode> load_study_tree(const std::filesystem::path& path,
                                                        const std::vector<std::string>& overrides,
                                                        std::vector<std::string>& set, ReadContext& context);

}  // namespace astrolabe::experiment
