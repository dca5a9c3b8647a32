/// What is wrong with the user's input, reported so that it can be corrected without reading our code.
///
/// A diagnostic has a stable code, a place (file, line, column, length), what was found, what was expected,
/// and a hint. Rendered:
///
///     experiment.yaml:14:5: error[config.unknown-key]: 'load_balacing' is not a key of network.fat_tree
///       14 |     reconfig_dealy: 20us
///          |     ^~~~~~~~~~~~~~
///       hint: did you mean 'load_balancing'? (astrolabe describe network.fat_tree lists all keys)
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace astrolabe {

/// A text that was read, kept for excerpts.
struct SourceText {
    std::string name;  ///< the path as the user gave it, or "--set" for the command line
    std::string text;
};

/// A place in a source text. Lines and columns count from 1; line 0 means the text as a whole.
struct SourceRange {
    std::shared_ptr<const SourceText> source;
    int line = 0;
    int column = 0;
    int length = 1;

    /// "file:line:column", "file" when there is no line, "" when there is no source.
    [[nodiscard]] std::string to_string() const;
};

struct Diagnostic {
    std::string code;  ///< stable: "config.unknown-key"
    SourceRange where;
    std::string message;  ///< found and expected, one line
    std::string hint;     ///< what to do; may be empty
    /// Further places that take part: "network provides 48 hosts" at network.yaml:3:1.
    std::vector<std::pair<SourceRange, std::string>> notes;

    [[nodiscard]] std::string render() const;
};

using Diagnostics = std::vector<Diagnostic>;

[[nodiscard]] std::string render(const Diagnostics& diagnostics);  ///< 50 of them, and a count

/// The candidates nearest to `word` by Damerau–Levenshtein distance, at most max(1, length/3) edits away,
/// best first. Of 5000 that are about as long as a word of at most 64 bytes; no other is compared.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view word,
                                                     std::span<const std::string> candidates);

/// "did you mean 'a' or 'b'?" or, where nothing is near, "one of: …", 100 names and a count; empty without
/// candidates.
[[nodiscard]] std::string suggest(std::string_view word, std::span<const std::string> candidates);

}  // namespace astrolabe
