#include "run_tracks.hpp"

#include <algorithm>
#include <string>

#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::experiment {
namespace {

using network::rotor::Matching;
using network::rotor::Rack;
using network::rotor::Rotor;
using network::rotor::RotorNetwork;
using network::rotor::RotorSchedule;

constexpr std::string_view kDark = "\"reconfiguring\"";
constexpr std::string_view kFailure = "\"parts fail\"";

/// They repeat, and more of them hide the rest.
constexpr std::uint64_t kMostInstallations = 50'000;

std::string rotor_name(Rotor rotor) {
    return fmt::format("rotor {}", rotor);
}

/// "0-5 1-4": racks that the matching joins.
std::string joined_racks(const Matching& matching) {
    std::string text;
    for (Rack rack = 0; rack < matching.size(); ++rack) {
        if (matching[rack] > rack) {
            text += fmt::format("{}{}-{}", text.empty() ? "" : " ", rack, matching[rack]);
        }
    }
    return text;
}

/// The time from one superslice on in which `rotor` holds what it installed there.
struct Installation {
    Rotor rotor = 0;
    std::uint32_t index = 0;
    const Matching* matching = nullptr;
    Time from;
    Time dark;  ///< from then on it carries nothing
    Time to;
};

void write_installation(const Installation& installed, TraceThread thread, TraceWriter& writer) {
    if (installed.dark > installed.from) {
        const std::string name = fmt::format("\"matching {}\"", installed.index);
        const std::string arguments = fmt::format(R"({{"joins":"{}"}})", joined_racks(*installed.matching));
        writer.slice(thread, installed.from, installed.dark, {"circuits", name, arguments});
    }
    if (installed.to > installed.dark) {
        writer.slice(thread, installed.dark, installed.to, {"circuits", kDark, "{}"});
    }
}

/// Of superslice `at`, in which the rotor installs something; none of it after `end`.
Installation installation(const RotorNetwork& network, Rotor rotor, std::int64_t at, Time end) {
    const RotorSchedule& schedule = network.schedule;
    const Time superslice = schedule.timing().superslice();
    // What is up at time 0 was installed before where the rotor's phase is not 0.
    const Time from = superslice * std::max<std::int64_t>(at, 0);
    const Time to = superslice * (at + schedule.residence());
    const std::uint32_t index =
        schedule.matching_index(rotor, static_cast<std::uint64_t>(std::max<std::int64_t>(at, 0)));
    const Matching& matching = network.schedule_of(network.state_at(from)).matching(rotor, index);
    return {rotor,
            index,
            &matching,
            from,
            std::min(to - schedule.timing().reconfiguration, end),
            std::min(to, end)};
}

/// Of one cycle, with the threads of all.
std::uint64_t most_bytes_of_cycle(const RotorNetwork& network) {
    TraceWriter counting;
    const std::uint64_t begin = counting.written();
    const RotorSchedule& schedule = network.schedule;
    const std::uint64_t matchings = schedule.matchings_per_rotor();
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        const TraceThread thread = counting.add_thread({~std::uint32_t{0}}, rotor_name(rotor));
        for (std::uint32_t index = 0; index < matchings; ++index) {
            const std::string name = fmt::format("\"matching {}\"", index);
            const std::string arguments =
                fmt::format(R"({{"joins":"{}"}})", joined_racks(schedule.matching(rotor, index)));
            counting.slice(thread, Time::max(), Time::max(), {"circuits", name, arguments});
            counting.slice(thread, Time::max(), Time::max(), {"circuits", kDark, "{}"});
        }
    }
    // A rotor that was in the middle of an installation at 0 has one more.
    return ((counting.written() - begin) / matchings + 1) * (matchings + 1);
}

}  // namespace

void write_failures(const RotorNetwork& network, Time end, TraceProcess process, TraceWriter& writer) {
    for (const network::rotor::RotorState& state : network.failing) {
        if (state.from < end) {
            writer.instant(process, state.from, kFailure);
        }
    }
}

std::uint64_t most_bytes_of_failures(const RotorNetwork& network) {
    TraceWriter counting;
    const std::uint64_t begin = counting.written();
    write_failures(network, Time::max(), {~std::uint32_t{0}}, counting);
    return counting.written() - begin;
}

RotorCoverage write_rotors(const RotorNetwork& network, Time end, std::uint64_t bytes, TraceProcess process,
                           TraceWriter& writer) {
    const RotorSchedule& schedule = network.schedule;
    const std::int64_t whole = end / schedule.cycle();
    RotorCoverage coverage{
        .cycles = static_cast<std::uint64_t>(whole + (end % schedule.cycle() > Time(0) ? 1 : 0))};
    const std::uint64_t of_cycle = std::uint64_t{schedule.uplinks()} * schedule.matchings_per_rotor();
    coverage.shown = std::min({coverage.cycles, bytes / most_bytes_of_cycle(network),
                               std::max<std::uint64_t>(1, kMostInstallations / of_cycle)});
    if (coverage.shown == 0) {
        return coverage;
    }
    if (coverage.shown < coverage.cycles) {
        end = schedule.cycle() * coverage.shown;
    }
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        const TraceThread thread = writer.add_thread(process, rotor_name(rotor));
        const std::int64_t residence = schedule.residence();
        const std::int64_t phase = schedule.phase(rotor);
        for (std::int64_t at = phase > 0 ? phase - residence : 0;
             schedule.timing().superslice() * std::max<std::int64_t>(at, 0) < end; at += residence) {
            write_installation(installation(network, rotor, at, end), thread, writer);
        }
    }
    return coverage;
}

}  // namespace astrolabe::experiment
