/// The reader of kineto_trace.hpp: events of a JSON parser, so that no tree of the file is built.
#include "gzip_stream.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <map>
#include <memory>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/limits.hpp>
#include <astrolabe/experiment/calibration/kineto_trace.hpp>
#include <astrolabe/experiment/results/fingerprint.hpp>

namespace astrolabe::experiment {
namespace {

/// Hands on what it reads and knows its line, its column and the hash of all before.
class PlaceBuffer : public std::streambuf {
public:
    explicit PlaceBuffer(std::streambuf& source)
        : source_(source) {}

    [[nodiscard]] std::pair<int, int> place() const {
        int line = line_;
        int column = column_;
        advance(eback(), gptr(), line, column);
        return {line, std::max(column, 1)};
    }
    [[nodiscard]] std::string fingerprint() const { return print_.text(); }

    /// Nothing before this place is held any more.
    void let_go() { let_go_ = before_ + static_cast<std::uint64_t>(gptr() - eback()); }
    /// Why reading ended before the text did; empty: it did not.
    [[nodiscard]] const std::string& excess() const { return excess_; }

protected:
    int_type underflow() override {
        advance(eback(), egptr(), line_, column_);
        before_ += static_cast<std::uint64_t>(egptr() - eback());
        setg(buffer_.data(), buffer_.data(), buffer_.data());
        if (before_ - let_go_ > kMostOfAnEvent) {
            excess_ = fmt::format("an event, or what is between two, has more than {} bytes", kMostOfAnEvent);
        } else if (before_ > kMostBytes) {
            excess_ = fmt::format("the trace has more than {} bytes", kMostBytes);
        }
        if (!excess_.empty()) {
            return traits_type::eof();
        }
        const std::streamsize count =
            source_.sgetn(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
        setg(buffer_.data(), buffer_.data(), buffer_.data() + std::max<std::streamsize>(count, 0));
        if (count <= 0) {
            return traits_type::eof();
        }
        print_.add(std::string_view(buffer_.data(), static_cast<std::size_t>(count)));
        return traits_type::to_int_type(buffer_.front());
    }

private:
    /// What the parser and the reader hold at a time, and what fits in the numbers of a place.
    static constexpr std::uint64_t kMostOfAnEvent = std::uint64_t{16} << 20;
    static constexpr std::uint64_t kMostBytes = 2'000'000'000;

    static void advance(const char* from, const char* to, int& line, int& column) {
        for (const char* c = from; c != to; ++c) {
            line += *c == '\n' ? 1 : 0;
            column = *c == '\n' ? 0 : column + 1;
        }
    }

    std::streambuf& source_;
    std::array<char, 64 * 1024> buffer_{};
    int line_ = 1;    // at the buffer's begin
    int column_ = 0;  // of the character before it
    std::uint64_t before_ = 0;
    std::uint64_t let_go_ = 0;
    std::string excess_;
    Fingerprint print_;
};

/// Bytes of an element by the name of its type, as ATen and c10d write it.
std::optional<std::int64_t> element_size(std::string_view type) {
    static const std::map<std::string_view, std::int64_t> kSizes{
        {"float", 4},         {"Float", 4},         {"double", 8},
        {"Double", 8},        {"int", 4},           {"Int", 4},
        {"long int", 8},      {"long", 8},          {"Long", 8},
        {"short", 2},         {"Short", 2},         {"short int", 2},
        {"c10::Half", 2},     {"Half", 2},          {"c10::BFloat16", 2},
        {"BFloat16", 2},      {"unsigned char", 1}, {"Byte", 1},
        {"signed char", 1},   {"Char", 1},          {"bool", 1},
        {"Bool", 1},          {"char", 1},          {"c10::Float8_e4m3fn", 1},
        {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1},   {"c10::Float8_e5m2", 1}};
    const auto found = kSizes.find(type);
    return found == kSizes.end() ? std::nullopt : std::optional(found->second);
}

/// As of `--ranks`; of a message 4 TiB, so that what all ranks have together is a number of bytes.
constexpr std::int64_t kLargestWorld = std::int64_t{1} << 20;
constexpr std::int64_t kMostOfAMessage = std::int64_t{1} << 42;

/// `count` times as many bytes; nothing where no message has them.
std::optional<std::int64_t> bytes_of(std::int64_t bytes, std::int64_t count) {
    return count < 0 || bytes > kMostOfAMessage / std::max<std::int64_t>(count, 1)
               ? std::nullopt
               : std::optional(bytes * count);
}

/// Of times since 1970, 126 years, so that differences of them and of what lasts a day are times, too.
constexpr std::int64_t kMostMicroseconds = 4'000'000'000'000'000;

/// Nanoseconds of a number of microseconds with up to three decimals; further ones are cut off.
std::optional<Nanoseconds> nanoseconds_of(std::string_view text) {
    const std::size_t point = text.find('.');
    if (text.find_first_of("eE") != std::string_view::npos) {
        return std::nullopt;
    }
    std::int64_t whole = 0;
    const std::string_view digits = text.substr(0, point);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
    if (error != std::errc() || end != digits.data() + digits.size() || whole > kMostMicroseconds ||
        whole < -kMostMicroseconds) {
        return std::nullopt;
    }
    std::int64_t decimals = 0;
    if (point != std::string_view::npos) {
        for (std::size_t i = 0; i < 3; ++i) {
            decimals =
                decimals * 10 +
                (point + 1 + i < text.size() ? static_cast<std::int64_t>(text[point + 1 + i] - '0') : 0);
        }
    }
    return whole * 1000 + (text.front() == '-' ? -decimals : decimals);
}

/// Keys of one event, as far as any category needs them.
struct KinetoFields {
    std::string phase;
    std::string category;
    std::string name;
    std::optional<Nanoseconds> start;
    std::optional<Nanoseconds> duration;
    std::int64_t thread = 0;
    std::optional<std::int64_t> stream;
    std::optional<std::int64_t> correlation;
    std::optional<std::int64_t> in_elements;
    std::optional<std::int64_t> out_elements;
    std::string element_type;
    std::vector<std::vector<std::int64_t>> dims;  // of its first tensors
    std::vector<std::string> types;
};

class KinetoReader final : public nlohmann::json_sax<nlohmann::json> {
public:
    KinetoReader(PlaceBuffer& place, std::string name)
        : place_(place),
          source_(std::make_shared<const SourceText>(SourceText{name, {}})) {
        trace_.file = std::move(name);
    }

    bool null() override { return true; }
    bool boolean(bool /*value*/) override { return true; }
    bool number_integer(number_integer_t value) override { return whole(value); }
    bool number_unsigned(number_unsigned_t value) override {
        return std::in_range<std::int64_t>(value) ? whole(static_cast<std::int64_t>(value)) : true;
    }
    bool number_float(number_float_t /*value*/, const string_t& text) override {
        if (in_event()) {
            return set_time(text);
        }
        return true;
    }
    bool binary(binary_t& /*value*/) override { return true; }
    bool string(string_t& value) override {
        if (in_event()) {
            if (key() == "ph") {
                event_.phase = value;
            } else if (key() == "cat") {
                event_.category = value;
            } else if (key() == "name") {
                event_.name = value;
            }
        } else if (in_args() && key() == "dtype") {
            event_.element_type = value;
        } else if (in_list_of_args() && key() == "Input type" && event_.types.size() < 2) {
            event_.types.push_back(value);
        } else if (path_.size() == 3 && keys_[0] == "deviceProperties" && key() == "name" &&
                   trace_.device.empty()) {
            trace_.device = value;
        }
        return true;
    }
    bool start_object(std::size_t /*elements*/) override {
        if (!open('{')) {
            return false;
        }
        if (in_event()) {
            event_ = KinetoFields{};
        }
        return true;
    }
    bool key(string_t& value) override {
        keys_.back() = value;
        has_events_ = has_events_ || (path_.size() == 1 && value == "traceEvents");
        return true;
    }
    bool end_object() override {
        const bool is_kept = !in_event() || keep();
        close();
        return is_kept;
    }
    bool start_array(std::size_t /*elements*/) override {
        if (!open('[')) {
            return false;
        }
        if (path_.size() == 6 && keys_[3] == "Input Dims" && in_events() && event_.dims.size() < 2) {
            event_.dims.emplace_back();
            is_in_dims_ = true;
        }
        return true;
    }
    bool end_array() override {
        if (path_.size() == 6) {
            is_in_dims_ = false;
        }
        close();
        return true;
    }
    bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                     const nlohmann::detail::exception& error) override {
        if (!place_.excess().empty()) {
            fail(place_.excess(), "is this the right file?");
            return false;
        }
        const std::string text = error.what();
        const std::size_t from = text.find("; ");
        fail(from == std::string::npos ? "this is no JSON" : "this is no JSON: " + text.substr(from + 2),
             "give the file that torch.profiler wrote, gzipped or not");
        return false;
    }

    void fail(std::string message, std::string hint) {
        const auto [line, column] = place_.place();
        errors_.push_back(
            {"calibrate.trace", {source_, line, column}, std::move(message), std::move(hint), {}});
    }

    [[nodiscard]] Result<KinetoTrace> result() && {
        if (errors_.empty() && !has_events_) {
            fail("no 'traceEvents' is in it", "give the trace of torch.profiler, not its execution trace");
        }
        if (!errors_.empty()) {
            return errors_;
        }
        const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
        std::ranges::stable_sort(trace_.device_events, by_start);
        std::ranges::stable_sort(trace_.calls, by_start);
        std::ranges::stable_sort(trace_.annotations, by_start);
        std::ranges::stable_sort(trace_.collectives, by_start);
        trace_.fingerprint = place_.fingerprint();
        return std::move(trace_);
    }

private:
    [[nodiscard]] bool in_events() const { return !keys_.empty() && keys_[0] == "traceEvents"; }
    /// In an event itself: {traceEvents: [{
    [[nodiscard]] bool in_event() const { return path_.size() == 3 && path_.back() == '{' && in_events(); }
    [[nodiscard]] bool in_args() const {
        return path_.size() == 4 && path_.back() == '{' && keys_[2] == "args" && in_events();
    }
    /// In a list of an event's arguments: {traceEvents: [{args: {key: [
    [[nodiscard]] bool in_list_of_args() const {
        return path_.size() == 5 && path_.back() == '[' && keys_[2] == "args" && in_events();
    }
    /// Of the innermost mapping.
    [[nodiscard]] const std::string& key() const {
        return path_.back() == '{' ? keys_.back() : keys_[keys_.size() - 2];
    }

    bool open(char kind) {
        if (path_.size() == limits::kNesting) {
            fail(fmt::format("its lists and objects are more than {} inside each other", limits::kNesting),
                 "give the file that torch.profiler wrote, gzipped or not");
            return false;
        }
        path_.push_back(kind);
        keys_.emplace_back();
        return true;
    }
    void close() {
        path_.pop_back();
        keys_.pop_back();
        if (path_.size() <= 2) {  // behind an event
            place_.let_go();
        }
    }

    bool set_time(const std::string& text) {
        if (key() != "ts" && key() != "dur") {
            return true;
        }
        const std::optional<Nanoseconds> time = nanoseconds_of(text);
        if (!time) {
            fail(fmt::format("'{}' is {} where a number of microseconds is expected", key(), text),
                 fmt::format("times have no exponent, and are at most {}", kMostMicroseconds));
            return false;
        }
        (key() == "ts" ? event_.start : event_.duration) = *time;
        return true;
    }

    bool whole(std::int64_t value) {
        if (in_event()) {
            if (key() == "tid") {
                event_.thread = value;
            }
            return key() == "ts" || key() == "dur" ? set_time(std::to_string(value)) : true;
        }
        if (in_args()) {
            if (key() == "stream") {
                event_.stream = value;
            } else if (key() == "correlation") {
                event_.correlation = value;
            } else if (key() == "In msg nelems") {
                event_.in_elements = value;
            } else if (key() == "Out msg nelems") {
                event_.out_elements = value;
            }
        } else if (is_in_dims_ && path_.size() == 6) {
            event_.dims.back().push_back(value);
        } else if (path_.size() == 2 && keys_[0] == "distributedInfo" && value >= 0 &&
                   (key() == "rank" || key() == "world_size")) {
            if (value > kLargestWorld) {
                fail(fmt::format("'{}' is {}, expected at most {}", key(), value, kLargestWorld), "");
                return false;
            }
            (key() == "rank" ? trace_.rank : trace_.ranks) = static_cast<std::size_t>(value);
        }
        return true;
    }

    std::uint32_t index_of(const std::string& name) {
        const auto [found, is_new] =
            indices_.try_emplace(name, static_cast<std::uint32_t>(trace_.names.size()));
        if (is_new) {
            trace_.names.push_back(name);
        }
        return found->second;
    }

    /// Sizes of the event's first two tensors; false with an error where they are not known.
    bool tensors(std::vector<Bytes>& sizes) {
        for (std::size_t i = 0; i < event_.dims.size() && i < event_.types.size(); ++i) {
            if (event_.dims[i].empty()) {
                break;
            }
            const std::optional<std::int64_t> size = element_size(event_.types[i]);
            if (!size) {
                break;  // a list of tensors, or a scalar
            }
            std::optional<std::int64_t> bytes = *size;
            for (const std::int64_t dim : event_.dims[i]) {
                bytes = bytes_of(*bytes, dim);
                if (!bytes) {
                    fail(fmt::format("'{}' has a tensor with a side of {}", event_.name, dim),
                         "a tensor has 0 to 4 TiB");
                    return false;
                }
            }
            sizes.emplace_back(*bytes);
        }
        return true;
    }

    bool missing(std::string_view what) {
        fail(fmt::format("an event '{}' of category '{}' has no {}", event_.name, event_.category, what),
             "the trace is cut, or of a profiler that is not known");
        return false;
    }

    bool keep() {
        if (event_.phase != "X") {
            return true;
        }
        const bool is_kernel = event_.category == "kernel";
        const bool is_device =
            is_kernel || event_.category == "gpu_memcpy" || event_.category == "gpu_memset";
        const bool is_call = event_.category == "cuda_runtime" || event_.category == "cuda_driver";
        const bool is_annotation = event_.category == "user_annotation";
        const bool is_collective = event_.category == "cpu_op" && event_.name.starts_with("c10d::");
        if (!is_device && !is_call && !is_annotation && !is_collective) {
            return true;
        }
        if (!event_.start || !event_.duration || *event_.duration < 0) {
            return missing(event_.start ? "'dur' that is 0 or more" : "'ts'");
        }
        if (*event_.duration > kMostTraceTime - duration_) {
            fail(fmt::format("events up to '{}' last more than a day together", event_.name),
                 "'dur' is in microseconds");
            return false;
        }
        duration_ += *event_.duration;
        const std::uint32_t name = index_of(event_.name);
        if (is_device) {
            return keep_device_event(name, is_kernel);
        }
        if (is_call) {
            if (!event_.correlation) {
                return missing("'correlation'");
            }
            trace_.calls.push_back(
                {name, *event_.start, *event_.duration, event_.thread, *event_.correlation});
            return true;
        }
        HostInterval interval{name, *event_.start, *event_.duration, event_.thread, {}};
        if (!tensors(interval.tensors)) {
            return false;
        }
        (is_annotation ? trace_.annotations : trace_.collectives).push_back(std::move(interval));
        return true;
    }

    bool keep_device_event(std::uint32_t name, bool is_kernel) {
        if (!event_.stream || !event_.correlation) {
            return missing(event_.stream ? "'correlation'" : "'stream'");
        }
        DeviceEvent device{.name = name,
                           .is_kernel = is_kernel,
                           .start = *event_.start,
                           .duration = *event_.duration,
                           .stream = *event_.stream,
                           .correlation = *event_.correlation};
        if (event_.in_elements && event_.out_elements) {
            const std::optional<std::int64_t> size = element_size(event_.element_type);
            if (!size) {
                fail(fmt::format("'{}' has elements of type '{}', which is not known", event_.name,
                                 event_.element_type),
                     "its sizes cannot be read");
                return false;
            }
            for (const auto& [elements, bytes] : {std::pair{*event_.in_elements, &device.sent},
                                                  std::pair{*event_.out_elements, &device.received}}) {
                const std::optional<std::int64_t> message = bytes_of(*size, elements);
                if (!message) {
                    fail(fmt::format("'{}' has a message of {} elements of {} bytes", event_.name, elements,
                                     *size),
                         "a message has 0 to 4 TiB");
                    return false;
                }
                *bytes = Bytes(*message);
            }
        }
        trace_.device_events.push_back(device);
        return true;
    }

    PlaceBuffer& place_;
    std::shared_ptr<const SourceText> source_;
    KinetoTrace trace_;
    std::string path_;               // what is open: '{' and '['
    std::vector<std::string> keys_;  // of each of them, the last key; "" of a list
    KinetoFields event_;
    Nanoseconds duration_ = 0;  // of all events that are kept
    bool is_in_dims_ = false;
    bool has_events_ = false;
    std::unordered_map<std::string, std::uint32_t> indices_;
    Diagnostics errors_;
};

Result<KinetoTrace> read_from(std::streambuf& buffer, const std::string& name) {
    PlaceBuffer place(buffer);
    std::istream text(&place);
    KinetoReader reader(place, name);
    static_cast<void>(nlohmann::json::sax_parse(text, &reader));
    return std::move(reader).result();
}

}  // namespace

Result<KinetoTrace> read_kineto_trace(std::istream& text, const std::string& name) {
    return read_from(*text.rdbuf(), name);
}

Result<KinetoTrace> read_kineto_trace(const std::filesystem::path& path) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure)) {
        return Diagnostic{"calibrate.trace",
                          {},
                          fmt::format("cannot read '{}': it is no regular file", path.string()),
                          "",
                          {}};
    }
    GzipBuffer buffer(path);
    if (!buffer.is_open()) {
        return Diagnostic{"calibrate.trace", {}, fmt::format("cannot read '{}'", path.string()), "", {}};
    }
    Result<KinetoTrace> trace = read_from(buffer, path.string());
    if (buffer.is_broken()) {
        return Diagnostic{"calibrate.trace",
                          {},
                          fmt::format("'{}' is a gzip archive that is broken or ends early", path.string()),
                          "copy it again",
                          {}};
    }
    return trace;
}

}  // namespace astrolabe::experiment
