// Bytes that classes of links carried, summed over the legs of connections: exact where a link takes all of
// a connection; what is sprayed is rounded to a byte once per class.
#pragma once

#include "../../link_traffic.hpp"

#include <cstdint>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

class LegBytes {
public:
    explicit LegBytes(std::size_t classes)
        : whole_(classes),
          shares_(classes, 0.0) {}

    /// Legs that follow are of a connection that sent so much.
    void start(Bytes bytes) { bytes_ = bytes; }
    void operator()(std::uint32_t link_class, double load) {
        if (load == 1.0) {
            whole_[link_class] += bytes_;
        } else {
            shares_[link_class] += load * static_cast<double>(bytes_.count());
        }
    }

    [[nodiscard]] const std::vector<Bytes>& whole() const { return whole_; }
    [[nodiscard]] const std::vector<double>& shares() const { return shares_; }

private:
    std::vector<Bytes> whole_;
    std::vector<double> shares_;
    Bytes bytes_;
};

/// Of each class, in bit/s.
[[nodiscard]] inline std::vector<double> capacities(const LinkClasses& classes) {
    std::vector<double> capacities;
    for (std::uint32_t i = 0; i < classes.size(); ++i) {
        capacities.push_back(static_cast<double>(classes.fabric().link(classes.example(i)).rate.count()));
    }
    return capacities;
}

}  // namespace astrolabe::network
