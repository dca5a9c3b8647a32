/// Model-A of the EuroMLSys 2024 Opera study, run packet by packet.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <example_run.hpp>
#include <gtest/gtest.h>

namespace astrolabe::testing {

/// Jumbo packets of the study on the engine's own transport, and the study's transport.
inline constexpr const char* kIdealTransport = "{kind: packet, mtu: 8936B, header: 64B, ack_size: 64B}";
inline constexpr const char* kLegacyTransport = "{kind: packet, preset: legacy_dctcp}";
/// A path for each flow, and 10 000 packets of 9000 B for each of a switch's four ports.
inline const std::vector<std::string> kStudyFabric{"network.load_balancing=flow_hash",
                                                   "network.switch_buffer=360MB"};

inline experiment::Run run_model_a(const std::string& backend, std::vector<std::string> overrides) {
    // With the constant of docs/theory/opera-dlrm-study.md, "How an iteration is composed".
    overrides.emplace_back("workload.embedding.backward=375.8ms");
    overrides.push_back("backend=" + backend);
    experiment::Run run = run_example("opera-dlrm/experiment-16.yaml", std::move(overrides));
    const auto count = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf(
        "%s: %.4f s, %llu timeouts, %llu drops, %llu sent again, %llu packet-hops, %llu events; %.0f s, "
        "%.0f MB\n",
        backend.c_str(), to_seconds(run.execution.total), count(run.network.timeouts),
        count(run.network.drops), count(run.network.retransmissions), count(run.network.packet_hops),
        count(run.engine.events), run.engine.wall_seconds,
        static_cast<double>(run.engine.peak_rss_bytes) / 1e6);
    return run;
}

}  // namespace astrolabe::testing
