/// Experiments that run on the fluid engine in threads of one process: what they have in common is read only.
#include "collective_time.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/run/collective_run.hpp>

namespace astrolabe::experiment {
namespace {

constexpr std::array kNetworks{
    "{kind: flat, hosts: 16, link: {rate: 100Gbps, latency: 500ns}}",
    "{kind: leaf_spine, hosts: 16, hosts_per_leaf: 4, spines: 2, link: {rate: 100Gbps, latency: 500ns}, "
    "load_balancing: flow_hash}",
    "{kind: torus, sizes: [4, 4], link: {rate: 100Gbps, latency: 500ns}}"};

Time time_on(const std::string& network, const std::string& algorithm) {
    CollectiveRequest request;
    request.kind = algorithm == "direct" ? "all_to_all" : "all_reduce";
    request.algorithm = algorithm;
    request.sizes = {"4MiB"};
    request.network = network;
    return testing::run_collective(request).run.execution.total;
}

/// Each thread runs each experiment, and each begins with another one.
TEST(ExperimentsInThreads, RunAsTheyDoAlone) {
    struct Case {
        std::string network;
        std::string algorithm;
    };
    std::vector<Case> cases;
    std::vector<Time> alone;
    for (const char* network : kNetworks) {
        for (const char* algorithm : {"ring", "direct"}) {
            cases.push_back({network, algorithm});
            alone.push_back(time_on(network, algorithm));
        }
    }
    constexpr std::size_t kThreads = 4;
    std::vector<std::vector<Time>> found(kThreads, std::vector<Time>(cases.size(), Time{}));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (std::size_t i = 0; i < cases.size(); ++i) {
                const std::size_t c = (i + t) % cases.size();
                found[t][c] = time_on(cases[c].network, cases[c].algorithm);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const std::vector<Time>& times : found) {
        EXPECT_EQ(times, alone);
    }
}

}  // namespace
}  // namespace astrolabe::experiment
