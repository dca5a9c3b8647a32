/// Runs one collective on a flat network, for validation tests.
#pragma once

#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include <astrolabe/experiment/run/collective_run.hpp>

namespace astrolabe::testing {

inline experiment::CollectivePoint run_collective(const experiment::CollectiveRequest& request) {
    static const experiment::Components kComponents = experiment::builtin_components();
    const Result<experiment::CollectiveRun> prepared =
        experiment::CollectiveRun::prepare(request, kComponents);
    if (!prepared) {
        throw std::runtime_error(render(prepared.error()));
    }
    return prepared->run(0, {});
}

/// Hosts at 100 Gb/s, 1 us one way end to end (500 ns a link).
inline std::string flat_network(std::size_t hosts) {
    return fmt::format("{{kind: flat, hosts: {}, link: {{rate: 100Gbps, latency: 500ns}}}}", hosts);
}

}  // namespace astrolabe::testing
