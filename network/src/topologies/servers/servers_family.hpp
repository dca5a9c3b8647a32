/// What a fabric of servers adds: who shares a server, and what is in its scale-out network.
#pragma once

#include "composition.hpp"

#include <memory>
#include <utility>

#include <astrolabe/network/family.hpp>

namespace astrolabe::network::servers {

class ServersFamily final : public NetworkFamily {
public:
    explicit ServersFamily(std::shared_ptr<const Composition> whole)
        : whole_(std::move(whole)) {}

    [[nodiscard]] const ServerLayout* servers() const override { return &whole_->layout(); }
    [[nodiscard]] const Composition& composition() const { return *whole_; }

private:
    std::shared_ptr<const Composition> whole_;
};

}  // namespace astrolabe::network::servers
