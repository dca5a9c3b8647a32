#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/family.hpp>

namespace astrolabe::network {

Description NetworkFamily::describe(const Fabric& /*fabric*/, const std::vector<PairTraffic>& /*job*/) const {
    return {};
}

void NetworkFamily::write_file(const std::function<void(std::string_view)>& /*sink*/) const {
    ASTROLABE_ASSERT(false, "there is a file to write");
}

std::optional<SharedPorts> NetworkFamily::shared_ports(const Fabric& /*fabric*/) const {
    return std::nullopt;
}

std::optional<EstimatedWork> NetworkFamily::estimate(const JobSize& /*job*/) const {
    return std::nullopt;
}

std::optional<ScaledFabric> NetworkFamily::scaled(const Fabric& /*fabric*/,
                                                  const Scaling& /*scaling*/) const {
    return std::nullopt;
}

BrokenFabric NetworkFamily::broken(const std::vector<PartFailure>& /*failures*/) const {
    ASTROLABE_ASSERT(false, "the family names parts that fail by its rules");
    return {};
}

std::optional<std::string> NetworkFamily::ignored_class(std::uint32_t /*traffic_class*/) const {
    return std::nullopt;
}

}  // namespace astrolabe::network
