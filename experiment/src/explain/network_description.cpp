#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/network_description.hpp>
#include <astrolabe/experiment/file/equal_cost.hpp>
#include <astrolabe/network/rotor/rotor_description.hpp>

namespace astrolabe::experiment {

namespace {

using network::rotor::FailingPart;
using network::rotor::FailureTolerance;
using network::rotor::RotorCapacity;
using network::rotor::RotorNetwork;
using network::rotor::RotorSchedule;
using network::rotor::SliceFigures;

bool has_slices(const RotorSchedule& schedule) {
    return schedule.groups() < schedule.uplinks();
}

/// A key, its value, and what the value is for people.
struct Figure {
    std::string key;
    nlohmann::ordered_json value;
    std::string text;
};

std::vector<Figure> counts(const network::Fabric& fabric) {
    const std::size_t switches = fabric.node_count() - fabric.host_count();
    const std::size_t one_way = fabric.one_way_link_count();
    const std::size_t cables = (fabric.link_count() - one_way) / 2;
    std::vector<Figure> figures{
        {"kind", fabric.kind(), fabric.kind()},
        {"hosts", fabric.host_count(), fmt::to_string(fabric.host_count())},
        {"switches", switches, fmt::to_string(switches)},
        {"cables", cables,
         fmt::format(
             "{}{}", cables,
             fabric.circuits().is_static() ? "" : ", those between racks only while a rotor has them")}};
    if (one_way > 0) {
        figures.push_back({"one_way_links", one_way, fmt::to_string(one_way)});
    }
    return figures;
}

Figure time(std::string key, Time value, std::string_view what) {
    return {std::move(key), to_seconds(value), fmt::format("{} ({})", to_string(value), what)};
}

Figure share(std::string key, double value, std::string_view what) {
    return {std::move(key), value, fmt::format("{:.4f} ({})", value, what)};
}

std::vector<Figure> timing(const RotorSchedule& schedule) {
    const network::rotor::RotorTiming& timing = schedule.timing();
    return {{"racks", schedule.racks(), fmt::to_string(schedule.racks())},
            {"rotors", schedule.uplinks(),
             fmt::format("{}, {} dark at a time, with {} matchings each", schedule.uplinks(),
                         schedule.groups(), schedule.matchings_per_rotor())},
            {"groups", schedule.groups(), fmt::to_string(schedule.groups())},
            time("eps_s", timing.eps, "all rotors carry"),
            time("del_s", timing.del, "circuits about to go drain"),
            time("reconfiguration_s", timing.reconfiguration, "rotors that change are dark"),
            time("superslice_s", timing.superslice(), "the three together, T"),
            time("cycle_s", schedule.cycle(), fmt::format("{} superslices", schedule.superslices())),
            time("bulk_slot_s", schedule.bulk_slot(), "bulk may use a circuit from its installation"),
            share("duty", schedule.duty(), "of the time a rotor carries")};
}

std::vector<Figure> capacity(const RotorNetwork& network) {
    const RotorCapacity capacity = capacity_of(network);
    return {
        {"packets_per_slot", capacity.packets_per_slot,
         fmt::format("{} (bulk, of a host over one rotor)", capacity.packets_per_slot)},
        {"pair_rate_bps", capacity.pair_rate,
         fmt::format("{:.4g} Gb/s (payload from rack to rack, direct, mean)", capacity.pair_rate / 1e9)},
        share("met", capacity.met, "pairs of racks that a circuit joins in a cycle"),
        {"host_rate_bps", capacity.host_rate,
         fmt::format("{:.4g} Gb/s (payload of a host to all other racks, direct)", capacity.host_rate / 1e9)},
        share("host_share", capacity.share(), "of its link; the product of the next five"),
        share("carried", capacity.carried, "uplinks that are not idle"),
        share("slot", capacity.slot, "bulk slot of the time a circuit stays"),
        share("uplinks", capacity.uplinks, "uplinks for each host, at most 1"),
        share("whole", capacity.whole, "whole packets in a slot"),
        share("payload", capacity.payload, "of a packet")};
}

std::string_view name_of(FailingPart part) {
    constexpr std::array<std::string_view, 3> kNames{"cables", "racks", "rotors"};
    return kNames[static_cast<std::size_t>(part)];
}

std::string slices_text(const SliceFigures& figures, const RotorSchedule& schedule) {
    std::string text = fmt::format("  hops between racks: mean {:.4f}, at most {}", figures.hops.mean(),
                                   figures.hops.worst());
    if (figures.hops.disconnected() > 0) {
        text +=
            fmt::format(", {} of {} pairs without a path", figures.hops.disconnected(), figures.hops.pairs());
    }
    text += "\n    hops  share of pairs\n";
    for (std::size_t hops = 1; hops <= figures.hops.worst(); ++hops) {
        text += fmt::format("    {:4}  {:.6f}\n", hops, figures.hops.share_at(hops));
    }
    text += fmt::format(
        "  spectral gap of superslices: least {:.3f}, mean {:.3f}; {:.3f} for large random graphs\n",
        figures.least_gap, figures.mean_gap, figures.ideal_gap);
    text += "  failures: pairs of racks without a path in the worst superslice of 6 draws\n";
    for (const FailureTolerance& row : figures.failures) {
        text += fmt::format("    {:4} of {:5} {:6}  {:.4f}\n", row.failed, count_of(row.part, schedule),
                            name_of(row.part), row.disconnected);
    }
    return text;
}

void add_slices(nlohmann::ordered_json& object, const SliceFigures& figures) {
    nlohmann::ordered_json& hops = object["hops"];
    hops["mean"] = figures.hops.mean();
    hops["worst"] = figures.hops.worst();
    hops["pairs"] = figures.hops.pairs();
    hops["disconnected_pairs"] = figures.hops.disconnected();
    hops["share_at"] = nlohmann::ordered_json::array();
    for (std::size_t count = 1; count <= figures.hops.worst(); ++count) {
        hops["share_at"].push_back(figures.hops.share_at(count));
    }
    object["spectral_gap"] = {
        {"least", figures.least_gap}, {"mean", figures.mean_gap}, {"ideal", figures.ideal_gap}};
    object["failures"] = nlohmann::ordered_json::array();
    for (const FailureTolerance& row : figures.failures) {
        object["failures"].push_back(
            {{"part", name_of(row.part)}, {"failed", row.failed}, {"disconnected_share", row.disconnected}});
    }
}

void add(nlohmann::ordered_json& object, const std::vector<Figure>& figures) {
    for (const Figure& figure : figures) {
        object[figure.key] = figure.value;
    }
}

std::string lines(const std::vector<Figure>& figures) {
    std::string text;
    for (const Figure& figure : figures) {
        const std::string_view key = figure.key;
        const std::size_t unit = key.ends_with("_s") ? 2 : key.ends_with("_bps") ? 4 : 0;
        text += fmt::format("  {:<18}{}\n", key.substr(0, key.size() - unit), figure.text);
    }
    return text;
}

}  // namespace

Result<DescribedNetwork> load_network(const std::string& path, const Components& components) {
    Result<ConfigNode> file = load_config(path);
    if (!file) {
        return file.error();
    }
    ReadContext context;
    ConfigNode network = *std::move(file);
    const bool is_experiment = network.find("workload") != nullptr;
    if (ConfigNode* section = network.find("network")) {
        resolve_reference(*section, context);
        ConfigNode inner = std::move(*section);
        network = std::move(inner);
    }
    std::optional<Registry<network::FabricMaker>::Configured> configured;
    if (context.error_count() == 0) {
        configured = read_network(network, components, context, {"schema"});
    }
    if (!configured) {
        return context.errors();
    }
    const network::FabricMaker maker = configured->make();
    if (!maker.needs_job()) {
        return DescribedNetwork{configured->resolved, maker(1), std::nullopt};
    }
    if (!is_experiment) {
        context.error("config.no-job", network.find("kind")->where,
                      fmt::format("a network of kind '{}' is built for a job, and this file has none",
                                  configured->kind),
                      "name an experiment file with this network");
        return context.errors();
    }
    const Result<Experiment> experiment = load_experiment(path, {}, components);
    if (!experiment) {
        return experiment.error();
    }
    return DescribedNetwork{configured->resolved, experiment->fabric, report_topology(*experiment)};
}

nlohmann::ordered_json describe_json(const DescribedNetwork& described) {
    nlohmann::ordered_json object;
    add(object, counts(*described.fabric));
    if (const auto& rotors = described.fabric->rotors()) {
        nlohmann::ordered_json& inner = object["rotors"];
        add(inner, timing(rotors->schedule));
        add(inner, capacity(*rotors));
        if (has_slices(rotors->schedule)) {
            add_slices(inner, slice_figures(rotors->schedule));
        }
    }
    if (described.topology) {
        object["topology"] = to_json(*described.topology);
    }
    return object;
}

std::string describe_text(const DescribedNetwork& described) {
    std::string text = lines(counts(*described.fabric));
    if (const auto& rotors = described.fabric->rotors()) {
        text += lines(timing(rotors->schedule)) + lines(capacity(*rotors));
        text += has_slices(rotors->schedule)
                    ? slices_text(slice_figures(rotors->schedule), rotors->schedule)
                    : "  all rotors go dark together: no path outlasts a superslice\n";
    }
    if (described.topology) {
        for (const auto& [name, value] : facts(*described.topology)) {
            text += fmt::format("  {:<18}{}\n", name, value);
        }
    }
    return text;
}

}  // namespace astrolabe::experiment
