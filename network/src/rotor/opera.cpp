#include "opera.hpp"

#include "../topologies/topology_schemas.hpp"
#include "failures/failure_list.hpp"
#include "opera_checks.hpp"
#include "rotor_draw.hpp"
#include "rotor_fabric.hpp"
#include "rotor_timing.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/config/section_list.hpp>
#include <astrolabe/network/rotor/factorisation.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::rotor::BulkRouting> {
    static constexpr std::array<std::pair<std::string_view, network::rotor::BulkRouting>, 2> kNames{
        {{"rotor_lb", network::rotor::BulkRouting::kRotorLb},
         {"direct", network::rotor::BulkRouting::kDirectOnly}}};
};

template <>
struct EnumNames<network::rotor::IntraRack> {
    static constexpr std::array<std::pair<std::string_view, network::rotor::IntraRack>, 2> kNames{
        {{"two_hops", network::rotor::IntraRack::kTwoHops}, {"direct", network::rotor::IntraRack::kDirect}}};
};

template <>
struct EnumNames<network::rotor::Remainders> {
    static constexpr std::array<std::pair<std::string_view, network::rotor::Remainders>, 2> kNames{
        {{"random", network::rotor::Remainders::kAtRandom},
         {"in_turn", network::rotor::Remainders::kRoundRobin}}};
};

}  // namespace astrolabe

namespace astrolabe::network::rotor {

namespace {

std::shared_ptr<const DrawnRotors> draw(const OperaParameters& p) {
    return p.draws_made->draw({.racks = static_cast<std::uint32_t>(p.racks),
                               .uplinks = static_cast<std::uint32_t>(uplinks_of(p)),
                               .groups = static_cast<std::uint32_t>(p.groups),
                               .draws = static_cast<std::uint32_t>(p.draws),
                               .lift_from = static_cast<std::uint32_t>(p.lift_from),
                               .seed = static_cast<std::uint64_t>(p.seed)});
}

RotorTiming timing_of(const OperaParameters& p, const HopCounts& hops) {
    RotorTiming timing =
        derive_timing({.propagation = p.propagation,
                       .queue = p.queue,
                       .packet = packet_of(p),
                       .rate = std::min(p.link.rate, circuit_rate_of(p)),
                       .most_hops = std::max<std::int64_t>(1, static_cast<std::int64_t>(hops.worst())),
                       .reconfiguration = p.reconfiguration_delay});
    timing.eps = p.eps.value_or(timing.eps);
    timing.del = p.del.value_or(timing.del);
    return timing;
}

/// Which parameter lets messages be low-latency; null: none does.
const char* low_latency_key(const OperaParameters& p) {
    if (p.low_latency.cutoff > Bytes(0)) {
        return "low_latency.cutoff";
    }
    return p.low_latency.classes.empty() ? nullptr : "low_latency.classes";
}

/// Which parameter needs a path between all racks in every superslice; null: none, or a file lists them.
const char* paths_needed_by(const OperaParameters& p) {
    if (p.topology) {
        return nullptr;
    }
    if (const char* key = low_latency_key(p)) {
        return key;
    }
    return p.eps ? nullptr : "the length of eps, which is not given,";
}

/// Before anything failed; precondition: no problems before drawing.
RotorSchedule whole_schedule(const OperaParameters& p) {
    if (p.topology) {
        return p.topology->schedule;
    }
    const std::shared_ptr<const DrawnRotors> drawn = draw(p);
    ASTROLABE_ASSERT(drawn->hops.disconnected() == 0 || paths_needed_by(p) == nullptr,
                     "a network is refused if it lacks paths that are needed");
    return {drawn->matchings, static_cast<std::uint32_t>(p.groups), timing_of(p, drawn->hops)};
}

/// The same rotors when they all switch together.
RotorSchedule schedule_together(const OperaParameters& p) {
    const RotorSchedule schedule = whole_schedule(p);
    const std::uint32_t uplinks = schedule.uplinks();
    std::vector<std::vector<Matching>> matchings(uplinks);
    for (Rotor rotor = 0; rotor < uplinks; ++rotor) {
        for (std::uint32_t index = 0; index < schedule.matchings_per_rotor(); ++index) {
            matchings[rotor].push_back(schedule.matching(rotor, index));
        }
    }
    return {std::move(matchings), uplinks,
            p.eps ? schedule.timing() : switched_together(schedule.timing(), uplinks)};
}

/// A packet that is in flight for more than a cycle arrives after its circuit has come back: nobody builds
/// that, but units are mistaken.
ValidationErrors way_errors(const OperaParameters& p, const RotorSchedule& schedule) {
    const Time on_links = 2 * (packet_of(p) / p.link.rate) + packet_of(p) / circuit_rate_of(p);
    const Time of_hosts = 2 * p.link.latency;
    const Time way = p.propagation + of_hosts + on_links;
    if (way <= schedule.cycle()) {
        return {};
    }
    const char* key = p.eps                                           ? "eps"
                      : p.propagation >= std::max(of_hosts, on_links) ? "propagation"
                      : of_hosts >= on_links                          ? "link.latency"
                                                                      : "link.rate";
    return {{key,
             fmt::format("a packet takes {} to another rack ({} on links, {} of propagation, {} to and from "
                         "hosts), longer than the whole cycle of {}",
                         to_string(way), to_string(on_links), to_string(p.propagation), to_string(of_hosts),
                         to_string(schedule.cycle())),
             "check the units of propagation, link.latency and link.rate, or leave eps out to derive it"}};
}

/// With eps and del as they are, or as the slower links need them where they are derived.
template <class Parameters>
ScaledFabric scaled_rotors(const Parameters& parameters, RotorSchedule (*schedule_of)(const OperaParameters&),
                           const Scaling& scaling,
                           std::shared_ptr<const Fabric> (*build)(const Parameters&)) {
    if (parameters.topology && scaling.reconfiguration != 1) {
        return ValidationErrors{{"reconfiguration", "a topology file gives the lengths of its superslices",
                                 "leave it out, or give the network by its numbers instead of a file"}};
    }
    Parameters p = parameters;
    if (p.uplink_rate) {
        p.link.rate = scaled(p.link.rate, scaling.of_links("host-rack"));
        p.uplink_rate = scaled(*p.uplink_rate, scaling.of_links("rack-rack"));
    } else {  // all classes of links have the same factor
        p.link.rate = scaled(p.link.rate, scaling.links.empty() ? 1.0 : scaling.links.begin()->second);
    }
    p.link.latency = scaled(p.link.latency, scaling.latency);
    p.propagation = scaled(p.propagation, scaling.latency);
    if (ValidationErrors errors = validation_errors(p); !errors.empty()) {
        return errors;
    }
    if (!p.topology) {
        const RotorTiming before = schedule_of(parameters).timing();
        const RotorTiming needed = schedule_of(p).timing();
        p.eps = std::max(before.eps, needed.eps);
        p.del = std::max(before.del, needed.del);
        p.reconfiguration_delay = scaled(p.reconfiguration_delay, scaling.reconfiguration);
        if (ValidationErrors errors = validation_errors(p); !errors.empty()) {
            return errors;
        }
    }
    return build(p);
}

ValidationErrors all_errors(const OperaParameters& p, RotorSchedule (&schedule_of)(const OperaParameters&)) {
    ValidationErrors found = problems_before_drawing(p);
    const char* needed_by = paths_needed_by(p);
    if (found.empty() && needed_by != nullptr) {
        const std::shared_ptr<const DrawnRotors> drawn = draw(p);
        if (drawn->hops.disconnected() > 0) {
            found.push_back(
                {"uplinks",
                 fmt::format("no draw joins all racks in every superslice: {} of {} pairs are without a path "
                             "over the {} rotors that stay up, and {} needs paths",
                             drawn->hops.disconnected(), drawn->hops.pairs(), uplinks_of(p) - p.groups,
                             needed_by),
                 "take more uplinks, more draws or another seed; or give eps and leave low_latency out"});
        }
    }
    if (found.empty()) {
        found = way_errors(p, schedule_of(p));
    }
    const char* services = low_latency_key(p);
    if (found.empty() && fail_from_start(p) && services != nullptr) {
        const HopCounts hops = HopCounts::of_cycle(degrade(whole_schedule(p), p).schedule);
        if (hops.disconnected() > 0) {
            found.push_back(
                {"failures",
                 fmt::format("{} of {} pairs of racks, superslice by superslice, are left without a "
                             "path, and {} needs paths",
                             hops.disconnected(), hops.pairs(), services),
                 "have less fail, or leave low_latency out: bulk waits for other circuits"});
        }
    }
    return found;
}

TrafficClasses classes_of(const std::vector<std::uint32_t>& listed) {
    TrafficClasses classes;
    for (const std::uint32_t one : listed) {
        classes.add(one);
    }
    return classes;
}

std::shared_ptr<RotorNetwork> network_of(const OperaParameters& p, const RotorSchedule& whole) {
    DegradedSchedule left = degrade(whole, p);
    const std::int64_t hosts = p.topology              ? p.topology->hosts_per_rack
                               : p.hosts_per_rack != 0 ? p.hosts_per_rack
                                                       : uplinks_of(p);
    return std::make_shared<RotorNetwork>(
        RotorNetwork{.schedule = std::move(left.schedule),
                     .hosts_per_rack = static_cast<std::uint32_t>(hosts),
                     .rate = circuit_rate_of(p),
                     .propagation = p.propagation,
                     .host_latency = p.link.latency,
                     .bulk = {p.bulk.routing, p.bulk.intra_rack, p.bulk.remainders, p.bulk.payload,
                              p.bulk.header, classes_of(p.bulk.classes)},
                     .low_latency = {p.low_latency.cutoff, p.queue, p.low_latency.window,
                                     classes_of(p.low_latency.classes)},
                     .paths = nullptr,
                     .seed = static_cast<std::uint64_t>(p.run_seed),
                     .host_rate = p.uplink_rate ? std::optional(p.link.rate) : std::nullopt,
                     .failing = std::move(left.failing)});
}

/// Of what is left after failures.
HopCounts hops_of(const OperaParameters& p, const RotorSchedule& schedule) {
    return p.topology || fail_from_start(p) ? HopCounts::of_cycle(schedule) : draw(p)->hops;
}

}  // namespace

ValidationErrors validation_errors(const OperaParameters& parameters) {
    return all_errors(parameters, whole_schedule);
}

ValidationErrors validation_errors(const RotorNetParameters& parameters) {
    ValidationErrors found = problems_of_switching_together(parameters);
    return found.empty() ? all_errors(parameters, schedule_together) : found;
}

std::shared_ptr<const RotorNetwork> make_rotor_network(const OperaParameters& parameters) {
    const OperaParameters& p = parameters;
    ASTROLABE_ASSERT(problems_before_drawing(p).empty(), "parameters are checked before a network is made");
    const std::shared_ptr<RotorNetwork> network = network_of(p, whole_schedule(p));
    const auto shortest = [&](const RotorSchedule& schedule) {
        return std::make_shared<const ShortestSlicePaths>(
            schedule, static_cast<std::size_t>(p.low_latency.paths), network->seed);
    };
    if (p.topology && !fail_from_start(p)) {
        network->paths = p.topology->paths;
        network->file = p.topology;
    } else if (hops_of(p, network->schedule).disconnected() == 0) {
        network->paths = shortest(network->schedule);
    }
    for (RotorState& state : network->failing) {
        state.paths = network->paths == nullptr ? nullptr : shortest(state.schedule);
    }
    return network;
}

std::shared_ptr<const RotorNetwork> make_rotor_network(const RotorNetParameters& parameters) {
    const OperaParameters& p = parameters;
    ASTROLABE_ASSERT(problems_of_switching_together(p).empty() && problems_before_drawing(p).empty(),
                     "parameters are checked before a network is made");
    return network_of(p, schedule_together(p));
}

namespace {

/// What the family makes of the same parameters otherwise.
template <class Parameters>
RotorVariants variants_of(const Parameters& parameters, RotorSchedule (*schedule_of)(const OperaParameters&),
                          std::shared_ptr<const Fabric> (*build)(const Parameters&)) {
    return {
        .scaled =
            [=](const Scaling& scaling) { return scaled_rotors(parameters, schedule_of, scaling, build); },
        .broken = [=](const std::vector<BrokenPart>& broken) -> ScaledFabric {
            Parameters p = parameters;
            p.broken = broken;
            if (ValidationErrors errors = validation_errors(p); !errors.empty()) {
                return errors;
            }
            return build(p);
        }};
}

}  // namespace

std::shared_ptr<const Fabric> build_opera(const OperaParameters& parameters) {
    return build_rotor_fabric("opera", make_rotor_network(parameters),
                              variants_of(parameters, whole_schedule, build_opera));
}

std::shared_ptr<const Fabric> build_rotornet(const RotorNetParameters& parameters) {
    return build_rotor_fabric("rotornet", make_rotor_network(parameters),
                              variants_of(parameters, schedule_together, build_rotornet));
}

namespace {

constexpr Range<Time> kPartLengths{Time(0), Time(kPicosecondsPerSecond)};
constexpr Range<std::uint32_t> kClasses{0, TrafficClasses::kMost};

Schema<RackLinkParameters> rack_link_schema() {
    Schema<RackLinkParameters> schema("link", "all links");
    schema
        .optional("rate", &RackLinkParameters::rate,
                  "of every link, of hosts and, unless uplink_rate is given, between racks",
                  {Bandwidth(1), kMaxLinkRate})
        .optional("latency", &RackLinkParameters::latency, "one-way propagation between a host and its rack",
                  {Time(0), kMaxLinkLatency});
    return schema;
}

Schema<BulkParameters> bulk_schema() {
    Schema<BulkParameters> schema("bulk", "messages that wait for a circuit");
    schema
        .optional("routing", &BulkParameters::routing,
                  "over the direct circuit, or also over a third rack in capacity that is left (RotorLB)")
        .renamed("own_rack", "intra_rack")
        .optional("intra_rack", &BulkParameters::intra_rack,
                  "how messages within a rack go: through their switch, or over another rack and back in "
                  "capacity that is left, as in Opera's simulator (with rotor_lb)")
        .optional("remainders", &BulkParameters::remainders,
                  "who gets what a fair share leaves over: drawn, as the reference does, or round-robin, so "
                  "that backend fluid fast-forwards cycles that repeat")
        .optional("payload", &BulkParameters::payload, "of a packet", {Bytes(1), Bytes(65'536)})
        .optional("header", &BulkParameters::header, "of a packet, beside its payload",
                  {Bytes(0), Bytes(65'536)})
        .list("classes", &BulkParameters::classes,
              "traffic classes of messages that are bulk even below low_latency.cutoff", false, kClasses);
    return schema;
}

Schema<LowLatencyParameters> low_latency_schema() {
    Schema<LowLatencyParameters> schema("low_latency", "messages that leave at once, over the expander");
    schema
        .optional("cutoff", &LowLatencyParameters::cutoff,
                  "messages below it are low-latency, but those of bulk.classes; 0: none is by its size",
                  {Bytes(0), {}})
        .list("classes", &LowLatencyParameters::classes,
              "traffic classes of messages that are low-latency whatever their size", false, kClasses)
        .optional("window", &LowLatencyParameters::window, "packets sent before the first pull",
                  {1, 1'000'000})
        .optional("paths", &LowLatencyParameters::paths,
                  "most shortest paths that a pair of racks uses in a superslice", {1, 1'000});
    return schema;
}

Schema<FailureParameters> failures_schema() {
    Schema<FailureParameters> schema("failures", "what breaks, drawn at random among what still works");
    schema.optional("at", &FailureParameters::at, "when; 0: from the start", {Time(0), {}})
        .optional("cables", &FailureParameters::cables, "so many more cables between racks and rotors",
                  {0, std::int64_t{kMaxRacks} * kMaxRacks})
        .optional("racks", &FailureParameters::racks, "so many more racks, disconnected from all others",
                  {0, kMaxRacks})
        .optional("rotors", &FailureParameters::rotors, "so many more rotors", {0, kMaxRacks})
        .optional("seed", &FailureParameters::seed, "of the draw; unset: that of the experiment",
                  detail::kSeeds);
    return schema;
}

/// Keys of both kinds of rotor networks, in the order they are documented.
template <class Parameters>
void add_racks(Schema<Parameters>& schema) {
    schema
        .optional("radix", &Parameters::radix,
                  "ports of a rack's switch, half of them uplinks (even); or give uplinks",
                  {0, 2 * std::int64_t{kMaxRacks}})
        .optional("uplinks", &Parameters::uplinks, "uplinks of a rack, one to each rotor; or give radix",
                  {0, kMaxRacks})
        .optional("hosts_per_rack", &Parameters::hosts_per_rack, "hosts on a rack; 0: as many as uplinks",
                  {0, kMaxHosts / kMaxRacks});
}

template <class Parameters>
void add_lengths(Schema<Parameters>& schema) {
    schema.section("link", &Parameters::link, rack_link_schema(), "all links")
        .optional("uplink_rate", &Parameters::uplink_rate,
                  "of uplinks and their circuits; unset: that of all links", {Bandwidth(1), kMaxLinkRate})
        .optional("propagation", &Parameters::propagation, "one way, between racks", kPartLengths)
        .optional("reconfiguration_delay", &Parameters::reconfiguration_delay,
                  "how long a rotor is dark while it changes its matching", kPartLengths)
        .optional("queue", &Parameters::queue, "full packets that a port holds", {1, 1'000'000})
        .optional(
            "eps", &Parameters::eps,
            "all rotors carry, and packets in flight finish; unset: derived from queue, propagation and "
            "the most hops",
            kPartLengths)
        .optional("del", &Parameters::del,
                  "circuits about to go only drain; unset: propagation and one packet", kPartLengths)
        .optional("draws", &Parameters::draws, "random networks to take the best of", {1, 10'000})
        .optional("lift_from", &Parameters::lift_from,
                  "draw matchings of this many racks and lift them; 0: draw those of all racks",
                  {0, kMaxRacks})
        .optional("seed", &Parameters::seed, "of the matchings; unset: that of the experiment",
                  detail::kSeeds);
    add_section_list(schema, "failures", &Parameters::failures, failures_schema(),
                     "what breaks, in order of time");
    schema.section("bulk", &Parameters::bulk, bulk_schema(), "messages that wait for a circuit");
}

void read_topology_file(OperaParameters& parameters, const ConfigNode& node, ReadContext& context) {
    const std::optional<std::string> given = read_scalar<std::string>(node, "'file'", context);
    if (!given) {
        return;
    }
    const std::filesystem::path path = (directory_of(node) / *given).lexically_normal();
    Result<TopologyFile> topology = load_topology(path);
    if (!topology) {
        for (Diagnostic diagnostic : topology.error()) {
            diagnostic.notes.emplace_back(node.where, "the file is named here");
            context.error(std::move(diagnostic));
        }
        return;
    }
    // Absolute, so that a resolved experiment finds it from anywhere.
    parameters.file = std::filesystem::absolute(path).lexically_normal().string();
    parameters.topology = std::make_shared<const TopologyFile>(*std::move(topology));
}

}  // namespace

}  // namespace astrolabe::network::rotor

namespace astrolabe::network {

void register_opera(Registry<FabricMaker>& registry) {
    using namespace rotor;
    Schema<OperaParameters> schema(
        "opera", "racks on rotor switches that reconfigure one after another: an expander at every instant");
    schema.optional("racks", &OperaParameters::racks,
                    "number of racks, a multiple of the uplinks; or give file", {0, kMaxRacks});
    add_racks(schema);
    schema.optional("groups", &OperaParameters::groups,
                    "groups of rotors; one rotor of each reconfigures at a time", {1, kMaxRacks});
    add_lengths(schema);
    schema.field(
        {"file",
         "path",
         "unset",
         false,
         {},
         "a topology file of the Opera simulator, relative to the file that names it; it says all but "
         "link, propagation and queue",
         {}},
        read_topology_file, [](const OperaParameters& p) -> std::optional<ConfigNode> {
            return p.file.empty() ? std::nullopt : std::optional(ConfigNode::scalar(p.file));
        });
    schema.section("low_latency", &OperaParameters::low_latency, low_latency_schema(),
                   "messages that leave at once");
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_opera, &OperaParameters::run_seed);
}

void register_rotornet(Registry<FabricMaker>& registry) {
    using namespace rotor;
    Schema<RotorNetParameters> schema("rotornet",
                                      "racks on rotor switches that all reconfigure at the same time");
    schema.required("racks", &RotorNetParameters::racks, "number of racks, a multiple of the uplinks",
                    {2, kMaxRacks});
    add_racks(schema);
    add_lengths(schema);
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_rotornet, &RotorNetParameters::run_seed);
}

}  // namespace astrolabe::network
