/// What of a fabric has a track of its own: a link, or a port that several links share, as an uplink whatever
/// circuit it holds. Links in parallel are numbered from the second on: "host 0 -> host 8 (2)".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::experiment {

struct LinkTrack {
    std::string name;  ///< no two have the same
    Bandwidth rate;
};

struct LinkTracks {
    std::vector<LinkTrack> tracks;
    IndexedVector<network::LinkId, std::uint32_t> track_of;

    [[nodiscard]] const std::string& name(network::LinkId link) const { return tracks[track_of[link]].name; }
};
/// Time: O(links log links).
[[nodiscard]] LinkTracks link_tracks(const network::Fabric& fabric);

}  // namespace astrolabe::experiment
