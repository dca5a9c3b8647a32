#include "server_graph.hpp"

#include "server_parameters.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::servers {

namespace {

class GraphMaker {
public:
    explicit GraphMaker(const ServerParameters& server)
        : server_(server),
          pcie_(server.pcie.value_or(PcieParameters{})),
          gpus_(static_cast<std::uint32_t>(server.gpus)),
          group_(static_cast<std::uint32_t>(gpus_of_group(server))) {
        graph_.has_integrated_nics = server.nics.attach == Attach::kIntegrated;
        for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
            add(ServerPart::kGpu, "gpu", Bytes(0));
        }
    }

    [[nodiscard]] ServerGraph make() && {
        if (server_.inside) {
            add_file(*server_.inside);
            return std::move(graph_);
        }
        add_scale_up();
        if (has_pcie_switches(server_)) {
            add_pcie_switches();
        }
        if (server_.scale_up.kind == ScaleUp::kPcie) {
            add_processors();
        }
        add_nics();
        return std::move(graph_);
    }

    [[nodiscard]] static bool has_pcie_switches(const ServerParameters& server) {
        return server.scale_up.kind == ScaleUp::kPcie || server.nics.attach == Attach::kPcie;
    }

private:
    std::uint32_t add(ServerPart part, std::string name, Bytes buffer) {
        graph_.nodes.push_back({part, std::move(name), buffer});
        return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
    }
    void join(std::uint32_t a, std::uint32_t b, LinkPlace place, Bandwidth rate) {
        graph_.links.push_back({a, b, rate,
                                place == LinkPlace::kScaleUp  ? server_.scale_up.latency
                                : place == LinkPlace::kSocket ? pcie_.socket_latency
                                                              : pcie_.latency,
                                place});
    }
    void join(std::uint32_t a, std::uint32_t b, LinkPlace place) {
        join(a, b, place,
             place == LinkPlace::kScaleUp  ? server_.scale_up.rate
             : place == LinkPlace::kSocket ? pcie_.socket_rate
                                           : pcie_.rate);
    }

    /// GPUs are there already.
    void add_file(const NcclTopology& file) {
        using Kind = NcclDevice::Kind;
        std::vector<std::uint32_t> nodes(file.devices.size());
        for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
            nodes[file.gpus[gpu]] = gpu;
        }
        if (file.has_scale_up()) {
            add_nvlinks(file, nodes);
        } else {
            add_scale_up();
        }
        std::vector<std::uint32_t> processors;
        for (std::size_t i = 0; i < file.devices.size(); ++i) {
            if (file.devices[i].kind == Kind::kPcieSwitch) {
                nodes[i] = add(ServerPart::kSwitch, "pcie switch", Bytes(0));
            } else if (file.devices[i].kind == Kind::kProcessor) {
                nodes[i] = add(ServerPart::kProcessor, "cpu", Bytes(0));
                processors.push_back(nodes[i]);
            }
        }
        for (const std::uint32_t nic : file.nics) {
            nodes[nic] = add(ServerPart::kNic, "nic", server_.nics.buffer);
        }
        for (std::size_t i = 0; i < file.devices.size(); ++i) {
            if (const NcclDevice& device = file.devices[i]; device.parent) {
                join(nodes[*device.parent], nodes[i], LinkPlace::kPcie, device.rate.value_or(pcie_.rate));
            }
        }
        for (const NcclLink& link : file.links) {
            if (link.target && file.devices[*link.target].kind == Kind::kProcessor) {
                join(nodes[link.gpu], nodes[*link.target], LinkPlace::kPcie, link.rate);
            }
        }
        join_processors(processors);
    }

    void add_nvlinks(const NcclTopology& file, const std::vector<std::uint32_t>& nodes) {
        std::optional<std::uint32_t> nvswitch;
        for (const NcclLink& link : file.links) {
            if (!link.target) {
                nvswitch = nvswitch ? nvswitch
                                    : add(ServerPart::kSwitch, "nvswitch", server_.scale_up.switch_buffer);
                join(nodes[link.gpu], *nvswitch, LinkPlace::kScaleUp, link.rate);
            } else if (file.devices[*link.target].kind == NcclDevice::Kind::kGpu) {
                join(nodes[link.gpu], nodes[*link.target], LinkPlace::kScaleUp, link.rate);
            }
        }
    }

    void join_processors(const std::vector<std::uint32_t>& processors) {
        for (std::size_t a = 0; a < processors.size(); ++a) {
            for (std::size_t b = a + 1; b < processors.size(); ++b) {
                join(processors[a], processors[b], LinkPlace::kSocket);
            }
        }
    }

    void add_scale_up() {
        switch (server_.scale_up.kind) {
            case ScaleUp::kSwitch:
                if (gpus_ > 1 || server_.nics.attach == Attach::kScaleUp) {
                    scale_up_switch_ = add(ServerPart::kSwitch, "nvswitch", server_.scale_up.switch_buffer);
                    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
                        join(gpu, scale_up_switch_, LinkPlace::kScaleUp);
                    }
                }
                return;
            case ScaleUp::kMesh:
                for (std::uint32_t a = 0; a < gpus_; ++a) {
                    for (std::uint32_t b = a + 1; b < gpus_; ++b) {
                        join(a, b, LinkPlace::kScaleUp);
                    }
                }
                return;
            case ScaleUp::kRing:
                for (std::uint32_t gpu = 0; gpu + 1 < gpus_; ++gpu) {
                    join(gpu, gpu + 1, LinkPlace::kScaleUp);
                }
                if (gpus_ > 2) {
                    join(gpus_ - 1, 0, LinkPlace::kScaleUp);
                }
                return;
            case ScaleUp::kHypercube:
                for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
                    for (std::uint32_t bit = 1; bit < gpus_; bit *= 2) {
                        if ((gpu & bit) == 0) {
                            join(gpu, gpu | bit, LinkPlace::kScaleUp);
                        }
                    }
                }
                return;
            case ScaleUp::kPcie:
            case ScaleUp::kNone:
                return;
        }
        invariant_failed("scale-up network is made", "every kind has its links");
    }

    void add_pcie_switches() {
        gpus_per_switch_ = static_cast<std::uint32_t>(gpus_per_switch(server_));
        for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
            if (gpu % gpus_per_switch_ == 0) {
                pcie_switches_.push_back(add(ServerPart::kSwitch, "pcie switch", Bytes(0)));
            }
            join(gpu, pcie_switches_.back(), LinkPlace::kPcie);
        }
    }

    void add_processors() {
        const std::size_t count = std::min(static_cast<std::size_t>(pcie_.processors), pcie_switches_.size());
        std::vector<std::uint32_t> processors;
        for (std::size_t i = 0; i < count; ++i) {
            processors.push_back(add(ServerPart::kProcessor, "cpu", Bytes(0)));
        }
        for (std::size_t i = 0; i < pcie_switches_.size(); ++i) {
            join(pcie_switches_[i], processors[i * count / pcie_switches_.size()], LinkPlace::kPcie);
        }
        join_processors(processors);
    }

    void add_nics() {
        if (graph_.has_integrated_nics) {
            return;
        }
        const auto per_group = static_cast<std::uint32_t>(server_.nics.count);
        for (std::uint32_t first = 0; first < gpus_; first += group_) {
            for (std::uint32_t number = 0; number < per_group; ++number) {
                add_nic(first, first + number * group_ / per_group);
            }
        }
    }

    /// Of the group that starts with GPU `first`; `nearest` is the first GPU that is to use it.
    void add_nic(std::uint32_t first, std::uint32_t nearest) {
        const std::uint32_t nic = add(ServerPart::kNic, "nic", server_.nics.buffer);
        switch (server_.nics.attach) {
            case Attach::kGpu:
                for (std::uint32_t gpu = first; gpu < first + group_; ++gpu) {
                    join(gpu, nic, LinkPlace::kPcie);
                }
                return;
            case Attach::kPcie:
                join(pcie_switches_[nearest / gpus_per_switch_], nic, LinkPlace::kPcie);
                return;
            case Attach::kScaleUp:
                join(scale_up_switch_, nic, LinkPlace::kScaleUp);
                return;
            case Attach::kIntegrated:
                break;
        }
        invariant_failed("NIC is attached", "integrated NICs are no nodes");
    }

    const ServerParameters& server_;
    PcieParameters pcie_;
    std::uint32_t gpus_;
    std::uint32_t group_;
    std::uint32_t scale_up_switch_ = 0;
    std::uint32_t gpus_per_switch_ = 1;
    std::vector<std::uint32_t> pcie_switches_;
    ServerGraph graph_;
};

}  // namespace

std::int64_t gpus_of_group(const ServerParameters& server) {
    switch (server.nics.per) {
        case NicShare::kGpu:
            return 1;
        case NicShare::kPair:
            return 2;
        case NicShare::kServer:
            return server.gpus;
    }
    invariant_failed("NICs are shared", "every share has its GPUs");
}

std::int64_t nics_of_server(const ServerParameters& server) {
    return server.gpus / gpus_of_group(server) * server.nics.count;
}

std::int64_t gpus_per_switch(const ServerParameters& server) {
    const std::int64_t given = server.pcie.value_or(PcieParameters{}).gpus_per_switch;
    if (given > 0) {
        return given;
    }
    const std::int64_t group = server.nics.attach == Attach::kPcie ? gpus_of_group(server) : 1;
    return server.scale_up.kind == ScaleUp::kPcie && server.gpus % 2 == 0 ? std::max<std::int64_t>(2, group)
                                                                          : group;
}

std::int64_t cables_of_server(const ServerParameters& server) {
    if (server.inside) {
        return static_cast<std::int64_t>(make_graph(server).links.size());
    }
    const std::int64_t gpus = server.gpus;
    const std::int64_t dimensions = std::bit_width(static_cast<std::uint64_t>(gpus)) - 1;
    std::int64_t cables = 0;
    switch (server.scale_up.kind) {
        case ScaleUp::kSwitch:
        case ScaleUp::kRing:
            cables = gpus;
            break;
        case ScaleUp::kMesh:
            cables = gpus * (gpus - 1) / 2;
            break;
        case ScaleUp::kHypercube:
            cables = gpus * dimensions / 2;
            break;
        case ScaleUp::kPcie:
        case ScaleUp::kNone:
            break;
    }
    const std::int64_t to_nics = server.nics.attach == Attach::kGpu ? gpus_of_group(server) : 1;
    constexpr std::int64_t kBetweenProcessors = kMaxProcessors * (kMaxProcessors - 1) / 2;
    return cables + 2 * gpus + nics_of_server(server) * to_nics + kBetweenProcessors;
}

ServerGraph make_graph(const ServerParameters& server) {
    ASTROLABE_ASSERT(validation_errors(server).empty(), "parameters are checked before a server is built");
    return GraphMaker(server).make();
}

}  // namespace astrolabe::network::servers
