#include "references.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace astrolabe::docs {

namespace fs = std::filesystem;

namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_path_character(char c) {
    return is_word(c) || c == '.' || c == '/' || c == '-' || c == '+';
}
bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::string base_name(std::string_view path) {
    return fs::path(path).filename().string();
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// Runs of white space become one space.
std::string normalised(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (!is_space(c)) {
            result += c;
        } else if (!result.empty() && result.back() != ' ') {
            result += ' ';
        }
    }
    if (!result.empty() && result.back() == ' ') {
        result.pop_back();
    }
    return result;
}

/// Comments of consecutive lines become one passage.
class Collector {
public:
    void add(std::string_view comment, std::size_t line) {
        const std::size_t text = comment.find_first_not_of("/*!<# \t");
        const std::string_view stripped = text == std::string_view::npos ? "" : comment.substr(text);
        if (passages_.empty() || line > last_ + 1) {
            passages_.emplace_back();
        }
        passages_.back().append(stripped, line);
        last_ = line;
    }
    std::vector<Passage> take() { return std::move(passages_); }

private:
    std::vector<Passage> passages_;
    std::size_t last_ = 0;
};

std::vector<Passage> hash_comments(std::string_view source) {
    Collector collector;
    std::size_t number = 0;
    for (const std::string_view line : lines_of(source)) {
        ++number;
        for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
            if (at == 0 || is_space(line[at - 1])) {
                collector.add(line.substr(at), number);
                break;
            }
        }
    }
    return collector.take();
}

std::vector<Passage> cpp_comments(std::string_view source) {
    Collector collector;
    std::size_t line = 1;
    std::size_t at = 0;
    const auto skip_to = [&](std::size_t end) {
        end = std::min(end, source.size());
        line += static_cast<std::size_t>(std::count(source.begin() + static_cast<std::ptrdiff_t>(at),
                                                    source.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at = end;
    };
    const auto end_of = [&](std::string_view mark, std::size_t from) {
        const std::size_t found = source.find(mark, from);
        return found == std::string_view::npos ? source.size() : found + mark.size();
    };
    while (at < source.size()) {
        const char c = source[at];
        const std::string_view rest = source.substr(at);
        if (rest.starts_with("//")) {
            const std::size_t end = std::min(source.find('\n', at), source.size());
            collector.add(source.substr(at, end - at), line);
            skip_to(end);
        } else if (rest.starts_with("/*")) {
            const std::size_t end = end_of("*/", at + 2);
            std::string_view body = source.substr(at, end - at);
            body.remove_suffix(body.ends_with("*/") ? 2 : 0);
            std::size_t number = line;
            for (const std::string_view text : lines_of(body)) {
                collector.add(text, number++);
            }
            skip_to(end);
        } else if (rest.starts_with("R\"") && (at == 0 || !is_word(source[at - 1]))) {
            const std::size_t open = std::min(source.find('(', at), source.size() - 1);
            std::string close = ")";
            close.append(source.substr(at + 2, open - at - 2)).append("\"");
            skip_to(end_of(close, open));
        } else if (c == '"' || (c == '\'' && (at == 0 || !is_word(source[at - 1])))) {
            std::size_t end = at + 1;
            while (end < source.size() && source[end] != c && source[end] != '\n') {
                end += source[end] == '\\' ? 2 : 1;
            }
            skip_to(end + 1);
        } else {
            skip_to(at + 1);
        }
    }
    return collector.take();
}

/// Names that end in one of the endings, each with the offset behind it. Patterns are left out.
struct Found {
    std::string name;
    std::size_t end;
};

std::vector<Found> names_with(const std::string& text, const std::vector<std::string_view>& endings) {
    std::vector<Found> found;
    for (std::size_t dot = text.find('.'); dot != std::string::npos; dot = text.find('.', dot + 1)) {
        for (const std::string_view ending : endings) {
            const std::size_t end = dot + ending.size();
            if (text.compare(dot, ending.size(), ending) != 0 ||
                (end < text.size() && (is_word(text[end]) || text[end] == '-'))) {
                continue;
            }
            if (end + 1 < text.size() && text[end] == '.' && is_word(text[end + 1])) {
                continue;  // "schedule.h.in"
            }
            std::size_t begin = dot;
            while (begin > 0 && is_path_character(text[begin - 1])) {
                --begin;
            }
            const bool is_pattern =
                begin > 0 && std::string_view("*>}$:\\").find(text[begin - 1]) != std::string_view::npos;
            const bool is_foreign =
                begin > 0 && text[begin - 1] == '<' && text.compare(begin, 10, "astrolabe/") != 0;
            const bool has_letter = begin < dot && std::isdigit(static_cast<unsigned char>(text[begin])) == 0;
            if (has_letter && text[dot - 1] != '/' && !is_pattern && !is_foreign) {
                found.push_back({text.substr(begin, end - begin), end});
            }
        }
    }
    return found;
}

/// `, "A"`, and then ` and "B"` or `, "C"`, from `at` on.
std::vector<std::string> quoted_sections(const std::string& text, std::size_t at) {
    std::vector<std::string> sections;
    while (true) {
        std::size_t next = at;
        if (next < text.size() && text[next] == ',') {
            ++next;
        } else if (sections.empty()) {
            return sections;
        }
        while (next < text.size() && is_space(text[next])) {
            ++next;
        }
        if (!sections.empty() && text.compare(next, 4, "and ") == 0) {
            next += 4;
        }
        if (next >= text.size() || next == at || text[next] != '"') {
            return sections;
        }
        const std::size_t close = text.find('"', next + 1);
        if (close == std::string::npos) {
            return sections;
        }
        sections.push_back(normalised(std::string_view(text).substr(next + 1, close - next - 1)));
        at = close + 1;
    }
}

/// Code spans, whose text is no link, become spaces.
std::string without_code_spans(std::string text) {
    for (std::size_t open = text.find('`'); open != std::string::npos; open = text.find('`', open)) {
        const std::size_t content = std::min(text.find_first_not_of('`', open), text.size());
        const std::string mark(content - open, '`');
        std::size_t close = text.find(mark, content);
        while (close != std::string::npos && close + mark.size() < text.size() &&
               text[close + mark.size()] == '`') {
            close = text.find(mark, text.find_first_not_of('`', close));
        }
        if (close == std::string::npos) {
            open = content;
            continue;
        }
        for (std::size_t i = open; i < close + mark.size(); ++i) {
            text[i] = text[i] == '\n' ? '\n' : ' ';
        }
    }
    return text;
}

bool has_scheme(std::string_view target) {
    const std::size_t colon = target.find(':');
    return colon != std::string_view::npos && colon > 0 &&
           std::all_of(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(colon),
                       is_path_character);
}

/// The text of a line of Markdown: without code marks and emphasis, links by their text.
std::string without_markup(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ']' && i + 1 < text.size() && text[i + 1] == '(') {
            i = std::min(text.find(')', i), text.size());
        } else if (text[i] != '`' && text[i] != '*' && text[i] != '[') {
            result += text[i];
        }
    }
    return normalised(result);
}

/// The code point at `at`, which moves behind it.
char32_t next_code_point(std::string_view text, std::size_t& at) {
    const auto first = static_cast<unsigned char>(text[at++]);
    const int more = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    char32_t value = more == 0 ? first : first & (0x3FU >> more);
    for (int i = 0; i < more && at < text.size(); ++i) {
        value = value << 6U | (static_cast<unsigned char>(text[at++]) & 0x3FU);
    }
    return value;
}

/// Of those that are not ASCII: all but signs and punctuation of Latin-1 and of U+2000 to U+2BFF.
bool is_letter(char32_t c) {
    const bool is_latin_sign =
        (c >= 0x80 && c < 0xC0 && c != 0xAA && c != 0xB5 && c != 0xBA) || c == 0xD7 || c == 0xF7;
    return !is_latin_sign && !(c >= 0x2000 && c < 0x2C00);
}

bool is_document(const std::string& file) {
    return file.ends_with(".md") || file.ends_with(".rst");
}

std::optional<CommentStyle> comment_style(const std::string& file) {
    for (const std::string_view ending : {".hpp", ".cpp", ".h", ".cc"}) {
        if (file.ends_with(ending)) {
            return CommentStyle::kCpp;
        }
    }
    for (const std::string_view ending : {".yaml", ".py", ".cmake", "CMakeLists.txt", ".sh"}) {
        if (file.ends_with(ending)) {
            return CommentStyle::kHash;
        }
    }
    // Scripts without an ending, such as ./check.
    return file.find('.') == std::string::npos ? std::optional(CommentStyle::kHash) : std::nullopt;
}

}  // namespace

void Passage::append(std::string_view line_text, std::size_t line) {
    if (!lines.empty()) {
        text += '\n';
    }
    line_starts.push_back(text.size());
    lines.push_back(line);
    text += line_text;
}

std::size_t Passage::line_at(std::size_t offset) const {
    const auto behind = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
    return lines.at(static_cast<std::size_t>(behind - line_starts.begin()) - 1);
}

std::vector<Passage> comments(std::string_view source, CommentStyle style) {
    return style == CommentStyle::kCpp ? cpp_comments(source) : hash_comments(source);
}

Passage prose(std::string_view markdown) {
    Passage passage;
    std::size_t number = 0;
    std::string fence;
    for (const std::string_view line : lines_of(markdown)) {
        ++number;
        const std::size_t text = std::min(line.find_first_not_of(' '), line.size());
        const std::string_view mark = line.substr(text, 3);
        const bool is_fence = mark == "```" || mark == "~~~";
        if (is_fence && (fence.empty() || fence == mark)) {
            fence = fence.empty() ? std::string(mark) : "";
            passage.append("", number);
        } else {
            passage.append(fence.empty() ? line : "", number);
        }
    }
    return passage;
}

std::vector<Mention> documents_in(const Passage& passage) {
    std::vector<Mention> mentions;
    for (const Found& found : names_with(passage.text, {".md"})) {
        mentions.push_back(
            {found.name, quoted_sections(passage.text, found.end), passage.line_at(found.end - 1)});
    }
    return mentions;
}

std::vector<Mention> sources_in(const Passage& passage) {
    std::vector<Mention> mentions;
    for (const Found& found : names_with(passage.text, {".hpp", ".cpp", ".h", ".cc"})) {
        mentions.push_back({found.name, {}, passage.line_at(found.end - 1)});
    }
    return mentions;
}

std::vector<Mention> links_in(const Passage& prose) {
    const std::string text = without_code_spans(prose.text);
    std::vector<Mention> links;
    for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 2)) {
        const std::size_t begin = at + 2;
        const std::size_t end = text.find_first_of(") \n", begin);  // a title follows a space
        const std::string target = text.substr(begin, end - begin);
        if (!has_scheme(target)) {
            links.push_back({target, {}, prose.line_at(begin)});
        }
    }
    return links;
}

std::vector<std::string> headings_of(std::string_view markdown) {
    std::vector<std::string> headings;
    const Passage passage = prose(markdown);
    for (const std::string_view line : lines_of(passage.text)) {
        const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
        if (level > 0 && level <= 6 && level < line.size() && line[level] == ' ') {
            headings.push_back(without_markup(line.substr(level + 1)));
        }
    }
    return headings;
}

std::set<std::string> sections_of(std::string_view markdown) {
    const std::vector<std::string> headings = headings_of(markdown);
    std::set<std::string> sections(headings.begin(), headings.end());
    const Passage passage = prose(markdown);
    bool is_first = true;  // line of a paragraph
    for (const std::string_view line : lines_of(passage.text)) {
        const std::size_t end = line.find("**", 2);
        if (is_first && line.starts_with("**") && end != std::string_view::npos) {
            std::string section = without_markup(line.substr(2, end - 2));
            if (section.ends_with('.')) {
                section.pop_back();
            }
            sections.insert(std::move(section));
        }
        is_first = line.empty();
    }
    return sections;
}

std::string slug(std::string_view heading) {
    std::string result;
    for (std::size_t at = 0; at < heading.size();) {
        const std::size_t begin = at;
        const char32_t c = next_code_point(heading, at);
        if (c >= 0x80) {
            result += is_letter(c) ? heading.substr(begin, at - begin) : "";
        } else if (c == ' ') {
            result += '-';
        } else if (is_word(static_cast<char>(c)) || c == '-') {
            result += static_cast<char>(std::tolower(static_cast<int>(c)));
        }
    }
    return result;
}

std::set<std::string> anchors_of(std::string_view markdown) {
    std::set<std::string> anchors;
    std::map<std::string, int> seen;
    for (const std::string& heading : headings_of(markdown)) {
        const std::string anchor = slug(heading);
        const int before = seen[anchor]++;
        anchors.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
    }
    return anchors;
}

Repository::Repository(fs::path root)
    : root_(std::move(root)) {
    for (auto entry = fs::recursive_directory_iterator(root_); entry != fs::recursive_directory_iterator();
         ++entry) {
        const std::string name = entry->path().filename().string();
        const bool is_folder = entry->is_directory();
        if (name.starts_with(".") ||
            (is_folder && entry.depth() == 0 && (name.starts_with("build") || name == "out"))) {
            if (is_folder) {
                entry.disable_recursion_pending();
            }
            continue;
        }
        if (entry->is_regular_file()) {
            files_.insert(entry->path().lexically_relative(root_).generic_string());
        }
    }
    for (const std::string& file : files_) {
        by_base_name_.emplace(base_name(file), file);
    }
}

std::string Repository::read(const std::string& file) const {
    const std::ifstream stream(root_ / file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

const std::string& Repository::document_text(const std::string& document) {
    const auto [known, is_new] = documents_.try_emplace(document);
    if (is_new) {
        known->second = read(document);
    }
    return known->second;
}

std::string Repository::document_problem(const std::string& file, const Mention& mention) {
    const std::string beside =
        (fs::path(file).parent_path() / mention.name).lexically_normal().generic_string();
    const std::string document = files_.count(mention.name) > 0 ? mention.name : beside;
    if (files_.count(document) == 0) {
        return "there is no document " + mention.name;
    }
    const std::set<std::string> sections = sections_of(document_text(document));
    for (const std::string& section : mention.sections) {
        if (sections.count(section) == 0) {
            return document + " has no section \"" + section + "\"";
        }
    }
    return "";
}

std::string Repository::source_problem(const Mention& mention) const {
    const auto [first, last] = by_base_name_.equal_range(base_name(mention.name));
    if (first == last) {
        return "there is no file " + mention.name;
    }
    std::string end = mention.name;
    while (end.starts_with("../") || end.starts_with("./")) {
        end.erase(0, end.find('/') + 1);
    }
    const bool is_there = std::any_of(
        first, last, [&](const auto& entry) { return ("/" + entry.second).ends_with("/" + end); });
    return is_there ? "" : "no path ends in " + end + ", but there is " + first->second;
}

std::string Repository::link_problem(const std::string& file, const Mention& link) {
    const std::size_t hash = std::min(link.name.find('#'), link.name.size());
    const std::string path = link.name.substr(0, hash);
    const std::string target =
        path.empty() ? file : (fs::path(file).parent_path() / path).lexically_normal().generic_string();
    if (!fs::exists(root_ / target)) {
        return "the link leads to " + target + ", which is not there";
    }
    if (hash == link.name.size() || !target.ends_with(".md")) {
        return "";
    }
    const std::string anchor = link.name.substr(hash + 1);
    return anchors_of(document_text(target)).count(anchor) > 0 ? ""
                                                               : target + " has no heading for #" + anchor;
}

std::vector<std::string> Repository::missing_in(const std::string& file) {
    std::vector<std::string> missing;
    const auto report = [&](const Mention& mention, const std::string& problem) {
        if (!problem.empty()) {
            missing.push_back(file + ":" + std::to_string(mention.line) + ": " + problem);
        }
    };
    if (is_document(file)) {
        const Passage text = prose(read(file));
        for (const Mention& mention : sources_in(text)) {
            report(mention, source_problem(mention));
        }
        if (file.ends_with(".md")) {
            for (const Mention& link : links_in(text)) {
                report(link, link_problem(file, link));
            }
        }
    } else if (const std::optional<CommentStyle> style = comment_style(file)) {
        for (const Passage& passage : comments(read(file), *style)) {
            for (const Mention& mention : documents_in(passage)) {
                report(mention, document_problem(file, mention));
            }
            for (const Mention& mention : sources_in(passage)) {
                report(mention, source_problem(mention));
            }
        }
    }
    return missing;
}

}  // namespace astrolabe::docs
