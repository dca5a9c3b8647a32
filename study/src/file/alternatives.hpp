/// What may stand at a path of an experiment, as studies write it:
///
///     path: [a, b, c]                                 values
///     path: {name: value, …}                          values with names, for whole sections
///     path: {from: 1, to: 64, factor: 2}              numbers or quantities in a range: each a factor from
///     path: {from: 1us, to: 9us, step: 2us}           the last, or a step,
///     path: {from: 1, to: 100, steps: 5, scale: log}  or so many, evenly apart or (log) with even ratios
///
/// Ranges hold both ends; by `factor` and `step` the last that is not above `to`. Between ends that are whole
/// numbers `steps` gives whole numbers, rounded, each once. Values of ranges count towards limits::kValues as
/// those that are written do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::study {

struct Alternative {
    std::string label;  ///< its name, else the value in one line
    ConfigNode value;
    bool is_named = false;
};

struct Alternatives {
    std::string path;
    SourceRange where;
    std::vector<Alternative> values;  ///< not empty
};

/// Whether one value may be there twice: it may beside others that change with it.
enum class SameValues : std::uint8_t { kRefused, kAllowed };

/// Reads an entry; nothing where errors were reported.
[[nodiscard]] std::optional<Alternatives> read_alternatives(const ConfigEntry& entry, ReadContext& context,
                                                            SameValues same = SameValues::kRefused);

/// A value in one line: {kind: ring, chunks: 4}.
[[nodiscard]] std::string one_line(const ConfigNode& node);

}  // namespace astrolabe::study
