#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/randomness.hpp>
#include <astrolabe/experiment/file/jobs.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment {
namespace {

/// "network.failures.0.seed" is of the stream "network.failures.seed".
std::string without_numbers(const std::string& path) {
    std::string name;
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        if (part.find_first_not_of("0123456789") != std::string::npos) {
            name += (name.empty() ? "" : ".") + part;
        }
        begin = end + 1;
    }
    return name;
}

bool has_choice_of_paths(const network::Fabric& fabric) {
    for (std::size_t node = 0; node < fabric.node_count(); ++node) {
        const network::NodeId at(node);
        if (fabric.out_degree(at) < 2) {
            continue;  // a host with one cable
        }
        for (std::size_t host = 0; host < fabric.host_count(); ++host) {
            if (host != node && fabric.routing().next_links(at, network::HostId(host)).size() > 1) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

std::vector<std::string> random_streams(const Experiment& experiment) {
    std::vector<std::string> streams;
    const auto add = [&streams](std::string name) {
        if (std::find(streams.begin(), streams.end(), name) == streams.end()) {
            streams.push_back(std::move(name));
        }
    };
    if (experiment.jobs != nullptr) {
        for (const std::string& stream : experiment.jobs->streams) {
            add(stream);
        }
        for (const JobOnNetwork& job : experiment.jobs->jobs) {
            for (std::string& stream : random_streams(job.experiment)) {
                add(std::move(stream));
            }
        }
        return streams;
    }
    for (const std::string& path : experiment.open_seeds) {
        add(without_numbers(path));
    }
    const network::Fabric& fabric = *experiment.fabric;
    if (const std::string_view engines = fabric.family().engines(); !engines.empty()) {
        add(fmt::format("network.{}", engines));
    } else if (fabric.routing().load_balancing() == network::LoadBalancing::kPaths) {
        add("network.paths");
    } else if (fabric.routing().load_balancing() == network::LoadBalancing::kFlowHash &&
               has_choice_of_paths(fabric)) {
        add("network.flow_hash");
    }
    if (experiment.placement_follows_seed) {
        add("cluster.placement");
    }
    if (experiment.cluster.jitter && !experiment.cluster.jitter->seed) {
        add("cluster.jitter.seed");
    }
    if (experiment.failures_follow_seed) {
        add("failures.random.seed");
    }
    if (experiment.backend.packet_payload > Bytes(0)) {
        add("backend.packets");
    }
    return streams;
}

}  // namespace astrolabe::experiment
