/// The configuration tree: YAML read strictly, every value with its place.
///
/// Scalars stay text until a schema converts them, so `010`, `no` and `1e3` mean what the schema defines and
/// nothing else. Refused while reading: duplicate keys, several documents, keys that are not scalars, tags,
/// files over 64 MiB, trees over a million values (aliases count in full).
///
/// `include: path` (or a list of paths) in a mapping brings in the mapping of another file; what is written
/// beside it wins, mapping by mapping. Paths resolve against the file that names them. Cycles are refused.
///
/// All defects of all files are reported at once as far as the syntax lets the reader go on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>

namespace astrolabe {

struct ConfigEntry;

struct ConfigNode {
    enum class Kind { kScalar, kSequence, kMapping };

    Kind kind = Kind::kMapping;
    std::string text;                  ///< of a scalar; "" also for an absent value
    std::vector<ConfigNode> items;     ///< of a sequence
    std::vector<ConfigEntry> entries;  ///< of a mapping, in file order, keys unique
    SourceRange where;

    [[nodiscard]] static ConfigNode scalar(std::string text);
    [[nodiscard]] static ConfigNode sequence(std::vector<ConfigNode> items);
    [[nodiscard]] static ConfigNode mapping();

    [[nodiscard]] bool is_scalar() const { return kind == Kind::kScalar; }
    [[nodiscard]] bool is_sequence() const { return kind == Kind::kSequence; }
    [[nodiscard]] bool is_mapping() const { return kind == Kind::kMapping; }
    [[nodiscard]] std::string_view kind_name() const;  ///< "a value", "a list", "a mapping"

    /// Value of a key of a mapping; nullptr if there is none.
    [[nodiscard]] const ConfigNode* find(std::string_view key) const;
    [[nodiscard]] ConfigNode* find(std::string_view key);
    /// Value at a dotted path ("network.link.rate", list items by number); nullptr if there is none.
    [[nodiscard]] const ConfigNode* find_path(std::string_view path) const;
    void set(std::string key, ConfigNode value);
};

struct ConfigEntry {
    std::string key;
    SourceRange key_where;
    ConfigNode value;
};

/// What readings that belong together have taken so far, over all their files: those of an experiment, or of
/// a study, and of what its sections name.
struct ReadUsage {
    std::size_t values = 0;
    std::size_t bytes = 0;

    /// Of limits::kValues or limits::kTotalBytes, as was reported where it was.
    [[nodiscard]] bool is_exceeded() const;
};

/// Reads a file and everything it includes.
[[nodiscard]] Result<ConfigNode> load_config(const std::filesystem::path& path);
/// The same, one reading of several.
[[nodiscard]] Result<ConfigNode> load_config(const std::filesystem::path& path, ReadUsage& usage);
/// Reads a text; `name` is that of the file in diagnostics, includes resolve against `directory`.
[[nodiscard]] Result<ConfigNode> parse_config(std::string text, std::string name,
                                              const std::filesystem::path& directory = ".");
/// Folder of the file a node was read from: what its paths are relative to.
[[nodiscard]] std::filesystem::path directory_of(const ConfigNode& node);

/// What is wrong with a dotted path that would put a value more than limits::kNesting steps deep, or nothing.
[[nodiscard]] std::optional<Diagnostic> deep_path(std::string_view path, const SourceRange& where);
/// Applies "path=value" as `--set` gives it: the value is YAML, missing mappings on the way are made.
[[nodiscard]] Diagnostics apply_override(ConfigNode& root, std::string_view assignment);

/// Block-style YAML that `parse_config` reads back to an equal tree (places apart).
[[nodiscard]] std::string to_yaml(const ConfigNode& node);

}  // namespace astrolabe
