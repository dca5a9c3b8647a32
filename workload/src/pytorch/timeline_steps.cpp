#include "timeline_steps.hpp"

#include "../rank_graphs/trace_file.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

namespace astrolabe::workload::pytorch {

std::vector<TimelineStep> steps_of(const KinetoTimeline& timeline) {
    std::vector<TimelineStep> steps;
    for (const HostEvent& event : timeline.host) {
        const std::string& name = timeline.names[event.name];
        std::int64_t number = 0;
        if (event.is_mark && name.starts_with(kStepMark) &&
            std::from_chars(name.data() + kStepMark.size(), name.data() + name.size(), number).ec ==
                std::errc()) {
            steps.push_back({number, event.start, event.end});
        }
    }
    if (steps.empty()) {
        TimelineStep all;
        bool is_first = true;
        for (const auto* events : {&timeline.host, &timeline.runtime}) {
            for (const HostEvent& event : *events) {
                all.start = is_first ? event.start : std::min(all.start, event.start);
                all.end = std::max(is_first ? event.end : all.end, event.end);
                is_first = false;
            }
        }
        ++all.end;
        steps.push_back(all);
    }
    return steps;
}

bool join_calls(KinetoTimeline& timeline, const ExecutionTrace* trace, Diagnostics& errors) {
    if (trace == nullptr) {
        return true;
    }
    std::vector<HostEvent*> events;
    bool have_ids = true;
    for (HostEvent& event : timeline.host) {
        if (timeline.names[event.name] == kCommEvent) {
            events.push_back(&event);
            have_ids = have_ids && event.rf_id != 0;
        }
    }
    std::unordered_map<std::uint64_t, std::size_t> by_id;
    for (std::size_t i = 0; i < trace->calls.size(); ++i) {
        by_id.emplace(trace->rf_ids[i], i);
    }
    if (!have_ids && events.size() != trace->calls.size()) {
        errors.push_back(
            trace_error("pytorch.join", timeline.file,
                        fmt::format("the timeline has {} calls of c10d, and the execution trace '{}' has {}",
                                    events.size(), trace->file, trace->calls.size()),
                        "give execution trace and timeline of the same rank and steps"));
        return false;
    }
    const std::size_t first = timeline.calls.size();
    timeline.calls.insert(timeline.calls.end(), trace->calls.begin(), trace->calls.end());
    std::size_t joined = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (!have_ids) {
            events[i]->call = static_cast<std::int32_t>(first + i);
            ++joined;
        } else if (const auto found = by_id.find(events[i]->rf_id); found != by_id.end()) {
            const CommCall& call = trace->calls[found->second];
            const std::int32_t own = events[i]->call;
            if (own >= 0 && timeline.calls[static_cast<std::size_t>(own)].in != call.in) {
                continue;
            }
            events[i]->call = static_cast<std::int32_t>(first + found->second);
            ++joined;
        }
    }
    if (joined == 0 && !events.empty()) {
        errors.push_back(
            trace_error("pytorch.join", timeline.file,
                        fmt::format("none of its {} calls of c10d is in the execution trace '{}'",
                                    events.size(), trace->file),
                        "give execution trace and timeline of the same rank and steps"));
        return false;
    }
    return true;
}

}  // namespace astrolabe::workload::pytorch
