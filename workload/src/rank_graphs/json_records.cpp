#include "json_records.hpp"

#include "trace_file.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/json_text.hpp>

namespace astrolabe::workload {
namespace {

/// Characters of a text that know, for all copies, how far the reader has come.
class FollowedCharacter {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    FollowedCharacter(const char* at, const char** reached)
        : at_(at),
          reached_(reached) {}

    reference operator*() const { return *at_; }
    FollowedCharacter& operator++() {
        *reached_ = ++at_;
        return *this;
    }
    FollowedCharacter operator++(int) {
        FollowedCharacter before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const FollowedCharacter& one, const FollowedCharacter& other) {
        return one.at_ == other.at_;
    }
    friend bool operator!=(const FollowedCharacter& one, const FollowedCharacter& other) {
        return !(one == other);
    }

private:
    const char* at_;
    const char** reached_;
};

Diagnostic broken_json(const std::string& file, std::string_view text, std::size_t byte,
                       std::string_view said) {
    const std::string_view before = text.substr(0, std::min(byte, text.size()));
    const std::size_t line_begin = before.rfind('\n') + 1;
    const std::size_t reason = said.find("; ");
    Diagnostic error = trace_error(
        "trace.json", file,
        fmt::format("no JSON{}{}", reason == std::string_view::npos ? "" : ": ",
                    reason == std::string_view::npos ? std::string_view() : said.substr(reason + 2)),
        byte >= text.size() ? "the file is cut off: copy it again" : "is it the file that was meant?",
        static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1);
    error.where.column = static_cast<int>(before.size() - line_begin);
    return error;
}

}  // namespace

Result<nlohmann::json> read_json_records(const std::filesystem::path& path, std::string_view key,
                                         const std::function<bool(JsonRecord& record)>& take) {
    using Event = nlohmann::json::parse_event_t;
    Result<TraceFile> file = TraceFile::open(path);
    if (!file) {
        return file.error();
    }
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 33U;
    const Result<std::string> text = file->read_all(kMostBytes);
    if (!text) {
        return text.error();
    }
    if (const std::optional<std::size_t> deep = place_of_deep_nesting(*text)) {
        return broken_json(
            path.string(), *text, *deep,
            fmt::format("its lists and objects are more than {} inside each other", limits::kNesting));
    }
    const char* reached = text->data();
    const char* counted = text->data();
    int line = 1;
    bool is_wanted = true;
    bool is_in_list = key.empty();
    bool has_list = false;
    const int depth_of_records = key.empty() ? 1 : 2;
    const auto filter = [&](int depth, Event event, nlohmann::json& value) {
        if (!key.empty() && depth == 1 && event == Event::key) {
            is_in_list = value == key;
        }
        if (is_in_list && depth == depth_of_records - 1 && event == Event::array_start) {
            has_list = true;
        }
        const bool is_record =
            is_in_list && has_list && depth == depth_of_records &&
            (event == Event::object_end || event == Event::array_end || event == Event::value);
        if (!is_record) {
            return true;
        }
        line += static_cast<int>(std::count(counted, reached, '\n'));
        counted = reached;
        if (is_wanted) {
            JsonRecord record{std::move(value), line};
            is_wanted = take(record);
        }
        return false;
    };
    try {
        const char* end = text->data() + text->size();
        nlohmann::json rest = nlohmann::json::parse(FollowedCharacter(text->data(), &reached),
                                                    FollowedCharacter(end, &reached), filter);
        if (!has_list || (key.empty() ? !rest.is_array() : !rest.is_object())) {
            return trace_error(
                "trace.json", path.string(),
                key.empty() ? "the file is no JSON list" : fmt::format("the file has no list '{}'", key),
                "is it the file that was meant?");
        }
        return rest;
    } catch (const nlohmann::json::exception& error) {
        return broken_json(path.string(), *text, static_cast<std::size_t>(reached - text->data()),
                           error.what());
    }
}

}  // namespace astrolabe::workload
