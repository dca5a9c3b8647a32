#include "../topologies/registration.hpp"
#include "../topologies/topology_schemas.hpp"
#include "expander.hpp"
#include "matchings.hpp"
#include "opera.hpp"

#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/section_list.hpp>
#include <astrolabe/network/components.hpp>

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
         {"in_turn", network::rotor::Remainders::kInTurn}}};
};

}  // namespace astrolabe

namespace astrolabe::network {
namespace {

using namespace rotor;

constexpr Range<Time> kPartLengths{Time(0), Time(kPicosecondsPerSecond)};
constexpr Range<std::uint32_t> kClasses{0, TrafficClasses::kMost};
constexpr Range<std::int64_t> kSeeds{0, std::numeric_limits<std::int64_t>::max()};

Schema<RackLinkParameters> rack_link_schema() {
    Schema<RackLinkParameters> schema("link", "all links");
    schema
        .optional("rate", &RackLinkParameters::rate, "of every link, of hosts and between racks",
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
                  "how messages within a rack go; unset: two_hops with rotor_lb, else direct")
        .optional("remainders", &BulkParameters::remainders,
                  "who gets what a fair share leaves over: drawn, as the reference does, or in turn, so that "
                  "backend fluid passes over cycles that repeat")
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
        .optional("racks", &FailureParameters::racks, "so many more racks, cut off from all others",
                  {0, kMaxRacks})
        .optional("rotors", &FailureParameters::rotors, "so many more rotors", {0, kMaxRacks})
        .optional("seed", &FailureParameters::seed, "of the draw", kSeeds);
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
        .optional("propagation", &Parameters::propagation, "one way, between racks", kPartLengths)
        .optional("reconfiguration_delay", &Parameters::reconfiguration_delay,
                  "how long a rotor is dark while it changes its matching", kPartLengths)
        .optional("queue", &Parameters::queue, "full packets that a port holds", {1, 1'000'000})
        .optional(
            "eps", &Parameters::eps,
            "all rotors carry, and packets under way finish; unset: derived from queue, propagation and "
            "the most hops",
            kPartLengths)
        .optional("del", &Parameters::del,
                  "circuits about to go only drain; unset: propagation and one packet", kPartLengths)
        .optional("draws", &Parameters::draws, "random networks to take the best of", {1, 10'000})
        .optional("lift_from", &Parameters::lift_from,
                  "draw matchings of this many racks and lift them; 0: draw those of all racks",
                  {0, kMaxRacks})
        .optional("seed", &Parameters::seed, "of the matchings", kSeeds);
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

template <class Parameters>
FabricMaker seeded_maker(const Parameters& parameters,
                         std::shared_ptr<const Fabric> (*build)(const Parameters&)) {
    return [parameters, build](std::uint64_t seed) {
        Parameters seeded = parameters;
        seeded.run_seed = static_cast<std::int64_t>(seed);
        return build(seeded);
    };
}

}  // namespace

void register_rotor_topologies(Registry<FabricMaker>& registry) {
    Schema<OperaParameters> opera(
        "opera", "racks on rotor switches that reconfigure in turn: an expander at every instant");
    opera.optional("racks", &OperaParameters::racks,
                   "number of racks, a multiple of the uplinks; or give file", {0, kMaxRacks});
    add_racks(opera);
    opera.optional("groups", &OperaParameters::groups,
                   "groups of rotors; one rotor of each reconfigures at a time", {1, kMaxRacks});
    add_lengths(opera);
    opera.field(
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
    opera.section("low_latency", &OperaParameters::low_latency, low_latency_schema(),
                  "messages that leave at once");
    detail::add_check(opera);
    registry.add<OperaParameters>(opera,
                                  [](const OperaParameters& p) { return seeded_maker(p, build_opera); });

    Schema<RotorNetParameters> rotornet("rotornet",
                                        "racks on rotor switches that all reconfigure at the same time");
    rotornet.required("racks", &RotorNetParameters::racks, "number of racks, a multiple of the uplinks",
                      {2, kMaxRacks});
    add_racks(rotornet);
    add_lengths(rotornet);
    detail::add_check(rotornet);
    registry.add<RotorNetParameters>(
        rotornet, [](const RotorNetParameters& p) { return seeded_maker(p, build_rotornet); });

    Schema<ExpanderParameters> expander("expander", "racks joined at random, each to equally many others");
    expander.required("racks", &ExpanderParameters::racks, "number of racks", {2, 4'096})
        .required("uplinks", &ExpanderParameters::uplinks, "uplinks of a rack, each to another rack",
                  {1, 4'095})
        .required("hosts_per_rack", &ExpanderParameters::hosts_per_rack, "hosts on a rack", {1, 256})
        .section("uplink", &ExpanderParameters::uplink, detail::uplink_schema("uplink"),
                 "a cable between racks")
        .optional("draws", &ExpanderParameters::draws, "random graphs to take the best of", {1, 10'000})
        .optional("seed", &ExpanderParameters::seed, "of the graph", kSeeds);
    detail::add_common(expander);
    registry.add<ExpanderParameters>(
        expander, [](const ExpanderParameters& p) { return seeded_maker(p, build_expander); });
}

}  // namespace astrolabe::network
