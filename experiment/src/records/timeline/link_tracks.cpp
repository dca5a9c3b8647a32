#include "link_tracks.hpp"

#include <map>

#include <fmt/format.h>

#include <astrolabe/experiment/records/packet_sequencer.hpp>
#include <astrolabe/network/rotor/rotor_links.hpp>

namespace astrolabe::experiment {

using network::LinkId;

namespace {

/// By number of the circuit's link, the uplink it is on: rack × rotors + rotor.
std::map<LinkId, std::uint32_t> uplinks_of_circuits(const network::Fabric& fabric) {
    const network::rotor::RotorSchedule& schedule = fabric.rotors()->schedule;
    const network::rotor::RotorLinks links(fabric);
    std::map<LinkId, std::uint32_t> uplinks;
    for (network::rotor::Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        for (std::uint32_t matching = 0; matching < schedule.matchings_per_rotor(); ++matching) {
            for (network::rotor::Rack rack = 0; rack < schedule.racks(); ++rack) {
                if (schedule.matching(rotor, matching)[rack] != rack) {
                    uplinks[links.circuit(rotor, matching, rack)] = rack * schedule.uplinks() + rotor;
                }
            }
        }
    }
    return uplinks;
}

}  // namespace

LinkTracks link_tracks(const network::Fabric& fabric) {
    LinkTracks result;
    result.track_of.resize(fabric.link_count());
    std::map<LinkId, std::uint32_t> uplinks;
    if (fabric.rotors() != nullptr) {
        uplinks = uplinks_of_circuits(fabric);
    }
    std::map<std::uint32_t, std::uint32_t> track_of_uplink;
    std::map<std::string, int> known;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        const auto next = static_cast<std::uint32_t>(result.tracks.size());
        const auto circuit = uplinks.find(link);
        if (circuit == uplinks.end()) {
            result.track_of[link] = next;
            std::string name = link_name(fabric, link);
            const int of_name = ++known[name];
            result.tracks.push_back(
                {of_name == 1 ? name : fmt::format("{} ({})", name, of_name), fabric.link(link).rate});
            continue;
        }
        const auto [entry, is_new] = track_of_uplink.try_emplace(circuit->second, next);
        result.track_of[link] = entry->second;
        if (is_new) {
            const std::uint32_t rotors = fabric.rotors()->schedule.uplinks();
            result.tracks.push_back(
                {fmt::format("{} uplink {}", fabric.node(fabric.source(link)).name, circuit->second % rotors),
                 fabric.link(link).rate});
        }
    }
    return result;
}

}  // namespace astrolabe::experiment
