#include "job_servers.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::servers {

namespace {

/// A message leaves through the NIC of its source and arrives through that of its destination.
class NicDemand {
public:
    explicit NicDemand(const ServerLayout& layout)
        : layout_(layout),
          pairs_(static_cast<Server>(layout.nic_count())) {}

    void add(Server from, Server to, std::uint64_t bytes) {
        const HostId source(from);
        const HostId destination(to);
        if (bytes == 0 || layout_.server_of(source) == layout_.server_of(destination)) {
            return;
        }
        const auto [leaves, arrives] = layout_.nics_between(source, destination);
        is_too_much_ = is_too_much_ || bytes >= kMaxTraffic - pairs_.total();
        if (!is_too_much_) {
            pairs_.add(layout_.nic(leaves).host.index(), layout_.nic(arrives).host.index(), bytes);
        }
    }

    [[nodiscard]] bool is_too_much() const { return is_too_much_; }
    [[nodiscard]] PairDemand take() && { return std::move(pairs_); }

private:
    const ServerLayout& layout_;
    PairDemand pairs_;
    bool is_too_much_ = false;
};

/// Hosts of the scale-out network for the members of a group; empty: members share NICs, or have several, or
/// the NICs are not equally spaced.
std::vector<Server> nics_of_group(const ServerLayout& layout, const AllReduceGroup& group) {
    std::vector<Server> nics;
    for (const Server rank : group.members) {
        const auto own = layout.nics_of(HostId(rank));
        if (own.size() != 1) {
            return {};
        }
        nics.push_back(layout.nic(own.front()).host.index());
    }
    const std::size_t spacing = layout.nic_count() / nics.size();
    for (std::size_t i = 1; i < nics.size(); ++i) {
        if (nics[i] != nics[i - 1] + spacing) {
            return {};
        }
    }
    return layout.nic_count() % nics.size() == 0 ? nics : std::vector<Server>();
}

}  // namespace

std::variant<Demand, ValidationErrors> demand_of_nics(const ServerLayout& layout, const Demand& of_ranks) {
    ASTROLABE_ASSERT(layout.planes().size() == 1, "all NICs are hosts of one network");
    NicDemand pairs(layout);
    for (Server from = 0; from < of_ranks.point_to_point.servers(); ++from) {
        for (Server to = 0; to < of_ranks.point_to_point.servers(); ++to) {
            if (from != to) {
                pairs.add(from, to, of_ranks.point_to_point.at(from, to));
            }
        }
    }
    Demand demand{.servers = static_cast<std::uint32_t>(layout.nic_count()),
                  .groups = {},
                  .point_to_point = {},
                  .exchanges = of_ranks.exchanges};
    for (const AllReduceGroup& group : of_ranks.groups) {
        if (std::vector<Server> nics = nics_of_group(layout, group); !nics.empty()) {
            demand.groups.push_back({std::move(nics), group.bytes, group.operations});
            continue;
        }
        const std::uint64_t members = group.members.size();
        for (std::size_t i = 0; i < members; ++i) {
            pairs.add(group.members[i], group.members[(i + 1) % members],
                      2 * (members - 1) * (group.bytes / members));
        }
        demand.exchanges += group.operations;
    }
    if (pairs.is_too_much()) {
        return ValidationErrors{{"", fmt::format("the job sends {} B or more between servers", kMaxTraffic),
                                 "take fewer iterations, ranks or bytes"}};
    }
    demand.point_to_point = std::move(pairs).take();
    return demand;
}

}  // namespace astrolabe::network::servers
