#include "opera_checks.hpp"

#include "../topologies/checks.hpp"
#include "failures/failure_list.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/network/rotor/factorisation.hpp>

namespace astrolabe::network::rotor {

std::int64_t uplinks_of(const OperaParameters& p) {
    return p.uplinks != 0 ? p.uplinks : p.radix / 2;
}

Bytes packet_of(const OperaParameters& p) {
    return p.bulk.payload + p.bulk.header;
}

Bandwidth circuit_rate_of(const OperaParameters& p) {
    return p.uplink_rate.value_or(p.link.rate);
}

namespace {

constexpr std::int64_t kMaxUplinks = kMaxRacks;
constexpr std::int64_t kMaxQueue = 1'000'000;
constexpr std::int64_t kMaxNetworkDraws = 10'000;
/// Longest p, q sigma, r and given part of a superslice. eps is then at most (H - 1) 2 + 1 s, H < 512, and a
/// cycle of 512 superslices 6 days.
constexpr Time kMaxPart = Time(kPicosecondsPerSecond);

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
    if (p.uplink_rate) {
        check.rate("uplink_rate", *p.uplink_rate);
    }
    check.latency("link.latency", p.link.latency);
    check_part(check, "propagation", p.propagation);
    check_part(check, "reconfiguration_delay", p.reconfiguration_delay);
    if (check.count("queue", p.queue, 1, kMaxQueue, "full packets a port holds") && check.sound()) {
        const Time full = packet_of(p) * p.queue / std::min(p.link.rate, circuit_rate_of(p));
        if (full > kMaxPart) {
            check.report("queue",
                         fmt::format("a queue of {} packets takes {} to send, expected at most {}", p.queue,
                                     to_string(full), to_string(kMaxPart)),
                         "hold fewer packets, or check the unit of link.rate");
        }
    }
    check.count("draws", p.draws, 1, kMaxNetworkDraws, "the best of so many random networks is taken");
    if (p.eps) {
        check_part(check, "eps", *p.eps);
    }
    if (p.del) {
        check_part(check, "del", *p.del);
    }
}

/// Of each list, and no class of both.
void check_classes(detail::ParameterCheck& check, const OperaParameters& p) {
    const auto list = [&check](const char* key, const std::vector<std::uint32_t>& classes,
                               const TrafficClasses& others) {
        TrafficClasses listed;
        for (const std::uint32_t one : classes) {
            if (!check.count(key, one, 0, TrafficClasses::kMost, "messages have one of eight classes")) {
                continue;
            }
            if (listed.contain(one) || others.contain(one)) {
                check.report(key, fmt::format("class {} is listed twice", one),
                             "a class is bulk or low-latency; leave it out of one of the lists");
            }
            listed.add(one);
        }
        return listed;
    };
    const TrafficClasses low = list("low_latency.classes", p.low_latency.classes, {});
    const TrafficClasses bulk = list("bulk.classes", p.bulk.classes, low);
    if (!bulk.empty() && p.low_latency.cutoff == Bytes(0)) {
        check.report("bulk.classes", "no message is low-latency by its size, so that these are bulk anyway",
                     "leave classes out, or give low_latency.cutoff");
    }
}

void check_services(detail::ParameterCheck& check, const OperaParameters& p) {
    const std::int64_t most = 65'536;
    check.count("bulk.payload", p.bulk.payload.count(), 1, most, "bytes of a packet beside its header");
    check.count("bulk.header", p.bulk.header.count(), 0, most, "bytes of a packet beside its payload");
    if (p.bulk.routing == BulkRouting::kDirectOnly && p.bulk.intra_rack == IntraRack::kTwoHops) {
        check.report("bulk.intra_rack", "intra_rack is two_hops, which routing direct does not have",
                     "write intra_rack: direct, or routing: rotor_lb");
    }
    if (p.low_latency.cutoff < Bytes(0)) {
        check.report("low_latency.cutoff",
                     fmt::format("cutoff is {}, expected 0 or more", to_string(p.low_latency.cutoff)),
                     "messages below the cutoff are low-latency; 0 stands for none");
    }
    check_classes(check, p);
    check.count("low_latency.window", p.low_latency.window, 1, kMaxQueue,
                "packets sent before the first pull");
    check.count("low_latency.paths", p.low_latency.paths, 1, 1'000,
                "shortest paths that packets of a pair of racks spread over");
}

/// What a topology file has cannot be given again.
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
    const Time del = p.topology->schedule.timing().del;
    const Bandwidth rate = circuit_rate_of(p);
    if (rate > Bandwidth(0) && del < p.propagation + packet_of(p) / rate) {
        check.report(p.propagation > packet_of(p) / rate ? "propagation"
                     : p.uplink_rate                     ? "uplink_rate"
                                                         : "link.rate",
                     fmt::format("the last packet of a slot takes {} and {} of propagation, and the topology "
                                 "file gives it {} (del)",
                                 to_string(packet_of(p) / rate), to_string(p.propagation), to_string(del)),
                     "lengths in line 2 of the file are those of the links it was made for: say their rate "
                     "and propagation");
    }
    if (p.low_latency.paths != unset.low_latency.paths) {
        said("low_latency.paths", std::to_string(p.low_latency.paths));
    }
}

}  // namespace

ValidationErrors problems_before_drawing(const OperaParameters& p) {
    detail::ParameterCheck check;
    check_services(check, p);
    if (p.topology) {
        check_beside_file(check, p);
    } else {
        check_shape(check, p);
    }
    if (check.sound()) {
        check_failures(check, p.failures, p.topology ? p.topology->schedule.racks() : p.racks,
                       p.topology ? p.topology->schedule.uplinks() : uplinks_of(p));
    }
    check_times(check, p);
    if (p.eps == Time(0) && p.del == Time(0) && p.reconfiguration_delay == Time(0)) {
        check.report("eps", "eps, del and reconfiguration_delay are all 0: a superslice has no length",
                     "leave eps and del out to derive them");
    }
    return std::move(check).take();
}

ValidationErrors problems_of_switching_together(const OperaParameters& p) {
    const OperaParameters unset;
    detail::ParameterCheck check;
    const auto meaningless = [&check](const char* key, const char* why) {
        check.report(key, fmt::format("{} has no meaning where all rotors switch together", key), why);
    };
    if (p.groups != unset.groups) {
        meaningless("groups", "leave it out: all rotors are one group; opera has groups that switch in turn");
    }
    if (p.topology != nullptr || !p.file.empty()) {
        meaningless("file", "topology files are of kind opera, whose rotors switch in turn");
    }
    if (p.low_latency != unset.low_latency) {
        meaningless("low_latency", "no path outlasts a superslice; messages leave at once in kind opera");
    }
    return std::move(check).take();
}

}  // namespace astrolabe::network::rotor
