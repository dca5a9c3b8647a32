#include "rotor_family.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace astrolabe::network::rotor {
namespace {

/// "0-5 1-4": racks that the matching connects.
std::string connected_racks(const Matching& matching) {
    std::string text;
    for (Rack rack = 0; rack < matching.size(); ++rack) {
        if (matching[rack] > rack) {
            text += fmt::format("{}{}-{}", text.empty() ? "" : " ", rack, matching[rack]);
        }
    }
    return text;
}

Activity::Span installed_span(const Matching& matching, std::uint32_t index, Time from, Time to) {
    return {from, to, fmt::format("matching {}", index), {{"joins", connected_racks(matching)}}};
}

Activity::Span dark_span(Time from, Time to) {
    return {from, to, "reconfiguring", nlohmann::ordered_json::object()};
}

/// The time from superslice `at` on in which `rotor` holds what it installed there; none of it after `end`.
void add_installation(const RotorNetwork& network, Rotor rotor, std::int64_t at, Time end,
                      const Activity::Sink& sink) {
    const RotorSchedule& schedule = network.schedule;
    const Time superslice = schedule.timing().superslice();
    // What is up at time 0 was installed before where the rotor's phase is not 0.
    const std::int64_t first = std::max<std::int64_t>(at, 0);
    const Time from = superslice * first;
    const Time whole = superslice * (at + schedule.residence());
    const Time dark = std::min(whole - schedule.timing().reconfiguration, end);
    const Time to = std::min(whole, end);
    if (dark > from) {
        const std::uint32_t index = schedule.matching_index(rotor, static_cast<std::uint64_t>(first));
        const Matching& matching = network.schedule_of(network.state_at(from)).matching(rotor, index);
        sink(installed_span(matching, index, from, dark));
    }
    if (to > dark) {
        sink(dark_span(dark, to));
    }
}

}  // namespace

Activity rotor_activity(std::shared_ptr<const RotorNetwork> network) {
    const RotorSchedule& schedule = network->schedule;
    Activity activity;
    activity.name = "rotor switches";
    activity.cycle = schedule.cycle();
    activity.changes = schedule.matchings_per_rotor();
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        activity.tracks.push_back(fmt::format("rotor {}", rotor));
    }
    for (const RotorState& state : network->failing) {
        activity.marks.emplace_back(state.from, "parts fail");
    }
    activity.spans = [network](std::uint32_t rotor, Time end, const Activity::Sink& sink) {
        const std::int64_t residence = network->schedule.residence();
        const std::int64_t phase = network->schedule.phase(rotor);
        const Time superslice = network->schedule.timing().superslice();
        for (std::int64_t at = phase > 0 ? phase - residence : 0;
             superslice * std::max<std::int64_t>(at, 0) < end; at += residence) {
            add_installation(*network, rotor, at, end, sink);
        }
    };
    activity.longest_spans = [network](std::uint32_t rotor, const Activity::Sink& sink) {
        for (std::uint32_t index = 0; index < network->schedule.matchings_per_rotor(); ++index) {
            sink(installed_span(network->schedule.matching(rotor, index), index, Time(0), Time(0)));
            sink(dark_span(Time(0), Time(0)));
        }
    };
    return activity;
}

}  // namespace astrolabe::network::rotor
