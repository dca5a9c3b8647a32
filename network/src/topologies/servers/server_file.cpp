#include "server_parameters.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network::servers {

namespace {

/// Keys of a server that a topology file stands for, by their sections.
std::vector<std::pair<std::string_view, std::string_view>> keys_of_file(const NcclTopology& file) {
    std::vector<std::pair<std::string_view, std::string_view>> keys{{"nics", "count"},
                                                                    {"nics", "per"},
                                                                    {"nics", "attach"},
                                                                    {"pcie", "gpus_per_switch"},
                                                                    {"pcie", "processors"}};
    if (file.has_scale_up()) {
        keys.insert(keys.end(), {{"scale_up", "kind"}, {"scale_up", "rate"}});
    }
    if (file.without_rate() == nullptr) {
        keys.emplace_back("pcie", "rate");
    }
    return keys;
}

const ConfigNode* find_key(const ConfigNode& server, std::string_view section, std::string_view key) {
    return server.find_path(fmt::format("{}.{}", section, key));
}

}  // namespace

void read_topology(ServerParameters& server, const ConfigNode& node, ReadContext& context) {
    if (server.topology.empty()) {
        return;
    }
    const ConfigNode& named = *node.find("topology");
    const auto refuse = [&](const SourceRange& where, std::string message, std::string hint,
                            const SourceRange& other, std::string note) {
        Diagnostic defect{"network.servers", where, std::move(message), std::move(hint), {}};
        defect.notes.emplace_back(other, std::move(note));
        context.error(std::move(defect));
    };
    Result<NcclTopology> loaded = load_nccl_topology(server.topology);
    if (!loaded) {
        for (Diagnostic defect : loaded.error()) {
            defect.notes.emplace_back(named.where, "the file is named here");
            context.error(std::move(defect));
        }
        return;
    }
    const std::size_t before = context.error_count();
    const NcclTopology& file = *loaded;
    for (const auto& [section, key] : keys_of_file(file)) {
        if (const ConfigNode* given = find_key(node, section, key)) {
            refuse(given->where, fmt::format("{}.{} is said by the topology file", section, key),
                   "leave it out", named.where, "the file is named here");
        }
    }
    const auto gpus = static_cast<std::int64_t>(file.gpus.size());
    if (server.gpus != 0 && server.gpus != gpus) {
        refuse(node.find("gpus")->where,
               fmt::format("{} GPUs, and the topology file has {}", server.gpus, gpus), "leave it out",
               named.where, "the file is named here");
    }
    if (!file.has_scale_up() && gpus > 1 && find_key(node, "scale_up", "kind") == nullptr) {
        refuse(named.where, "the topology file says nothing of NVLinks",
               "give scale_up: {kind: switch, rate: …}, or scale_up: {kind: none} for GPUs without",
               file.devices[file.gpus.front()].where, "a GPU without nvlink");
    }
    if (file.without_rate() != nullptr && find_key(node, "pcie", "rate") == nullptr) {
        refuse(named.where, "the topology file does not say how fast all devices are joined",
               "give pcie: {rate: …} for these", file.without_rate()->where,
               "a device without link_speed and link_width");
    }
    if (server.nics.rate && file.nic_rate && *server.nics.rate != *file.nic_rate) {
        refuse(node.find_path("nics.rate")->where,
               fmt::format("NICs have {}, and {} in the topology file", to_string(*server.nics.rate),
                           to_string(*file.nic_rate)),
               "leave it out", file.devices[file.nics.front()].where, "a NIC");
    }
    if (context.error_count() != before) {
        return;
    }
    server.gpus = gpus;
    server.nics.rate = file.nic_rate ? file.nic_rate : server.nics.rate;
    server.nics.latency = server.nics.latency ? server.nics.latency : file.nic_latency;
    server.inside = std::make_shared<const NcclTopology>(*std::move(loaded));
    report_validation_errors(node, validation_errors(server), context);
}

void leave_out_topology(const ServerParameters& server, ConfigNode& written) {
    if (!server.inside) {
        return;
    }
    for (const auto& stated : keys_of_file(*server.inside)) {
        if (ConfigNode* keys = written.find(stated.first)) {
            std::erase_if(keys->entries,
                          [&](const ConfigEntry& entry) { return entry.key == stated.second; });
        }
    }
}

}  // namespace astrolabe::network::servers
