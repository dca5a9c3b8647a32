#include "mutate.hpp"

#include "mutations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

namespace astrolabe::fuzzing {

std::uint64_t Draw::bits() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

namespace {

/// Inputs do not grow over this, so that what takes long is the reader's fault.
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

constexpr std::array<std::string_view, 34> kEdges = {"0",
                                                     "-1",
                                                     "1",
                                                     "2",
                                                     "-0",
                                                     "0.5",
                                                     "1e400",
                                                     "-1e400",
                                                     "1e-400",
                                                     "nan",
                                                     "inf",
                                                     "-inf",
                                                     "2147483647",
                                                     "2147483648",
                                                     "4294967296",
                                                     "9223372036854775807",
                                                     "9223372036854775808",
                                                     "18446744073709551615",
                                                     "18446744073709551616",
                                                     "-9223372036854775809",
                                                     "1000000",
                                                     "0x10",
                                                     "010",
                                                     "true",
                                                     "null",
                                                     "~",
                                                     "[]",
                                                     "{}",
                                                     "\"\"",
                                                     "*a",
                                                     "&a x",
                                                     "1e9",
                                                     "../..",
                                                     "\xc3\xa9"};
constexpr std::array<std::string_view, 12> kUnits = {"",    "s",   "ps",    "Gbps", "bps", "B",
                                                     "EiB", "KiB", "FLOPS", "GB/s", "%",   "d"};
constexpr std::array<std::string_view, 6> kNotUtf8 = {
    "\xff", "\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"};

/// Of one byte a letter or two, so that what is cut to a number of bytes is cut inside a letter.
std::string long_word(Draw& draw) {
    const std::size_t letters = draw.one_in(8) ? 35'000 : 150;
    const std::string_view letter = draw.one_in(2) ? "\xc3\xa9" : "a";
    std::string word = draw.one_in(2) ? "x" : "";
    for (std::size_t i = 0; i < letters; ++i) {
        word += letter;
    }
    return word;
}

bool is_word(char c) {
    return std::string_view(" \t\r\n,:[]{}<>=\"'()#").find(c) == std::string_view::npos;
}

std::vector<Range> words_of(const std::string& text) {
    std::vector<Range> words;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_word(text[i]) && (i == 0 || !is_word(text[i - 1]))) {
            words.push_back({i, i});
        }
        if (is_word(text[i])) {
            words.back().end = i + 1;
        }
    }
    return words;
}

std::vector<Range> lines_of(const std::string& text) {
    std::vector<Range> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t newline = text.find('\n', begin);
        const std::size_t end = newline == std::string::npos ? text.size() : newline + 1;
        lines.push_back({begin, end});
        begin = end;
    }
    return lines;
}

std::size_t indent_of(const std::string& text, Range line) {
    std::size_t i = line.begin;
    while (i < line.end && text[i] == ' ') {
        ++i;
    }
    return i - line.begin;
}

/// A line with the deeper ones below it.
std::optional<Range> block_at(const std::string& text, Draw& draw) {
    const std::vector<Range> lines = lines_of(text);
    if (lines.empty()) {
        return std::nullopt;
    }
    const std::size_t first = draw.below(lines.size());
    const std::size_t indent = indent_of(text, lines[first]);
    std::size_t last = first;
    while (last + 1 < lines.size() && indent_of(text, lines[last + 1]) > indent) {
        ++last;
    }
    return Range{lines[first].begin, lines[last].end};
}

/// What a pair of brackets holds, with them.
std::optional<Range> brackets_at(const std::string& text, Draw& draw) {
    const std::size_t begin = text.find_first_of("[{", draw.below(text.size()));
    int depth = 0;
    for (std::size_t i = begin; i < text.size(); ++i) {
        depth += text[i] == '[' || text[i] == '{' ? 1 : 0;
        depth -= text[i] == ']' || text[i] == '}' ? 1 : 0;
        if (depth == 0) {
            return Range{begin, i + 1};
        }
    }
    return std::nullopt;
}

std::optional<Range> element_at(const std::string& text, Draw& draw) {
    const std::size_t begin = text.find('<', draw.below(text.size()));
    int depth = 0;
    for (std::size_t i = begin; i < text.size();) {
        const std::size_t end = text.find('>', i);
        if (end == std::string::npos || end == i) {
            return std::nullopt;
        }
        const char after = text[i + 1];
        if (after == '/') {
            --depth;
        } else if (text[end - 1] != '/' && after != '?' && after != '!') {
            ++depth;
        }
        if (depth <= 0) {
            return Range{begin, end + 1};
        }
        i = text.find('<', end);
    }
    return std::nullopt;
}

std::optional<Range> node_at(const std::string& text, Syntax syntax, Draw& draw) {
    if (text.empty()) {
        return std::nullopt;
    }
    if (syntax == Syntax::kXml) {
        return element_at(text, draw);
    }
    return syntax == Syntax::kJson || draw.one_in(3) ? brackets_at(text, draw) : block_at(text, draw);
}

std::string indented(const std::string& block, std::size_t by) {
    std::string deeper;
    for (const Range line : lines_of(block)) {
        deeper += std::string(by, ' ') + block.substr(line.begin, line.size());
    }
    return deeper;
}

std::string wrapped(const std::string& node, Syntax syntax, Draw& draw) {
    const std::size_t depth = draw.one_in(6) ? 1 + draw.below(20'000) : 1 + draw.below(3);
    std::string before;
    std::string after;
    if (syntax == Syntax::kYaml && node.find('\n') != std::string::npos) {
        return std::string(indent_of(node, {0, node.size()}), ' ') + "deeper:\n" + indented(node, 2);
    }
    for (std::size_t i = 0; i < depth; ++i) {
        before += syntax == Syntax::kXml ? "<gpu>" : "[";
        after += syntax == Syntax::kXml ? "</gpu>" : "]";
    }
    return before + node + after;
}

void change_node(std::string& text, Syntax syntax, Draw& draw) {
    const std::optional<Range> node = node_at(text, syntax, draw);
    if (!node) {
        return;
    }
    const std::string old = text.substr(node->begin, node->size());
    const std::string separator = syntax == Syntax::kJson ? "," : "";
    switch (draw.below(5)) {
        case 0:
            text.erase(node->begin, node->size());
            break;
        case 1:
            text.insert(node->end, separator + old);
            break;
        case 2:
            text.replace(node->begin, node->size(), wrapped(old, syntax, draw));
            break;
        case 3:
            if (const std::optional<Range> other = node_at(text, syntax, draw)) {
                text.replace(node->begin, node->size(), text.substr(other->begin, other->size()));
            }
            break;
        default:
            for (std::size_t i = draw.one_in(10) ? 1000 : draw.below(4); i > 0 && text.size() < kMostBytes;
                 --i) {
                text.insert(node->begin, old + separator);
            }
            break;
    }
}

void misspell(std::string& text, Range word, Draw& draw) {
    const std::size_t at = word.begin + draw.below(word.size());
    switch (draw.below(3)) {
        case 0:
            text.erase(at, 1);
            break;
        case 1:
            text.insert(at, 1, text[at]);
            break;
        default:
            text[at] = static_cast<char>(text[at] ^ 1);
            break;
    }
}

void change_word(std::string& text, Draw& draw) {
    const std::vector<Range> words = words_of(text);
    if (words.empty()) {
        return;
    }
    const Range word = words[draw.below(words.size())];
    const Range other = words[draw.below(words.size())];
    switch (draw.below(6)) {
        case 0:
            misspell(text, word, draw);
            break;
        case 1:
            text.replace(word.begin, word.size(), text.substr(other.begin, other.size()));
            break;
        case 2: {
            // The number alone: its unit stays.
            std::size_t digits = word.begin;
            while (digits < word.end && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) {
                ++digits;
            }
            text.replace(word.begin, digits - word.begin, edge_value(draw));
            break;
        }
        default:
            text.replace(word.begin, word.size(), edge_value(draw));
            break;
    }
}

void change_lines(std::string& text, Draw& draw) {
    const std::vector<Range> lines = lines_of(text);
    if (lines.empty()) {
        return;
    }
    const Range line = lines[draw.below(lines.size())];
    const Range other = lines[draw.below(lines.size())];
    const std::string copy = text.substr(line.begin, line.size());
    switch (draw.below(6)) {
        case 0:
            text.erase(line.begin, line.size());
            break;
        case 1:
            text.insert(other.begin, copy);
            break;
        case 2:
            text.replace(line.begin, line.size(), text.substr(other.begin, other.size()));
            break;
        case 3:
            text.insert(line.begin, 1 + draw.below(3), ' ');
            break;
        case 4:
            text.erase(line.end - 1, 1);
            break;
        default:
            text.erase(line.begin, std::min(indent_of(text, line), std::size_t{2}));
            break;
    }
}

}  // namespace

std::string edge_value(Draw& draw) {
    switch (draw.below(12)) {
        case 0:
            return std::string(kNotUtf8[draw.below(kNotUtf8.size())]);
        case 1:
            return long_word(draw);
        case 2:
            return "";
        case 3:
            return std::string(1, static_cast<char>(draw.below(256)));
        case 4:
            return std::to_string(draw.bits() >> draw.below(64));
        case 5:
        case 6:
            return std::string(kEdges[draw.below(kEdges.size())]) +
                   std::string(kUnits[draw.below(kUnits.size())]);
        default:
            return std::string(kEdges[draw.below(kEdges.size())]);
    }
}

void change_bytes(std::string& bytes, Draw& draw) {
    const std::size_t at = draw.below(bytes.size());
    const std::size_t length =
        std::min(bytes.size() - at, 1 + draw.below(draw.one_in(4) ? bytes.size() + 1 : 16));
    switch (draw.below(6)) {
        case 0:
            bytes.resize(at);
            break;
        case 1:
            bytes.erase(at, length);
            break;
        case 2:
            bytes.insert(at, bytes.substr(at, length));
            break;
        case 3:
            for (std::size_t i = 1 + draw.below(8); i > 0; --i) {
                bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                             static_cast<char>(draw.below(256)));
            }
            break;
        case 4:
            bytes[at] = static_cast<char>(draw.below(256));
            break;
        default:
            bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << draw.below(8)));
            break;
    }
}

void change(std::string& bytes, const Format& format, Draw& draw) {
    if (bytes.empty()) {
        bytes = edge_value(draw);
        return;
    }
    if (draw.one_in(40)) {
        const std::string& other = format.seeds[draw.below(format.seeds.size())].bytes;
        bytes = bytes.substr(0, draw.below(bytes.size())) + other.substr(draw.below(other.size()));
        return;
    }
    const std::size_t kind = draw.below(10);
    if (kind == 0 || format.syntax == Syntax::kBytes) {
        change_bytes(bytes, draw);
    } else if (format.syntax == Syntax::kProtobuf) {
        change_record(bytes, draw);
    } else if (kind < 6) {
        change_word(bytes, draw);
    } else if (kind < 8 || format.syntax == Syntax::kLines) {
        change_lines(bytes, draw);
    } else {
        change_node(bytes, format.syntax, draw);
    }
}

Input input_of(const Format& format, std::uint64_t seed, std::uint64_t index) {
    std::uint64_t name = 0xcbf29ce484222325U;  // FNV-1a
    for (const char c : format.name) {
        name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    Draw mixed(seed ^ name);
    Draw draw(mixed.bits() + index * 0xd1342543de82ef95U);
    const Seed& start = format.seeds[draw.below(format.seeds.size())];
    Input input{start.file, start.bytes};
    for (std::size_t i = 1 + draw.below(4); i > 0 && input.bytes.size() < kMostBytes; --i) {
        change(input.bytes, format, draw);
    }
    return input;
}

}  // namespace astrolabe::fuzzing
