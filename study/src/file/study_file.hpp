/// The file of a study, as searches (search_study.hpp) and sweeps (study.hpp) have it: `base`, and what is
/// done with it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::study {

/// The file with its base resolved and overrides applied; those within the base add their paths in it to
/// `set`.
[[nodiscard]] std::optional<ConfigNode> load_study_tree(const std::filesystem::path& path,
                                                        const std::vector<std::string>& overrides,
                                                        std::vector<std::string>& set, ReadContext& context);

/// Reports a path of an experiment that cannot be set; `nowhere` is what set_at gave.
void report_nowhere(std::string_view path, std::string_view nowhere, const SourceRange& where,
                    ReadContext& context);

}  // namespace astrolabe::study
