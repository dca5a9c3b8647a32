/// Events of a trace in the JSON format of Chrome's about:tracing, which Perfetto reads, one per line.
///
/// Times are microseconds with every picosecond: six decimals. A slice of a thread is two events, its begin
/// and its end, so that the end of one and the begin of the next are the same text: readers that round times
/// round both alike, and slices that touch never overlap. What may overlap is an asynchronous span, each with
/// an id of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::experiment {

/// The text as a JSON string, quotes included; what is no UTF-8 is replaced.
[[nodiscard]] std::string quoted_json(std::string_view text);

/// Where an event is shown. No number stands for two processes or threads.
struct TraceProcess {
    std::uint64_t id = 0;
};
struct TraceThread {
    std::uint64_t process = 0;
    std::uint64_t id = 0;
};

/// What a slice or a span is called; all of it JSON.
struct TraceText {
    std::string_view category;   ///< without quotes
    std::string_view name;       ///< with quotes
    std::string_view arguments;  ///< an object
};

class TraceWriter {
public:
    /// Counts what it would write, with the longest numbers; for upper bounds.
    TraceWriter();
    explicit TraceWriter(OutputFile file);

    TraceProcess add_process(std::string_view name);
    TraceThread add_thread(TraceProcess process, std::string_view name);

    void begin(TraceThread thread, Time time, const TraceText& text);
    void end(TraceThread thread, Time time);
    void slice(TraceThread thread, Time from, Time to, const TraceText& text) {
        begin(thread, from, text);
        end(thread, to);
    }
    /// May overlap any other.
    void span(TraceProcess process, Time from, Time to, const TraceText& text);
    /// `key` is without quotes, `name` with.
    void counter(TraceProcess process, Time time, std::string_view name, std::string_view key, double value);
    /// An arrow from a slice without length to another, which it makes.
    void arrow(TraceThread from, Time at, const TraceText& text, TraceThread to, Time arrival,
               const TraceText& arrival_text);
    /// Of a whole process.
    void instant(TraceProcess process, Time time, std::string_view name);

    /// Bytes so far, without the end of the file.
    [[nodiscard]] std::uint64_t written() const { return written_; }
    /// Of the file's end with these facts.
    [[nodiscard]] static std::uint64_t size_of_end(std::string_view facts);

    /// Ends the file; `facts` is a JSON object. Nothing, or why it could not be written.
    [[nodiscard]] std::optional<Diagnostic> finish(std::string_view facts);

private:
    template <class... Arguments>
    void write(fmt::format_string<Arguments...> format, Arguments&&... arguments);
    void flow(char phase, TraceThread thread, Time time, std::string_view name, std::uint64_t id);
    void put(std::string_view text);

    std::optional<OutputFile> file_;
    std::uint64_t written_ = 0;
    std::uint64_t next_track_;
    std::uint64_t next_span_;
    bool has_events_ = false;
    fmt::memory_buffer line_;
};

}  // namespace astrolabe::experiment
