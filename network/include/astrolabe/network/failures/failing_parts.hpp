/// The parts of a network that may fail, by their names: cables, switches, hosts.
///
/// A cable between two nodes is named by them in either order, "leaf 0 - spine 1", and by its class of links
/// (scaling.hpp), "leaf-spine"; "leaf 0 to spine 1" is that direction alone. Switches and hosts have the
/// names of their nodes and fail as all their cables do. Names are patterns with *, ? and [] as of files.
///
/// Example. "leaf 0 - spine *" are all uplinks of leaf 0, and "*-spine" all uplinks there are.
///
/// Complexity: O(nodes + links) to list, and that many matches of a pattern for each search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <astrolabe/core/random.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

enum class PartKind : std::uint8_t { kCable, kSwitch, kHost };

struct FailingPart {
    std::string name;
    std::vector<LinkId> links;
};

class FailingParts {
public:
    /// `fabric` outlives it.
    explicit FailingParts(const Fabric& fabric);

    /// In the order of nodes, cables in that of their first links.
    [[nodiscard]] std::vector<FailingPart> find(PartKind kind, const std::string& pattern) const;
    /// What there is, for the hint of an error: "classes of links are host-leaf and leaf-spine, …".
    [[nodiscard]] std::string examples(PartKind kind) const;

private:
    struct Cable {
        std::string name;       ///< "host 0 - leaf 0"
        std::string other;      ///< "leaf 0 - host 0"
        std::string direction;  ///< "host 0 to leaf 0", of the first link
        std::string reverse;    ///< empty: there is none
        std::string link_class;
        LinkId link;
    };

    const Fabric& fabric_;
    std::vector<Cable> cables_;
};

/// A time in which a part has failed.
struct Outage {
    Time from;
    Time until;
};

/// How often one part fails, and for how long.
struct OutageRates {
    Time mean_time_between;    ///< from a repair to the next failure, > 0
    Time mean_time_to_repair;  ///< > 0
};

/// Outages that begin from `from` on and before `until`: times between and to repair are exponential, rounded
/// up to a picosecond. At most `limit` of them.
[[nodiscard]] std::vector<Outage> draw_outages(const OutageRates& rates, Time from, Time until,
                                               std::size_t limit, RandomStream& random);

}  // namespace astrolabe::network
