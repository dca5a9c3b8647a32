#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/limits.hpp>
#include <astrolabe/core/utf8.hpp>

namespace astrolabe {
namespace {

std::string_view line_of(const SourceText& source, int line) {
    std::string_view rest = source.text;
    for (int current = 1; current < line; ++current) {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) {
            return {};
        }
        rest.remove_prefix(end + 1);
    }
    rest = rest.substr(0, rest.find('\n'));
    return rest.ends_with('\r') ? rest.substr(0, rest.size() - 1) : rest;
}

/// Source line with a caret below the range; long lines are shown around the caret.
std::string excerpt(const SourceRange& where) {
    constexpr std::size_t kWidth = 100;
    if (!where.source || where.line <= 0) {
        return {};
    }
    std::string line(line_of(*where.source, where.line));
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::size_t caret = static_cast<std::size_t>(std::max(where.column, 1) - 1);
    if (line.empty() || caret > line.size()) {
        return {};
    }
    if (line.size() > kWidth) {
        const std::size_t begin = caret > kWidth / 2 ? caret - kWidth / 2 : 0;
        line = line.substr(begin, kWidth);
        caret -= begin;
    }
    line = printable_utf8(line);
    const std::size_t room = line.size() > caret ? line.size() - caret : 1;
    const std::size_t length =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::max(where.length, 1)), 1, room);
    const std::string number = std::to_string(where.line);
    return fmt::format("  {} | {}\n  {} | {}^{}\n", number, line, std::string(number.size(), ' '),
                       std::string(caret, ' '), std::string(length - 1, '~'));
}

/// Damerau–Levenshtein distance (insert, delete, replace, swap neighbours), optimal string alignment.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    const std::size_t columns = b.size() + 1;
    std::vector<std::size_t> table((a.size() + 1) * columns);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * columns + j]; };
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                at(i, j) = i + j;
                continue;
            }
            const std::size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
            at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
            }
        }
    }
    return at(a.size(), b.size());
}

std::string quoted_list(std::span<const std::string> names, std::string_view conjunction) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) {
            text += i + 1 == names.size() ? fmt::format(" {} ", conjunction) : ", ";
        }
        text += fmt::format("'{}'", names[i]);
    }
    return text;
}

}  // namespace

std::string SourceRange::to_string() const {
    if (!source) {
        return {};
    }
    return line > 0 ? fmt::format("{}:{}:{}", source->name, line, column) : source->name;
}

std::string Diagnostic::render() const {
    const std::string place = where.to_string();
    std::string text = fmt::format("{}{}error[{}]: {}\n", place, place.empty() ? "" : ": ", code, message);
    text += excerpt(where);
    for (const auto& [range, note] : notes) {
        const std::string note_place = range.to_string();
        text += fmt::format("  {}{}note: {}\n", note_place, note_place.empty() ? "" : ": ", note);
        text += excerpt(range);
    }
    if (!hint.empty()) {
        text += fmt::format("  hint: {}\n", hint);
    }
    return printable_utf8(text);  // what was found may be no text
}

std::string render(const Diagnostics& diagnostics) {
    std::string text;
    for (std::size_t i = 0; i < diagnostics.size() && i < limits::kErrorsShown; ++i) {
        text += diagnostics[i].render();
    }
    if (diagnostics.size() > limits::kErrorsShown) {
        text += fmt::format("and {} more, which are not shown\n", diagnostics.size() - limits::kErrorsShown);
    }
    return text;
}

std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> candidates) {
    constexpr std::size_t kLongestCompared = 64;
    constexpr std::size_t kMostCompared = 5000;  // some seconds for all errors that are shown
    if (word.size() > kLongestCompared) {
        return {};
    }
    std::vector<std::pair<std::size_t, std::string>> near;
    std::size_t compared = 0;
    for (const std::string& candidate : candidates) {
        const std::size_t shortest = std::min(word.size(), candidate.size());
        const std::size_t longest = std::max(word.size(), candidate.size());
        const std::size_t most = std::max<std::size_t>(1, longest / 3);
        if (longest - shortest > most) {
            continue;  // the distance is no less
        }
        if (++compared > kMostCompared) {
            break;
        }
        const std::size_t distance = edit_distance(word, candidate);
        if (distance <= most) {
            near.emplace_back(distance, candidate);
        }
    }
    std::sort(near.begin(), near.end());
    std::vector<std::string> names;
    for (auto& [distance, name] : near) {
        if (distance > near.front().first + 1 || names.size() == 3) {
            break;
        }
        names.push_back(std::move(name));
    }
    return names;
}

std::string suggest(std::string_view word, std::span<const std::string> candidates) {
    const std::vector<std::string> near = nearest_names(word, candidates);
    if (!near.empty()) {
        return fmt::format("did you mean {}?", quoted_list(near, "or"));
    }
    constexpr std::size_t kLongestList = 4000;  // bytes of its names
    std::size_t listed = 0;
    for (std::size_t bytes = 0; listed < candidates.size(); ++listed) {
        bytes += candidates[listed].size();
        if (bytes > kLongestList || listed == limits::kNamesListed) {
            break;
        }
    }
    if (listed == 0) {
        return {};
    }
    const std::string names = quoted_list(candidates.first(listed), "or");
    if (listed < candidates.size()) {
        return fmt::format("one of: {} (and {} more)", names, candidates.size() - listed);
    }
    return fmt::format("{} {}", listed == 1 ? "use" : "one of:", names);
}

}  // namespace astrolabe
