#include "json_records.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/limits.hpp>

namespace astrolabe::workload {
namespace {

struct TraceExcess {
    std::string message;
};

/// The text of a file, of which a piece is held at a time.
class TracePieces {
public:
    TracePieces(TraceFile& file, const JsonLimits& limits)
        : file_(file),
          limits_(limits) {
        refill();
    }

    [[nodiscard]] bool is_over() const { return at_ == end_; }
    [[nodiscard]] const char& front() const { return *at_; }
    void pop() {
        ++column_;
        if (*at_ == '\n') {
            ++line_;
            column_ = 0;
        }
        if (++at_ == end_) {
            refill();
        }
    }

    /// Of what is read next, from 1, and the characters before it on its line.
    [[nodiscard]] int line() const { return as_int(line_); }
    [[nodiscard]] int column() const { return as_int(column_); }

    /// What follows is records, of which nothing is held once they have ended.
    void begin_records() { record_ = position(); }
    void end_record() {
        let_go_ += position() - record_;
        record_ = position();
        if (++records_ > limits_.records) {
            throw TraceExcess{fmt::format("more than {} records", limits_.records)};
        }
    }

private:
    [[nodiscard]] static int as_int(std::int64_t number) {
        return static_cast<int>(std::min<std::int64_t>(number, std::numeric_limits<int>::max()));
    }
    [[nodiscard]] std::uint64_t position() const {
        return file_.position() - static_cast<std::uint64_t>(end_ - at_);
    }
    void refill() {
        if (file_.position() - let_go_ > limits_.held) {
            throw TraceExcess{
                fmt::format("a record, with what is beside the list, of more than {} bytes", limits_.held)};
        }
        if (file_.position() > limits_.bytes) {
            throw TraceExcess{fmt::format("more than {} bytes", limits_.bytes)};
        }
        at_ = piece_.data();
        end_ = at_ + file_.read(piece_.data(), piece_.size());
    }

    TraceFile& file_;
    const JsonLimits& limits_;
    std::array<char, 1U << 16U> piece_{};
    const char* at_ = nullptr;
    const char* end_ = nullptr;
    std::int64_t line_ = 1;
    std::int64_t column_ = 0;
    std::uint64_t record_ = 0;  // where it begins
    std::uint64_t let_go_ = 0;  // bytes of records before
    std::uint64_t records_ = 0;
};

/// The next character of a text, the same for all copies; of no text: its end.
class NextCharacter {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    explicit NextCharacter(TracePieces* pieces)
        : pieces_(pieces) {}

    reference operator*() const { return pieces_->front(); }
    NextCharacter& operator++() {
        pieces_->pop();
        return *this;
    }
    void operator++(int) { pieces_->pop(); }
    friend bool operator==(const NextCharacter& one, const NextCharacter& other) {
        return one.is_end() == other.is_end();
    }
    friend bool operator!=(const NextCharacter& one, const NextCharacter& other) { return !(one == other); }

private:
    [[nodiscard]] bool is_end() const { return pieces_ == nullptr || pieces_->is_over(); }

    TracePieces* pieces_;
};

/// An error where `pieces` have come to.
Diagnostic trace_place_error(std::string code, const std::string& file, const TracePieces& pieces,
                             std::string message, std::string hint) {
    Diagnostic error = trace_error(std::move(code), file, std::move(message), std::move(hint), pieces.line());
    error.where.column = pieces.column();
    return error;
}

}  // namespace

Result<nlohmann::json> read_json_records(const std::filesystem::path& path, std::string_view key,
                                         const std::function<bool(JsonRecord& record)>& take,
                                         const JsonLimits& most) {
    using Event = nlohmann::json::parse_event_t;
    Result<TraceFile> file = TraceFile::open(path);
    if (!file) {
        return file.error();
    }
    TracePieces pieces(*file, most);
    bool is_wanted = true;
    bool is_in_list = key.empty();
    bool has_list = false;
    const int depth_of_records = key.empty() ? 1 : 2;
    const auto filter = [&](int depth, Event event, nlohmann::json& value) {
        if ((event == Event::object_start || event == Event::array_start) &&
            static_cast<std::size_t>(depth) >= limits::kNesting) {
            throw TraceExcess{
                fmt::format("its lists and objects are more than {} inside each other", limits::kNesting)};
        }
        if (!key.empty() && depth == 1 && event == Event::key) {
            is_in_list = value == key;
        }
        if (is_in_list && depth == depth_of_records - 1 && event == Event::array_start) {
            has_list = true;
            pieces.begin_records();
        }
        const bool is_record =
            is_in_list && has_list && depth == depth_of_records &&
            (event == Event::object_end || event == Event::array_end || event == Event::value);
        if (!is_record) {
            return true;
        }
        if (is_wanted) {
            JsonRecord record{std::move(value), pieces.line()};
            is_wanted = take(record);
        }
        pieces.end_record();
        return false;
    };
    try {
        nlohmann::json rest = nlohmann::json::parse(NextCharacter(&pieces), NextCharacter(nullptr), filter);
        if (!file->failure().empty()) {
            return trace_error("trace.file", path.string(), file->failure());
        }
        if (!has_list || (key.empty() ? !rest.is_array() : !rest.is_object())) {
            return trace_error(
                "trace.json", path.string(),
                key.empty() ? "the file is no JSON list" : fmt::format("the file has no list '{}'", key),
                "is it the file that was meant?");
        }
        return rest;
    } catch (const TraceExcess& excess) {
        return trace_place_error("trace.limit", path.string(), pieces, excess.message,
                                 "is it the file that was meant?");
    } catch (const nlohmann::json::exception& error) {
        if (!file->failure().empty()) {
            return trace_error("trace.file", path.string(), file->failure());
        }
        const std::string_view said = error.what();
        const std::size_t reason = said.find("; ");
        return trace_place_error(
            "trace.json", path.string(), pieces,
            fmt::format("no JSON{}{}", reason == std::string_view::npos ? "" : ": ",
                        reason == std::string_view::npos ? std::string_view() : said.substr(reason + 2)),
            pieces.is_over() ? "the file is cut off: copy it again" : "is it the file that was meant?");
    }
}

}  // namespace astrolabe::workload
