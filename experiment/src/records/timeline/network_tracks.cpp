#include "network_tracks.hpp"

#include <algorithm>
#include <string>

namespace astrolabe::experiment {
namespace {

using network::Activity;

/// Cycles repeat, and more changes than these hide the rest.
constexpr std::uint64_t kMostChanges = 50'000;

void write_span(const Activity::Span& span, TraceThread thread, TraceWriter& writer) {
    const std::string name = quoted_json(span.name);
    const std::string arguments = span.arguments.dump();
    writer.slice(thread, span.from, span.to, {"circuits", name, arguments});
}

/// Of one cycle, with the threads of all tracks.
std::uint64_t most_bytes_of_cycle(const Activity& activity) {
    TraceWriter counting;
    const std::uint64_t begin = counting.written();
    for (std::uint32_t track = 0; track < activity.tracks.size(); ++track) {
        const TraceThread thread = counting.add_thread({~std::uint32_t{0}}, activity.tracks[track]);
        activity.longest_spans(track, [&](Activity::Span span) {
            span.from = Time::max();
            span.to = Time::max();
            write_span(span, thread, counting);
        });
    }
    // A track that was in the middle of a change at 0 has one more.
    return ((counting.written() - begin) / activity.changes + 1) * (activity.changes + 1);
}

}  // namespace

void write_marks(const Activity& activity, Time end, TraceProcess process, TraceWriter& writer) {
    for (const auto& [at, name] : activity.marks) {
        if (at < end) {
            writer.instant(process, at, quoted_json(name));
        }
    }
}

std::uint64_t most_bytes_of_marks(const Activity& activity) {
    TraceWriter counting;
    const std::uint64_t begin = counting.written();
    write_marks(activity, Time::max(), {~std::uint32_t{0}}, counting);
    return counting.written() - begin;
}

ActivityCoverage write_activity(const Activity& activity, Time end, std::uint64_t bytes, TraceProcess process,
                                TraceWriter& writer) {
    ActivityCoverage coverage;
    coverage.cycles =
        static_cast<std::uint64_t>(end / activity.cycle + (end % activity.cycle > Time(0) ? 1 : 0));
    const std::uint64_t of_cycle = activity.tracks.size() * activity.changes;
    coverage.shown = std::min({coverage.cycles, bytes / most_bytes_of_cycle(activity),
                               std::max<std::uint64_t>(1, kMostChanges / of_cycle)});
    if (coverage.shown == 0) {
        return coverage;
    }
    if (coverage.shown < coverage.cycles) {
        end = activity.cycle * static_cast<std::int64_t>(coverage.shown);
    }
    for (std::uint32_t track = 0; track < activity.tracks.size(); ++track) {
        const TraceThread thread = writer.add_thread(process, activity.tracks[track]);
        activity.spans(track, end,
                       [&](const Activity::Span& span) { write_span(span, thread, writer); });
    }
    return coverage;
}

}  // namespace astrolabe::experiment
