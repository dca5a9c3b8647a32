#include "message_costs.hpp"

#include <algorithm>
#include <cmath>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment::wire {

Path path_between(const network::Fabric& fabric, network::HostId source, network::HostId destination,
                  bool single) {
    const network::RoutingPolicy& routing = fabric.routing();
    Path path;
    const network::Route route = routing.route(source, destination);
    path.forward = seconds_of(route.latency);
    path.back = seconds_of(routing.route(destination, source).latency);
    if (single) {
        for (network::NodeId at = fabric.node_of(source); at != fabric.node_of(destination);) {
            const network::LinkId link = routing.select(at, source, destination);
            path.all += byte_seconds(fabric, link);
            path.slowest = std::max(path.slowest, byte_seconds(fabric, link));
            at = fabric.target(link);
        }
        return path;
    }
    for (const network::RouteLeg& leg : route.legs) {
        path.all += byte_seconds(fabric, leg.link) * leg.share;
        path.slowest = std::max(path.slowest, byte_seconds(fabric, leg.link) * leg.share);
    }
    return path;
}

std::vector<MessageGroup> message_groups(const system::OperationTraffic& traffic) {
    std::vector<MessageGroup> groups;
    for (const system::StageTraffic& stage : traffic.stages) {
        const auto middle = [](std::size_t bin) { return std::ldexp(0.75, static_cast<int>(bin)); };
        double sum = 0;
        for (std::size_t bin = 1; bin < stage.sizes.size(); ++bin) {
            sum += middle(bin) * static_cast<double>(stage.sizes[bin]);
        }
        for (std::size_t bin = 1; bin < stage.sizes.size(); ++bin) {
            if (stage.sizes[bin] > 0) {
                groups.push_back(
                    {middle(bin) * count_of(stage.bytes) / sum, static_cast<double>(stage.sizes[bin])});
            }
        }
    }
    return groups;
}

double packets_of(double size, const network::Transport& transport) {
    if (transport.payload == Bytes(0) || size <= 0) {
        return 0;
    }
    return std::ceil((size + count_of(transport.message_header)) / count_of(transport.payload));
}

WireFactors wire_factors(const std::vector<MessageGroup>& groups, const network::Transport& transport) {
    double payload = 0;
    double wire = 0;
    double acknowledgements = 0;
    for (const MessageGroup& group : groups) {
        const double packets = packets_of(group.size, transport);
        payload += group.size * group.count;
        wire += group.count *
                (group.size + count_of(transport.message_header) + packets * count_of(transport.header));
        acknowledgements += group.count * std::ceil(packets / transport.acknowledged);
    }
    return payload > 0
               ? WireFactors{wire / payload, acknowledgements * count_of(transport.acknowledgement) / payload}
               : WireFactors{};
}

}  // namespace astrolabe::experiment::wire
