#include "rotor_description.hpp"
#include "rotor_family.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network::rotor {

namespace {

/// A key, its value, and what the value is for people.
struct Figure {
    std::string key;
    nlohmann::ordered_json value;
    std::string text;
};

Figure time(std::string key, Time value, std::string_view what) {
    return {std::move(key), to_seconds(value), fmt::format("{} ({})", to_string(value), what)};
}

Figure share(std::string key, double value, std::string_view what) {
    return {std::move(key), value, fmt::format("{:.4f} ({})", value, what)};
}

std::vector<Figure> timing(const RotorSchedule& schedule) {
    const RotorTiming& timing = schedule.timing();
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

void add(Description& description, const std::vector<Figure>& figures) {
    for (const Figure& figure : figures) {
        const std::string_view key = figure.key;
        const std::size_t unit = key.ends_with("_s") ? 2 : key.ends_with("_bps") ? 4 : 0;
        description.json[figure.key] = figure.value;
        description.facts.emplace_back(key.substr(0, key.size() - unit), figure.text);
    }
}

}  // namespace

Description describe_rotors(const RotorNetwork& network) {
    const RotorSchedule& schedule = network.schedule;
    Description description;
    description.key = "rotors";
    description.cables = ", those between racks only while a rotor has them";
    add(description, timing(schedule));
    add(description, capacity(network));
    if (schedule.groups() < schedule.uplinks()) {
        const SliceFigures figures = slice_figures(schedule);
        add_slices(description.json, figures);
        description.tables = slices_text(figures, schedule);
    } else {
        description.tables = "  all rotors go dark together: no path outlasts a superslice\n";
    }
    return description;
}

}  // namespace astrolabe::network::rotor
