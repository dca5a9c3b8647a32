#include "../topologies/checks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/opera/matchings.hpp>
#include <astrolabe/network/opera/opera.hpp>
#include <astrolabe/network/opera/rotor_draw.hpp>
#include <astrolabe/network/opera/rotor_fabric.hpp>
#include <astrolabe/network/opera/rotor_failures.hpp>
#include <astrolabe/network/opera/rotor_timing.hpp>
#include <astrolabe/network/opera/slice_paths.hpp>

namespace astrolabe::network::opera {

namespace {

constexpr std::int64_t kMaxUplinks = kMaxRacks;
constexpr std::int64_t kMaxQueue = 1'000'000;
constexpr std::int64_t kMaxDraws = 10'000;
/// Longest p, q sigma, r and given part of a superslice. eps is then at most (H - 1) 2 + 1 s, H < 512, and a
/// cycle of 512 superslices 6 days.
constexpr Time kMaxPart = Time(kPicosecondsPerSecond);

std::int64_t uplinks_of(const OperaParameters& p) {
    return p.uplinks != 0 ? p.uplinks : p.radix / 2;
}

Bytes packet_of(const OperaParameters& p) {
    return p.bulk.payload + p.bulk.header;
}

DrawnRotors draw(const OperaParameters& p) {
    return draw_rotors({.racks = static_cast<std::uint32_t>(p.racks),
                        .uplinks = static_cast<std::uint32_t>(uplinks_of(p)),
                        .groups = static_cast<std::uint32_t>(p.groups),
                        .draws = static_cast<std::uint32_t>(p.draws),
                        .lift_from = static_cast<std::uint32_t>(p.lift_from),
                        .seed = static_cast<std::uint64_t>(p.seed)});
}

void check_shape(detail::ParameterCheck& check, const OperaParameters& p) {
    check.count("racks", p.racks, 2, kMaxRacks, "say how many racks there are");
    if ((p.radix == 0) == (p.uplinks == 0)) {
        check.report("uplinks",
                     fmt::format("radix is {} and uplinks is {}, expected one of both", p.radix, p.uplinks),
                     "radix: 8 stands for 4 uplinks and 4 hosts a rack");
    } else if (p.radix != 0 && (p.radix < 2 || p.radix % 2 != 0 || p.radix > 2 * kMaxUplinks)) {
        check.report(
            "radix",
            fmt::format("radix is {}, expected an even number from 2 to {}", p.radix, 2 * kMaxUplinks),
            "half of a switch's ports are uplinks, one to each rotor");
    } else {
        check.count(p.radix != 0 ? "radix" : "uplinks", uplinks_of(p), 1, kMaxUplinks,
                    "every rack has one uplink to each rotor");
    }
    check.count("hosts_per_rack", p.hosts_per_rack, 0, kMaxHosts / kMaxRacks,
                "0 stands for as many as uplinks");
    if (!check.sound()) {
        return;
    }
    const std::int64_t uplinks = uplinks_of(p);
    if (p.racks % uplinks != 0) {
        const std::int64_t next = (p.racks / uplinks + 1) * uplinks;
        check.report("racks",
                     fmt::format("the {} matchings of {} racks cannot be dealt to {} rotors evenly", p.racks,
                                 p.racks, uplinks),
                     fmt::format("take {} racks, or another number of uplinks", next));
    }
    if (p.groups < 1 || uplinks % p.groups != 0) {
        check.report("groups", fmt::format("groups is {}, expected a divisor of {}", p.groups, uplinks),
                     "groups of equally many rotors reconfigure in parallel; 1 is Opera as published");
    }
    if (p.lift_from < 0 || (p.lift_from > 0 && p.racks % p.lift_from != 0)) {
        check.report("lift_from",
                     fmt::format("lift_from is {}, expected 0 or a divisor of {}", p.lift_from, p.racks),
                     "0 draws the matchings of all racks without lifting");
    }
}

void check_part(detail::ParameterCheck& check, const char* key, Time part) {
    if (part < Time(0) || part > kMaxPart) {
        check.report(key,
                     fmt::format("{} is {}, expected 0 to {}", key, to_string(part), to_string(kMaxPart)),
                     "it is a part of a superslice, for example 10us");
    }
}

void check_times(detail::ParameterCheck& check, const OperaParameters& p) {
    check.rate("link.rate", p.link.rate);
    check.latency("link.latency", p.link.latency);
    check_part(check, "propagation", p.propagation);
    check_part(check, "reconfiguration_delay", p.reconfiguration_delay);
    if (check.count("queue", p.queue, 1, kMaxQueue, "full packets a port holds") && check.sound()) {
        const Time full = packet_of(p) * p.queue / p.link.rate;
        if (full > kMaxPart) {
            check.report("queue",
                         fmt::format("a queue of {} packets takes {} to send, expected at most {}", p.queue,
                                     to_string(full), to_string(kMaxPart)),
                         "hold fewer packets, or check the unit of link.rate");
        }
    }
    check.count("draws", p.draws, 1, kMaxDraws, "the best of so many random networks is taken");
    if (p.eps) {
        check_part(check, "eps", *p.eps);
    }
    if (p.del) {
        check_part(check, "del", *p.del);
    }
}

void check_services(detail::ParameterCheck& check, const OperaParameters& p) {
    const std::int64_t most = 65'536;
    check.count("bulk.payload", p.bulk.payload.count(), 1, most, "bytes of a packet beside its header");
    check.count("bulk.header", p.bulk.header.count(), 0, most, "bytes of a packet beside its payload");
    if (p.bulk.routing == BulkRouting::kDirectOnly && p.bulk.own_rack == OwnRack::kTwoHops) {
        check.report("bulk.own_rack", "own_rack is two_hops, which routing direct does not have",
                     "write own_rack: direct, or routing: rotor_lb");
    }
    if (p.low_latency.cutoff < Bytes(0)) {
        check.report("low_latency.cutoff",
                     fmt::format("cutoff is {}, expected 0 or more", to_string(p.low_latency.cutoff)),
                     "messages below the cutoff are low-latency; 0 stands for none");
    }
    check.count("low_latency.window", p.low_latency.window, 1, kMaxQueue,
                "packets sent before the first pull");
    check.count("low_latency.paths", p.low_latency.paths, 1, 1'000,
                "shortest paths that packets of a pair of racks spread over");
}

RotorTiming timing_of(const OperaParameters& p, const HopCounts& hops) {
    RotorTiming timing =
        derive_timing({.propagation = p.propagation,
                       .queue = p.queue,
                       .packet = packet_of(p),
                       .rate = p.link.rate,
                       .most_hops = std::max<std::int64_t>(1, static_cast<std::int64_t>(hops.worst())),
                       .reconfiguration = p.reconfiguration_delay});
    timing.eps = p.eps.value_or(timing.eps);
    timing.del = p.del.value_or(timing.del);
    return timing;
}

/// Which parameter needs a path between all racks in every superslice; null: none, or a file lists them.
const char* paths_needed_by(const OperaParameters& p) {
    if (p.topology) {
        return nullptr;
    }
    if (p.low_latency.cutoff > Bytes(0)) {
        return "low_latency.cutoff";
    }
    return p.eps ? nullptr : "the length of eps, which is not given,";
}

/// What a topology file says cannot be said again.
void check_beside_file(detail::ParameterCheck& check, const OperaParameters& p) {
    const OperaParameters unset;
    const auto said = [&check](const char* key, const std::string& value) {
        check.report(key, fmt::format("{} is {}, but the topology file says it", key, value),
                     "leave it out, or leave file out");
    };
    constexpr std::pair<const char*, std::int64_t OperaParameters::*> kCounts[] = {
        {"racks", &OperaParameters::racks},         {"radix", &OperaParameters::radix},
        {"uplinks", &OperaParameters::uplinks},     {"hosts_per_rack", &OperaParameters::hosts_per_rack},
        {"groups", &OperaParameters::groups},       {"draws", &OperaParameters::draws},
        {"lift_from", &OperaParameters::lift_from}, {"seed", &OperaParameters::seed}};
    for (const auto& [key, member] : kCounts) {
        if (p.*member != unset.*member) {
            said(key, std::to_string(p.*member));
        }
    }
    if (p.reconfiguration_delay != unset.reconfiguration_delay &&
        p.reconfiguration_delay != p.topology->schedule.timing().reconfiguration) {
        said("reconfiguration_delay", to_string(p.reconfiguration_delay));
    }
    if (p.eps) {
        said("eps", to_string(*p.eps));
    }
    if (p.del) {
        said("del", to_string(*p.del));
    }
    if (p.low_latency.paths != unset.low_latency.paths) {
        said("low_latency.paths", std::to_string(p.low_latency.paths));
    }
}

void check_failures(detail::ParameterCheck& check, const OperaParameters& p) {
    const std::int64_t racks = p.topology ? p.topology->schedule.racks() : p.racks;
    const std::int64_t uplinks = p.topology ? p.topology->schedule.uplinks() : uplinks_of(p);
    check.count("failures.cables", p.failures.cables, 0, racks * uplinks,
                "a rack has one cable to each rotor");
    check.count("failures.racks", p.failures.racks, 0, racks, "so many racks fail");
    check.count("failures.rotors", p.failures.rotors, 0, uplinks, "so many rotors fail");
}

ParameterProblems problems_before_drawing(const OperaParameters& p) {
    detail::ParameterCheck check;
    check_services(check, p);
    if (p.topology) {
        check_beside_file(check, p);
    } else {
        check_shape(check, p);
    }
    if (check.sound()) {
        check_failures(check, p);
    }
    check_times(check, p);
    if (p.eps == Time(0) && p.del == Time(0) && p.reconfiguration_delay == Time(0)) {
        check.report("eps", "eps, del and reconfiguration_delay are all 0: a superslice has no length",
                     "leave eps and del out to derive them");
    }
    return std::move(check).take();
}

/// Before anything failed; precondition: no problems before drawing.
RotorSchedule whole_schedule(const OperaParameters& p) {
    if (p.topology) {
        return p.topology->schedule;
    }
    DrawnRotors drawn = draw(p);
    ASTROLABE_ASSERT(drawn.hops.disconnected() == 0 || paths_needed_by(p) == nullptr,
                     "a network is refused if it lacks paths that are needed");
    const RotorTiming timing = timing_of(p, drawn.hops);
    return {std::move(drawn.matchings), static_cast<std::uint32_t>(p.groups), timing};
}

RotorSchedule degraded(RotorSchedule schedule, const FailureParameters& failures) {
    if (!failures.any()) {
        return schedule;
    }
    RandomStream random(static_cast<std::uint64_t>(failures.seed), "failures");
    const FailureCounts counts{static_cast<std::uint32_t>(failures.cables),
                               static_cast<std::uint32_t>(failures.racks),
                               static_cast<std::uint32_t>(failures.rotors)};
    return without_failed(schedule, draw_failures(schedule, counts, random));
}

ParameterProblems all_problems(const OperaParameters& p) {
    ParameterProblems found = problems_before_drawing(p);
    const char* needed_by = paths_needed_by(p);
    if (found.empty() && needed_by != nullptr) {
        const DrawnRotors drawn = draw(p);
        if (drawn.hops.disconnected() > 0) {
            found.push_back(
                {"uplinks",
                 fmt::format("no draw joins all racks in every superslice: {} of {} pairs are without a path "
                             "over the {} rotors that stay up, and {} needs paths",
                             drawn.hops.disconnected(), drawn.hops.pairs(), uplinks_of(p) - p.groups,
                             needed_by),
                 "take more uplinks, more draws or another seed; or give eps and leave low_latency out"});
        }
    }
    if (found.empty() && p.failures.any() && p.low_latency.cutoff > Bytes(0)) {
        const HopCounts hops = HopCounts::of_cycle(degraded(whole_schedule(p), p.failures));
        if (hops.disconnected() > 0) {
            found.push_back(
                {"failures",
                 fmt::format("{} of {} pairs of racks, superslice by superslice, are left without a "
                             "path, and low_latency.cutoff needs paths",
                             hops.disconnected(), hops.pairs()),
                 "have less fail, or leave low_latency out: bulk waits for other circuits"});
        }
    }
    return found;
}

/// Of rotors of which one goes dark at a time, whatever the kind.
OperaParameters in_turn(const RotorNetParameters& parameters) {
    OperaParameters p = parameters;
    p.groups = 1;
    p.low_latency = {};
    return p;
}

std::shared_ptr<RotorNetwork> network_of(const OperaParameters& p, RotorSchedule schedule) {
    const OwnRack own_rack = p.bulk.own_rack.value_or(
        p.bulk.routing == BulkRouting::kRotorLb ? OwnRack::kTwoHops : OwnRack::kDirect);
    const std::int64_t hosts = p.topology              ? p.topology->hosts_per_rack
                               : p.hosts_per_rack != 0 ? p.hosts_per_rack
                                                       : uplinks_of(p);
    return std::make_shared<RotorNetwork>(
        RotorNetwork{.schedule = std::move(schedule),
                     .hosts_per_rack = static_cast<std::uint32_t>(hosts),
                     .rate = p.link.rate,
                     .propagation = p.propagation,
                     .host_latency = p.link.latency,
                     .bulk = {p.bulk.routing, own_rack, p.bulk.payload, p.bulk.header},
                     .low_latency = {p.low_latency.cutoff, p.queue, p.low_latency.window},
                     .paths = nullptr,
                     .seed = static_cast<std::uint64_t>(p.run_seed)});
}

}  // namespace

ParameterProblems problems(const OperaParameters& parameters) {
    return all_problems(parameters);
}

ParameterProblems problems(const RotorNetParameters& parameters) {
    return all_problems(in_turn(parameters));
}

std::shared_ptr<const RotorNetwork> make_rotor_network(const OperaParameters& parameters) {
    const OperaParameters& p = parameters;
    ASTROLABE_ASSERT(problems_before_drawing(p).empty(), "parameters are checked before a network is made");
    const std::shared_ptr<RotorNetwork> network = network_of(p, degraded(whole_schedule(p), p.failures));
    if (p.topology && !p.failures.any()) {
        network->paths = p.topology->paths;
    } else if (HopCounts::of_cycle(network->schedule).disconnected() == 0) {
        network->paths = std::make_shared<ShortestSlicePaths>(
            network->schedule, static_cast<std::size_t>(p.low_latency.paths), network->seed);
    }
    return network;
}

std::shared_ptr<const RotorNetwork> make_rotor_network(const RotorNetParameters& parameters) {
    const OperaParameters p = in_turn(parameters);
    ASTROLABE_ASSERT(problems_before_drawing(p).empty(), "parameters are checked before a network is made");
    const RotorSchedule schedule = whole_schedule(p);
    const std::uint32_t uplinks = schedule.uplinks();
    std::vector<std::vector<Matching>> matchings(uplinks);
    for (Rotor rotor = 0; rotor < uplinks; ++rotor) {
        for (std::uint32_t index = 0; index < schedule.matchings_per_rotor(); ++index) {
            matchings[rotor].push_back(schedule.matching(rotor, index));
        }
    }
    const RotorTiming timing = p.eps ? schedule.timing() : switched_together(schedule.timing(), uplinks);
    return network_of(p, degraded({std::move(matchings), uplinks, timing}, p.failures));
}

std::shared_ptr<const Fabric> build_opera(const OperaParameters& parameters) {
    return build_rotor_fabric("opera", make_rotor_network(parameters));
}

std::shared_ptr<const Fabric> build_rotornet(const RotorNetParameters& parameters) {
    return build_rotor_fabric("rotornet", make_rotor_network(parameters));
}

}  // namespace astrolabe::network::opera
