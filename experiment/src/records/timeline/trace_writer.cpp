#include "trace_writer.hpp"

#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

namespace astrolabe::experiment {
namespace {

constexpr std::string_view kBegin = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";

// Longer than any that a file of less than 100 TB comes to.
constexpr std::uint64_t kLongTrack = 1'000'000'000;
constexpr std::uint64_t kLongSpan = std::uint64_t{1} << 40;

constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;

/// Microseconds with every picosecond.
struct Microseconds {
    Time time;
};

std::string end_of_file(std::string_view facts) {
    return fmt::format("\n],\"otherData\":{}}}\n", facts);
}

}  // namespace
}  // namespace astrolabe::experiment

template <>
struct fmt::formatter<astrolabe::experiment::Microseconds> {
    constexpr auto parse(format_parse_context& context) { return context.begin(); }
    template <class Context>
    auto format(const astrolabe::experiment::Microseconds& value, Context& context) const {
        using astrolabe::experiment::kPicosecondsPerMicrosecond;
        return format_to(context.out(), "{}.{:06}", value.time.count() / kPicosecondsPerMicrosecond,
                         value.time.count() % kPicosecondsPerMicrosecond);
    }
};

namespace astrolabe::experiment {

std::string quoted_json(std::string_view text) {
    return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TraceWriter::TraceWriter()
    : next_track_(kLongTrack),
      next_span_(kLongSpan) {
    put(kBegin);
}

TraceWriter::TraceWriter(OutputFile file)
    : file_(std::move(file)),
      next_track_(1),
      next_span_(1) {
    put(kBegin);
}

void TraceWriter::put(std::string_view text) {
    written_ += text.size();
    if (file_) {
        file_->append(text);
    }
}

template <class... Arguments>
void TraceWriter::write(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line_.clear();
    if (std::exchange(has_events_, true)) {
        line_.append(std::string_view(",\n"));
    }
    fmt::format_to(std::back_inserter(line_), format, std::forward<Arguments>(arguments)...);
    put({line_.data(), line_.size()});
}

TraceProcess TraceWriter::add_process(std::string_view name) {
    const std::uint64_t id = next_track_++;
    write(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", id, quoted_json(name));
    write(R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})", id);
    return {id};
}

TraceThread TraceWriter::add_thread(TraceProcess process, std::string_view name) {
    const std::uint64_t id = next_track_++;
    write(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process.id, id,
          quoted_json(name));
    write(R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}})",
          process.id, id);
    return {process.id, id};
}

void TraceWriter::begin(TraceThread thread, Time time, const TraceText& text) {
    write(R"({{"ph":"B","pid":{},"tid":{},"ts":{},"cat":"{}","name":{},"args":{}}})", thread.process,
          thread.id, Microseconds{time}, text.category, text.name, text.arguments);
}

void TraceWriter::end(TraceThread thread, Time time) {
    write(R"({{"ph":"E","pid":{},"tid":{},"ts":{}}})", thread.process, thread.id, Microseconds{time});
}

void TraceWriter::span(TraceProcess process, Time from, Time to, const TraceText& text) {
    const std::uint64_t id = next_span_++;
    write(R"({{"ph":"b","pid":{},"id":"0x{:x}","ts":{},"cat":"{}","name":{},"args":{}}})", process.id, id,
          Microseconds{from}, text.category, text.name, text.arguments);
    write(R"({{"ph":"e","pid":{},"id":"0x{:x}","ts":{},"cat":"{}","name":{}}})", process.id, id,
          Microseconds{to}, text.category, text.name);
}

void TraceWriter::counter(TraceProcess process, Time time, std::string_view name, std::string_view key,
                          double value) {
    write(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{"{}":{:.9g}}}}})", process.id, Microseconds{time},
          name, key, value);
}

void TraceWriter::flow(char phase, TraceThread thread, Time time, std::string_view name, std::uint64_t id) {
    write(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"cat":"first message","name":{},"id":"0x{:x}","bp":"e"}})",
          phase, thread.process, thread.id, Microseconds{time}, name, id);
}

void TraceWriter::arrow(TraceThread from, Time at, const TraceText& text, TraceThread to, Time arrival,
                        const TraceText& arrival_text) {
    // Both ends belong to the slice that is open where they stand.
    const std::uint64_t id = next_span_++;
    begin(from, at, text);
    flow('s', from, at, text.name, id);
    end(from, at);
    begin(to, arrival, arrival_text);
    flow('f', to, arrival, text.name, id);
    end(to, arrival);
}

void TraceWriter::instant(TraceProcess process, Time time, std::string_view name) {
    write(R"({{"ph":"i","pid":{},"ts":{},"s":"p","name":{}}})", process.id, Microseconds{time}, name);
}

std::uint64_t TraceWriter::size_of_end(std::string_view facts) {
    return end_of_file(facts).size();
}

std::optional<Diagnostic> TraceWriter::finish(std::string_view facts) {
    put(end_of_file(facts));
    return file_->finish();
}

}  // namespace astrolabe::experiment
