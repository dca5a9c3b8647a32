/// What a fabric of servers adds: who shares a server, and what is in its scale-out network.
#pragma once

#include "composition.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <astrolabe/network/family.hpp>

namespace astrolabe::network::servers {

class ServersFamily : public NetworkFamily {
public:
    explicit ServersFamily(std::shared_ptr<const Composition> whole)
        : whole_(std::move(whole)) {}

    /// What the only scale-out network says of itself, for what NICs send.
    [[nodiscard]] Description describe(const Fabric& fabric,
                                       const std::vector<PairTraffic>& job) const override;
    /// Groups whose members have a NIC each use rings of these NICs.
    [[nodiscard]] std::optional<JobRings> job_rings() const override {
        return plane() == nullptr ? std::nullopt : plane()->family().job_rings();
    }
    [[nodiscard]] const ServerLayout* servers() const override { return &whole_->layout(); }
    [[nodiscard]] const Composition& composition() const { return *whole_; }

private:
    /// The only scale-out network; null where there are several.
    [[nodiscard]] const Fabric* plane() const {
        const auto planes = whole_->layout().planes();
        return planes.size() == 1 ? planes.front().get() : nullptr;
    }

    std::shared_ptr<const Composition> whole_;
};

}  // namespace astrolabe::network::servers
