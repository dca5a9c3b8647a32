// Bytes carried by links, summed over messages that took whole routes; for flow engines.
#pragma once

#include <cmath>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

/// What is sprayed is rounded to a byte once per link; all else is exact.
class LinkTraffic {
public:
    explicit LinkTraffic(const Fabric& fabric)
        : fabric_(fabric),
          links_(fabric.link_count()),
          sprayed_(fabric.link_count(), 0.0) {}

    void add(HostId source, HostId destination, Bytes size) {
        if (size == Bytes(0)) {
            return;
        }
        for (const RouteLeg& leg : fabric_.routing().route(source, destination).legs) {
            if (leg.share == 1.0) {
                links_[leg.link].carried += size;
            } else {
                sprayed_[leg.link.index()] += leg.share * static_cast<double>(size.count());
            }
        }
    }

    [[nodiscard]] IndexedVector<LinkId, LinkStatistics> links() const {
        IndexedVector<LinkId, LinkStatistics> links = links_;
        for (std::size_t i = 0; i < sprayed_.size(); ++i) {
            links[LinkId(i)].carried += Bytes(std::llround(sprayed_[i]));
        }
        return links;
    }

private:
    const Fabric& fabric_;
    IndexedVector<LinkId, LinkStatistics> links_;
    std::vector<double> sprayed_;
};

}  // namespace astrolabe::network
