#include "server_paths.hpp"

#include "../../routing/shortest_path_routing.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::servers {

ServerPaths::ServerPaths(const ServerGraph& graph, LoadBalancing load_balancing, std::uint64_t seed)
    : has_integrated_nics_(graph.has_integrated_nics) {
    FabricBuilder builder("server");
    std::vector<NodeId> ids(graph.nodes.size());
    const auto add_hosts = [&](ServerPart part) {
        std::uint32_t count = 0;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (graph.nodes[i].part == part) {
                const HostId host = builder.add_host(fmt::format("{} {}", graph.nodes[i].name, count++));
                ids[i] = NodeId(host.index());
            }
        }
        return count;
    };
    for (const ServerNode& node : graph.nodes) {
        if (node.part == ServerPart::kNic) {
            buffers_.push_back(node.buffer);
        }
    }
    gpus_ = add_hosts(ServerPart::kGpu);
    nics_ = add_hosts(ServerPart::kNic);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const ServerNode& node = graph.nodes[i];
        if (node.part == ServerPart::kSwitch || node.part == ServerPart::kProcessor) {
            ids[i] = builder.add_switch(node.name, node.buffer);
            is_processor_.push_back(node.part == ServerPart::kProcessor);
        }
    }
    const std::uint16_t other_cost = static_cast<std::uint16_t>(
        std::min<std::size_t>(graph.nodes.size(), std::numeric_limits<std::uint16_t>::max()));
    std::vector<std::pair<NodeId, LinkPlace>> places;
    for (const ServerLink& link : graph.links) {
        const std::uint16_t cost = link.place == LinkPlace::kScaleUp ? std::uint16_t{1} : other_cost;
        builder.connect(ids[link.from], ids[link.to], {link.rate, link.latency, Bytes(0), cost});
        places.emplace_back(ids[link.from], link.place);
        places.emplace_back(ids[link.to], link.place);
    }
    places_ = by_link(graph.nodes.size(), places);
    fabric_ = std::move(builder).build(load_balancing, seed);
    if (has_integrated_nics_) {
        ASTROLABE_ASSERT(nics_ == 0, "NICs that are part of GPUs are no nodes");
        nics_ = gpus_;
        for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
            nics_of_gpu_.push_back({gpu});
        }
    } else {
        find_nics();
    }
    for (std::size_t node = fabric_->host_count(); node < fabric_->node_count(); ++node) {
        nics_of_switch_.push_back(nearest(NodeId(node)));
    }
}

std::uint64_t ServerPaths::cost(NodeId from, HostId to) const {
    std::uint64_t sum = 0;
    for (NodeId at = from; at.index() != to.index();) {
        const LinkId link = routing().next_links(at, to).front();
        sum += fabric_->link(link).cost;
        at = fabric_->target(link);
    }
    return sum;
}

std::vector<std::uint32_t> ServerPaths::nearest(NodeId node) const {
    std::vector<std::uint32_t> found;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t number = 0; number < nics_; ++number) {
        if (!reaches(node, nic(number))) {
            continue;
        }
        const std::uint64_t distance = cost(node, nic(number));
        if (distance < least) {
            least = distance;
            found.clear();
        }
        if (distance == least) {
            found.push_back(number);
        }
    }
    return found;
}

std::vector<std::uint32_t> ServerPaths::nearest_over_bus(NodeId node) const {
    std::vector<std::uint32_t> found;
    std::vector<bool> is_known(fabric_->node_count(), false);
    is_known[node.index()] = true;
    std::vector<NodeId> reached{node};
    while (!reached.empty() && found.empty()) {
        std::vector<NodeId> next;
        for (const NodeId at : reached) {
            for (std::size_t i = 0; i < fabric_->out_degree(at); ++i) {
                const LinkId link(fabric_->first_link(at).index() + i);
                const NodeId to = fabric_->target(link);
                if (places_[link] == LinkPlace::kScaleUp || is_known[to.index()]) {
                    continue;
                }
                is_known[to.index()] = true;
                next.push_back(to);
                if (to.index() >= gpus_ && to.index() < fabric_->host_count()) {
                    found.push_back(to.index() - gpus_);
                }
            }
        }
        reached = std::move(next);
    }
    std::ranges::sort(found);
    return found;
}

void ServerPaths::find_nics() {
    nics_of_gpu_.resize(gpus_);
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> gpus_by_nearest;
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
        std::vector<std::uint32_t> nics = nearest_over_bus(NodeId(gpu));
        gpus_by_nearest[nics.empty() ? nearest(NodeId(gpu)) : std::move(nics)].push_back(gpu);
    }
    for (const auto& [nics, gpus] : gpus_by_nearest) {
        if (nics.empty()) {
            continue;
        }
        for (std::size_t i = 0; i < gpus.size(); ++i) {
            const std::size_t first = i * nics.size() / gpus.size();
            const std::size_t end = std::max(first + 1, (i + 1) * nics.size() / gpus.size());
            for (std::size_t number = first; number < end; ++number) {
                nics_of_gpu_[gpus[i]].push_back(nics[number]);
            }
        }
    }
}

std::shared_ptr<const ServerPaths> ServerPaths::with_speeds(
    const std::function<LinkSpeed(LinkId)>& speed) const {
    const auto copy = std::make_shared<ServerPaths>(*this);
    copy->fabric_ = fabric_->with_speeds(
        speed, [](Time time) { return time; }, nullptr);
    return copy;
}

bool ServerPaths::is_connected() const {
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
        for (std::size_t host = 0; host < fabric_->host_count(); ++host) {
            if (!reaches(NodeId(gpu), HostId(host))) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace astrolabe::network::servers
