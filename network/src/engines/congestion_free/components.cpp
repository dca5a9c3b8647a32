#include "../switching_names.hpp"
#include "congestion_free_backend.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <astrolabe/network/components.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::TransferTiming> {
    static constexpr std::array<std::pair<std::string_view, network::TransferTiming>, 2> kNames{
        {{"exact", network::TransferTiming::kExact}, {"astra_sim_1", network::TransferTiming::kAstraSim1}}};
};

template <>
struct EnumNames<network::PortSharing> {
    static constexpr std::array<std::pair<std::string_view, network::PortSharing>, 2> kNames{
        {{"none", network::PortSharing::kNone}, {"ports", network::PortSharing::kPorts}}};
};

}  // namespace astrolabe

namespace astrolabe::network {

void register_congestion_free_backend(Registry<BackendMaker>& registry) {
    Schema<CongestionFreeOptions> schema(
        "congestion_free", "every message as if it were alone: the formula of latency and rate");
    schema
        .optional("switching", &CongestionFreeOptions::switching,
                  "bytes over rate once, on the slowest link, or at every hop")
        .optional("timing", &CongestionFreeOptions::timing,
                  "to the picosecond, or cut off to whole nanoseconds as ASTRA-sim does")
        .optional("sharing", &CongestionFreeOptions::sharing,
                  "what messages share: nothing, or the ports of hosts, where what a schedule sends at once "
                  "goes one by one");
    registry.add<CongestionFreeOptions>(std::move(schema), [](const CongestionFreeOptions& options) {
        BackendMaker maker;
        maker.shares_links = false;
        maker.transport.shares_links = false;
        Engine engine{
            std::string(kStaticNetworks), "latency and rate of every message by itself", {}, {}, {}, {}};
        engine.unsupported = [options](const Fabric& fabric) {
            return congestion_free_unsupported(fabric, options);
        };
        engine.make = [options](std::shared_ptr<const Fabric> fabric, std::uint64_t) {
            return std::make_unique<CongestionFreeBackend>(std::move(fabric), options);
        };
        const auto none = [](std::string_view networks, std::string reason) {
            return Engine{std::string(networks), std::move(reason), {}, {}, {}, {}};
        };
        const std::string no_time =
            "its circuits come and go, and a formula of latency and rate knows no time at which they do";
        maker.engines = {
            std::move(engine), none(kScheduledNetworks, no_time),
            none(kDemandAwareNetworks,
                 "its circuits move with the demand, and a formula of latency and rate knows none: "
                 "use the fluid engine")};
        return maker;
    });
}

}  // namespace astrolabe::network
