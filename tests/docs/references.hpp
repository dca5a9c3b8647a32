/// Finds what comments and documentation refer to, and reports what is not there.
///
/// What is checked (the conventions for writers are in docs/README.md, "References in comments"):
///     links      of Markdown pages, images included: the file, and the heading that "#anchor" names by
///                GitHub's rule. Targets with a scheme ("https:") are not followed
///     documents  in comments: a name that ends in .md, from the root of the repository or beside the file,
///                and the sections in quotes behind it
///     sources    in comments and in the prose of documents: names of C++ files. A name with folders is the
///                end of a path in the repository ("system/symmetry/folding.hpp"), one without is a base name
/// Not checked: names in angle brackets that do not begin with astrolabe/ (<ns3/packet.h>), patterns
/// (*_test.cpp, <name>.hpp) and, for sources, what is in fenced code.
///
/// Limits: comments are found by lexing strings and comments alone, without the preprocessor; headings are
/// those with leading number signs. Complexity: linear in the text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace astrolabe::docs {

/// A piece of text of which every character knows its line: comments of consecutive lines without their
/// markers, or a document.
struct Passage {
    std::string text{};
    std::vector<std::size_t> line_starts{};  ///< offsets in `text`
    std::vector<std::size_t> lines{};        ///< of the file, one for every entry of line_starts

    void append(std::string_view line_text, std::size_t line);
    [[nodiscard]] std::size_t line_at(std::size_t offset) const;
};

/// A name in a text, with the sections behind it for documents.
struct Mention {
    std::string name{};
    std::vector<std::string> sections{};
    std::size_t line = 0;
};

enum class CommentStyle { kCpp, kHash };

[[nodiscard]] std::vector<Passage> comments(std::string_view source, CommentStyle style);
/// Without fenced code, whose lines are left empty.
[[nodiscard]] Passage prose(std::string_view markdown);

[[nodiscard]] std::vector<Mention> documents_in(const Passage& passage);
[[nodiscard]] std::vector<Mention> sources_in(const Passage& passage);
/// Targets of links and images, without those that have a scheme.
[[nodiscard]] std::vector<Mention> links_in(const Passage& prose);

/// Texts of headings, without markup.
[[nodiscard]] std::vector<std::string> headings_of(std::string_view markdown);
/// What a comment may name: headings, and the bold words, without a full stop, that a paragraph begins with.
[[nodiscard]] std::set<std::string> sections_of(std::string_view markdown);
/// What GitHub makes of a heading: lower case, letters, digits, hyphens and underscores, hyphens for spaces.
[[nodiscard]] std::string slug(std::string_view heading);
/// Of all headings; the second of the same slug gets "-1", and so on.
[[nodiscard]] std::set<std::string> anchors_of(std::string_view markdown);

/// All files below a folder but hidden ones and those of folders "build…" and "out" at its root.
class Repository {
public:
    explicit Repository(std::filesystem::path root);

    /// Relative to the root, in order.
    [[nodiscard]] const std::set<std::string>& files() const { return files_; }
    [[nodiscard]] std::string read(const std::string& file) const;
    /// "file:line: what is missing", for every reference of the file.
    [[nodiscard]] std::vector<std::string> missing_in(const std::string& file);

private:
    [[nodiscard]] const std::string& document_text(const std::string& document);
    [[nodiscard]] std::string document_problem(const std::string& file, const Mention& mention);
    [[nodiscard]] std::string source_problem(const Mention& mention) const;
    [[nodiscard]] std::string link_problem(const std::string& file, const Mention& link);

    std::filesystem::path root_;
    std::set<std::string> files_;
    std::multimap<std::string, std::string> by_base_name_;
    std::map<std::string, std::string> documents_;  ///< texts of pages that were referred to
};

}  // namespace astrolabe::docs
