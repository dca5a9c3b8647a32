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

}  // namespace astrolabe

namespace astrolabe::network {

void register_congestion_free_backend(Registry<BackendMaker>& registry) {
    Schema<CongestionFreeOptions> schema(
        "congestion_free", "every message as if it were alone: the formula of latency and rate");
    schema
        .optional("switching", &CongestionFreeOptions::switching,
                  "bytes over rate once, on the slowest link, or at every hop")
        .optional("timing", &CongestionFreeOptions::timing,
                  "to the picosecond, or cut off to whole nanoseconds as ASTRA-sim does");
    registry.add<CongestionFreeOptions>(std::move(schema), [](const CongestionFreeOptions& options) {
        BackendMaker maker;
        maker.shares_links = false;
        maker.refusal = [options](const Fabric& fabric) { return congestion_free_refusal(fabric, options); };
        maker.make = [options](std::shared_ptr<const Fabric> fabric, std::uint64_t) {
            return std::make_unique<CongestionFreeBackend>(std::move(fabric), options);
        };
        return maker;
    });
}

}  // namespace astrolabe::network
