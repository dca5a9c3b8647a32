#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/experiment/records/recorder.hpp>

namespace astrolabe::experiment {
namespace {

/// The text of an option of the command line.
SourceRange option_range(const std::string& option, const std::string& text) {
    return {std::make_shared<const SourceText>(SourceText{option, text}), 1, 1,
            static_cast<int>(text.size())};
}

std::optional<Diagnostic> refusal(const RecorderOptions& options, const Experiment& experiment) {
    if (experiment.backend.reports_packets ||
        (options.packet_trace.empty() && options.queue_series.empty())) {
        return std::nullopt;
    }
    return Diagnostic{"record.no-packets",
                      {},
                      fmt::format("backend '{}' does not report packets and queues", experiment.backend_kind),
                      "--packet-trace and --queue-series need --set backend.kind=packet",
                      {}};
}

Result<Time> read_interval(const char* option, const std::string& text) {
    const Parsed<Time> parsed = parse_time(text);
    if (const auto* failure = std::get_if<ParseFailure>(&parsed)) {
        return Diagnostic{"record.interval", option_range(option, text), failure->message, failure->hint, {}};
    }
    if (std::get<Time>(parsed) <= Time(0)) {
        return Diagnostic{"record.interval",
                          option_range(option, text),
                          fmt::format("'{}' is no interval", text),
                          "a time above 0, such as 10us",
                          {}};
    }
    return std::get<Time>(parsed);
}

/// In quotes, of what is long the beginning.
std::string shortened(const std::string& text) {
    constexpr std::size_t kMost = 80;
    std::size_t length = std::min(text.size(), kMost);
    while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) {
        --length;  // a character is not cut in two
    }
    return fmt::format("'{}{}'", text.substr(0, length), length < text.size() ? "…" : "");
}

/// By link, whether its name is meant.
Result<std::vector<bool>> read_links(const std::string& pattern, const network::Fabric& fabric) {
    std::vector<bool> links(fabric.link_count(), pattern.empty());
    if (pattern.empty()) {
        return links;
    }
    // RE2 takes time linear in the name, whatever the expression, and refuses one that would take more memory
    // than it is given.
    RE2::Options options(RE2::CannedOptions::Quiet);
    options.set_max_mem(std::int64_t{8} << 20);
    const RE2 expression(pattern, options);
    if (!expression.ok()) {
        return Diagnostic{
            "record.links",
            option_range("--trace-links", pattern),
            fmt::format("{} is no regular expression: {}", shortened(pattern), shortened(expression.error())),
            "names are matched, such as 'host 3 -> '; the syntax is RE2's, without references "
            "back and looking ahead",
            {}};
    }
    bool any = false;
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        links[id.index()] = RE2::PartialMatch(link_name(fabric, id), expression);
        any = any || links[id.index()];
    }
    if (!any) {
        return Diagnostic{
            "record.links",
            option_range("--trace-links", pattern),
            fmt::format("no link's name matches {}", shortened(pattern)),
            fmt::format("links are called '{}' and so on", link_name(fabric, network::LinkId(0))),
            {}};
    }
    return links;
}

/// Of the timeline of this experiment.
Result<Bytes> read_size(const std::string& text, const Experiment& experiment) {
    const char* const option = "--timeline-size";
    const Parsed<Bytes> parsed = parse_bytes(text);
    if (const auto* failure = std::get_if<ParseFailure>(&parsed)) {
        return Diagnostic{"record.size", option_range(option, text), failure->message, failure->hint, {}};
    }
    const Bytes least = Timeline::least_size(experiment);
    if (std::get<Bytes>(parsed) < least) {
        return Diagnostic{"record.size",
                          option_range(option, text),
                          fmt::format("a timeline of one rank may take {}", readable(least)),
                          fmt::format("--timeline-size {}B or more", least.count()),
                          {}};
    }
    return std::get<Bytes>(parsed);
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::open(const RecorderOptions& options, const Experiment& experiment,
                                                 const OutputFolder* folder) {
    Diagnostics errors;
    if (std::optional<Diagnostic> refused = refusal(options, experiment)) {
        errors.push_back(*std::move(refused));
    }
    const auto value = [&errors](auto result) -> std::optional<typename decltype(result)::value_type> {
        if (!result) {
            errors.insert(errors.end(), result.error().begin(), result.error().end());
            return std::nullopt;
        }
        return std::move(*result);
    };
    const network::Fabric& fabric = *experiment.fabric;
    std::optional<Time> interval;
    if (!options.queue_series.empty()) {
        interval = value(read_interval("--queue-series", options.queue_series));
    }
    std::optional<Time> throughput_interval;
    if (!options.throughput.empty()) {
        throughput_interval = value(read_interval("--throughput", options.throughput));
    }
    std::optional<Bytes> timeline_size;
    if (options.timeline) {
        timeline_size = value(read_size(options.timeline_size, experiment));
    }
    std::optional<std::vector<bool>> links = value(read_links(options.trace_links, fabric));
    if (!errors.empty()) {
        return errors;
    }
    std::unique_ptr<Recorder> recorder(new Recorder);
    if (options.flows) {
        if (auto file = value(folder->create("flows.csv"))) {
            recorder->flows_.emplace(experiment, *std::move(file));
        }
    }
    if (throughput_interval) {
        auto file = value(folder->create("throughput.csv"));
        std::optional<OutputFile> carried;
        if (experiment.backend.shares_links) {
            if (auto second = value(folder->create("carried.csv"))) {
                carried.emplace(*std::move(second));
            }
        }
        if (file && errors.empty()) {
            recorder->throughput_.emplace(fabric, *throughput_interval, *std::move(file), std::move(carried));
            recorder->of_links_.push_back(&recorder->throughput_->links());
        }
    }
    if (timeline_size) {
        const std::string name = options.timeline_file();
        if (auto file = value(options.plain_timeline ? folder->create(name) : folder->create_gzipped(name))) {
            recorder->timeline_.emplace(experiment, *timeline_size, *std::move(file));
            RecorderOptions other;
            other.plain_timeline = !options.plain_timeline;
            recorder->other_timeline_ = folder->path() / other.timeline_file();
            recorder->of_links_.push_back(&recorder->timeline_->links());
        }
    }
    std::vector<PacketSink*> sinks;
    if (!options.packet_trace.empty()) {
        if (auto file = value(OutputFile::create(options.packet_trace))) {
            sinks.push_back(&recorder->capture_.emplace(fabric, *std::move(links), *std::move(file)));
        }
    }
    if (interval) {
        if (auto file = value(folder->create("queues.csv"))) {
            sinks.push_back(&recorder->queues_.emplace(fabric, *interval, *std::move(file)));
        }
    }
    if (!errors.empty()) {
        return errors;
    }
    if (!sinks.empty()) {
        recorder->sequencer_.emplace(reporting_window(fabric), std::move(sinks));
    }
    return recorder;
}

RunObservers Recorder::observers() {
    return {.messages = flows_ || throughput_ || timeline_ ? this : nullptr,
            .packets = sequencer_ ? &*sequencer_ : nullptr,
            .links = of_links_.empty() ? nullptr : this,
            .execution = timeline_ ? &*timeline_ : nullptr};
}

void Recorder::message(const network::MessageRecord& record) {
    if (flows_) {
        flows_->message(record);
    }
    if (throughput_) {
        throughput_->message(record);
    }
    if (timeline_) {
        timeline_->message(record);
    }
}

void Recorder::links_are_alike(std::span<const std::uint32_t> class_of) {
    for (network::LinkObserver* observer : of_links_) {
        observer->links_are_alike(class_of);
    }
}

/// The shortest of all: who has longer ones needs no more.
Time Recorder::interval(Time end) {
    Time shortest = Time::max();
    for (network::LinkObserver* observer : of_links_) {
        shortest = std::min(shortest, observer->interval(end));
    }
    return shortest;
}

void Recorder::carried(network::LinkId link, Time from, Time to, const network::PieceBytes& bytes) {
    for (network::LinkObserver* observer : of_links_) {
        observer->carried(link, from, to, bytes);
    }
}

void Recorder::delivered(network::HostId destination, Time from, Time to, double payload) {
    for (network::LinkObserver* observer : of_links_) {
        observer->delivered(destination, from, to, payload);
    }
}

void Recorder::sum_up(Run& run) const {
    if (flows_) {
        run.message_times = flows_->times();
    }
}

std::vector<std::string> Recorder::left_out() const {
    return timeline_ ? timeline_->left_out() : std::vector<std::string>();
}

Diagnostics Recorder::finish(const Run& run) {
    Diagnostics errors;
    const auto note = [&errors](std::optional<Diagnostic> error) {
        if (error) {
            errors.push_back(*std::move(error));
        }
    };
    if (sequencer_) {
        sequencer_->finish();
    }
    if (flows_) {
        note(flows_->finish());
    }
    if (throughput_) {
        const Diagnostics unwritten = throughput_->finish(run.network, run.link_reports, under_way(run));
        errors.insert(errors.end(), unwritten.begin(), unwritten.end());
    }
    if (capture_) {
        note(capture_->finish());
    }
    if (queues_) {
        note(queues_->finish(run.execution.total));
    }
    if (timeline_) {
        std::optional<Diagnostic> error = timeline_->finish(run);
        if (!error) {
            std::error_code none;  // or it stays, older than the one beside it
            std::filesystem::remove(other_timeline_, none);
        }
        note(std::move(error));
    }
    return errors;
}

}  // namespace astrolabe::experiment
