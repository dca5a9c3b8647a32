#include "link_tracks.hpp"

#include <map>

#include <fmt/format.h>

#include <astrolabe/experiment/records/packet_sequencer.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::experiment {

using network::LinkId;
using network::SharedPorts;

LinkTracks link_tracks(const network::Fabric& fabric) {
    LinkTracks result;
    result.track_of.resize(fabric.link_count());
    const std::optional<SharedPorts> ports = fabric.family().shared_ports(fabric);
    std::map<std::uint32_t, std::uint32_t> track_of_port;
    std::map<std::string, int> known;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        const auto next = static_cast<std::uint32_t>(result.tracks.size());
        const std::uint32_t port = ports ? ports->port_of[link] : SharedPorts::kNone;
        if (port == SharedPorts::kNone) {
            result.track_of[link] = next;
            std::string name = link_name(fabric, link);
            const int of_name = ++known[name];
            result.tracks.push_back(
                {of_name == 1 ? name : fmt::format("{} ({})", name, of_name), fabric.link(link).rate});
            continue;
        }
        const auto [entry, is_new] = track_of_port.try_emplace(port, next);
        result.track_of[link] = entry->second;
        if (is_new) {
            result.tracks.push_back({ports->names[port], fabric.link(link).rate});
        }
    }
    return result;
}

}  // namespace astrolabe::experiment
