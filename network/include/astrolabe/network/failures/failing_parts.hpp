/// The parts of a network that may fail, by their names: cables, switches, hosts.
///
/// A cable between two nodes is named by them in either order, "leaf 0 - spine 1", and by its class of links
/// (scaling.hpp), "leaf-spine"; "leaf 0 to spine 1" is that direction alone. Switches and hosts have the
/// names of their nodes and fail as all their cables do. Names are patterns with *, ? and [] as of files.
///
/// Where the family of the network names parts of its own (NetworkFamily::named_parts) there are these alone.
///
/// Example. "leaf 0 - spine *" are all uplinks of leaf 0, and "*-spine" all uplinks there are.
///
/// Complexity: O(nodes + links) to list, and that many matches of a pattern for each search.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/random.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/failures/named_parts.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

struct FailingPart {
    std::string name;
    std::vector<LinkId> links;
    /// Of a network that breaks its parts by rules of its own: its place among them, and no links.
    std::optional<std::size_t> named;
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

    [[nodiscard]] std::vector<FailingPart> find_named(PartKind kind, const std::string& pattern) const;
    [[nodiscard]] std::string named_examples(PartKind kind) const;

    const Fabric& fabric_;
    std::vector<NamedPart> named_;
    std::vector<Cable> cables_;  // none where parts are named
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
