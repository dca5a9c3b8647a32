/// Servers over a scale-out network whose links come and go: two networks that share nothing
/// (split_network.hpp), so that each has its own engine.
///
/// What the family says of the whole is what that of the scale-out network says of its part.
///
/// Limits: one scale-out network; a message leaves through its host's own NIC (NicRule::kOwn); legs that no
/// message inside a server crosses, and that have room for all that the NICs behind them carry.
#pragma once

#include "../../split_network.hpp"
#include "servers_family.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace astrolabe::network::servers {

/// Whether messages over this scale-out network have an engine of their own.
[[nodiscard]] bool is_split(const Fabric& plane);

/// What is wrong with the legs of a server whose NICs carry `rate` each, and what to do about it; nothing:
/// they never limit what its NICs do. O(links · GPUs).
[[nodiscard]] std::optional<std::pair<std::string, std::string>> leg_defect(const ServerPaths& server,
                                                                            Bandwidth rate);

class SplitServersFamily final : public ServersFamily {
public:
    SplitServersFamily(std::shared_ptr<const Composition> whole, ComposedParts parts)
        : ServersFamily(std::move(whole)),
          parts_(std::move(parts)) {}

    [[nodiscard]] std::string_view engines() const override { return scale_out().engines(); }
    [[nodiscard]] std::string draw() const override { return scale_out().draw(); }
    [[nodiscard]] bool has_file() const override { return scale_out().has_file(); }
    void write_file(const std::function<void(std::string_view)>& sink) const override {
        scale_out().write_file(sink);
    }
    [[nodiscard]] std::vector<PartCount> parts() const override { return scale_out().parts(); }
    [[nodiscard]] std::optional<SharedPorts> shared_ports(const Fabric& fabric) const override;
    [[nodiscard]] std::optional<EstimatedWork> estimate(const JobSize& job) const override {
        return scale_out().estimate(job);
    }
    [[nodiscard]] std::optional<Activity> activity() const override { return scale_out().activity(); }
    [[nodiscard]] std::optional<std::string> ignored_class(std::uint32_t traffic_class) const override {
        return scale_out().ignored_class(traffic_class);
    }
    /// Of NICs that are not shared: a host has all that a window lets its NIC send.
    [[nodiscard]] std::shared_ptr<const CircuitWindows> circuit_windows() const override;
    [[nodiscard]] std::optional<ScaledFabric> scaled(const Fabric& fabric,
                                                     const Scaling& scaling) const override;
    /// As the scale-out network names them, whose hosts are the NICs.
    [[nodiscard]] std::vector<NamedPart> named_parts() const override { return scale_out().named_parts(); }
    [[nodiscard]] std::string undetected() const override { return scale_out().undetected(); }
    [[nodiscard]] BrokenFabric broken(const std::vector<PartFailure>& failures) const override;
    [[nodiscard]] std::shared_ptr<const SplitNetwork> split(const Fabric& fabric) const override;

private:
    [[nodiscard]] const Fabric& plane() const { return *parts_.planes.front(); }
    [[nodiscard]] const NetworkFamily& scale_out() const { return plane().family(); }

    ComposedParts parts_;
};

}  // namespace astrolabe::network::servers
