// Bytes carried by links, summed over messages that took whole routes; for flow engines.
#pragma once

#include <cmath>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

/// Rounds what a link carries of sprayed messages, a sum of n shares, to a byte: from half a byte up, also
/// where rounding errors leave a sum below the half that it is. So the same shares added in another order, or
/// folded (link_classes.hpp), make the same bytes B, if shares have a common denominator q of 256 at most: a
/// sum that is not a half is 1/(2q) ≥ 1/512 away from it. Proven for n·B < 2^42; above, errors mostly cancel,
/// yet B may differ by one.
inline Bytes round_sprayed(double bytes) {
    constexpr double kLastBits = 1.0 / 1024;
    return Bytes(std::llround(bytes + kLastBits));
}

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
            links[LinkId(i)].carried += round_sprayed(sprayed_[i]);
        }
        return links;
    }

private:
    const Fabric& fabric_;
    IndexedVector<LinkId, LinkStatistics> links_;
    std::vector<double> sprayed_;
};

}  // namespace astrolabe::network
