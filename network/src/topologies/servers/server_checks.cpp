#include "../checks.hpp"
#include "server_parameters.hpp"

#include <bit>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network::servers {

namespace {

void check_gpus(const ServerParameters& p, detail::ParameterCheck& check) {
    if (p.nics.per == NicShare::kPair && p.gpus % 2 != 0) {
        check.report("nics.per", fmt::format("{} GPUs are no pairs", p.gpus),
                     "use per: gpu, per: server, or an even number of gpus");
    }
    if (p.scale_up.kind == ScaleUp::kHypercube && !std::has_single_bit(static_cast<std::uint64_t>(p.gpus))) {
        check.report("gpus", fmt::format("{} GPUs make no hypercube", p.gpus),
                     fmt::format("a hypercube has a power of two of them, {} or {}",
                                 std::bit_floor(static_cast<std::uint64_t>(p.gpus)),
                                 std::bit_ceil(static_cast<std::uint64_t>(p.gpus))));
    }
}

void check_attachment(const ServerParameters& p, detail::ParameterCheck& check) {
    const Attach attach = p.nics.attach;
    if (attach == Attach::kScaleUp && p.scale_up.kind != ScaleUp::kSwitch) {
        check.report("nics.attach", "there is no scale-up switch that NICs could be attached to",
                     "use attach: gpu or pcie, or scale_up: {kind: switch}");
    }
    if (attach == Attach::kIntegrated && (p.nics.per != NicShare::kGpu || p.nics.count != 1)) {
        check.report("nics.attach", "a NIC that is part of a GPU cannot be shared, or be one of several",
                     "leave out per and count, or use attach: gpu");
    }
    if (attach == Attach::kIntegrated && p.nics.buffer > Bytes(0)) {
        check.report("nics.buffer", "a NIC that is part of a GPU sends from its memory and has no buffer",
                     "leave it out, or use attach: gpu");
    }
}

void check_pcie(const ServerParameters& p, detail::ParameterCheck& check) {
    const bool is_bus = p.scale_up.kind == ScaleUp::kPcie;
    const bool has_switches = is_bus || p.nics.attach == Attach::kPcie;
    if (p.pcie && !has_switches && p.nics.attach != Attach::kGpu) {
        check.report("pcie", "nothing in these servers is on a PCIe bus",
                     "leave it out, or use attach: gpu or pcie");
        return;
    }
    const std::int64_t gpus_of_switch = gpus_per_switch(p);
    if (p.pcie && p.pcie->gpus_per_switch > 0 && !has_switches) {
        check.report("pcie.gpus_per_switch", "these servers have no PCIe switches",
                     "leave it out, or use attach: pcie");
    } else if (has_switches && p.gpus % gpus_of_switch != 0) {
        check.report("pcie.gpus_per_switch",
                     fmt::format("{} GPUs do not fill PCIe switches of {}", p.gpus, gpus_of_switch),
                     "it divides the number of gpus");
    } else if (p.nics.attach == Attach::kPcie && !is_bus && gpus_of_switch % gpus_of_group(p) != 0) {
        check.report("pcie.gpus_per_switch",
                     fmt::format("{} GPUs share a NIC and are not all on its PCIe switch of {}",
                                 gpus_of_group(p), gpus_of_switch),
                     "make it a multiple of the GPUs that share a NIC");
    }
}

}  // namespace

ValidationErrors validation_errors(const ServerParameters& p) {
    detail::ParameterCheck check;
    check.count("count", p.count, 1, kMaxHosts, "say how many servers there are");
    check.count("gpus", p.gpus, p.topology.empty() || p.inside ? 1 : 0, kMaxGpusOfServer,
                "say how many GPUs a server has, or name a topology file");
    check.count("nics.count", p.nics.count, 1, kMaxNicsOfGroup,
                "say how many NICs a GPU, pair or server has");
    check.rate("scale_up.rate", p.scale_up.rate);
    check.latency("scale_up.latency", p.scale_up.latency);
    if (p.nics.rate) {
        check.rate("nics.rate", *p.nics.rate);
    }
    if (p.nics.latency) {
        check.latency("nics.latency", *p.nics.latency);
    }
    if (p.pcie) {
        check.rate("pcie.rate", p.pcie->rate);
        check.latency("pcie.latency", p.pcie->latency);
        check.rate("pcie.socket_rate", p.pcie->socket_rate);
        check.latency("pcie.socket_latency", p.pcie->socket_latency);
        check.count("pcie.processors", p.pcie->processors, 1, kMaxProcessors,
                    "say how many processors a server has");
    }
    if (check.sound() && (p.topology.empty() || p.inside)) {
        check_gpus(p, check);
    }
    if (check.sound() && p.topology.empty()) {
        check_attachment(p, check);
    }
    if (check.sound() && p.topology.empty()) {
        check_pcie(p, check);
    }
    return std::move(check).take();
}

}  // namespace astrolabe::network::servers
