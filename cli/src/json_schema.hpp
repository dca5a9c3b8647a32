// JSON Schema of the program's files, for editors and other programs.
//
// Model. One document of draft-07 (what editors read) with a definition for each file and each component,
// made of the same descriptions that check files and print docs/reference.md. Its root takes an experiment, a
// study or a search, by their keys. Files that include another one, and the base of a study, are parts: what
// they leave out is not missed.
//
// A schema refuses unknown and missing keys, wrong types and units, names that do not exist, and counts out
// of range. It cannot refuse quantities out of range, what several keys are wrong about together, or files
// that do not exist; `astrolabe validate` does.
#pragma once

#include "sections.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace astrolabe::cli {

/// `root`: a definition, "experiment", "study", "network", "network.fat_tree", "workload.dlrm.model", …; empty:
/// files by their keys. The document has the definitions that the root needs. Null where there is no such
/// definition.
[[nodiscard]] nlohmann::ordered_json json_schema(const std::vector<Section>& sections,
                                                 const std::string& root);

/// Names that `json_schema` takes.
[[nodiscard]] std::vector<std::string> json_schema_names(const std::vector<Section>& sections);

}  // namespace astrolabe::cli
