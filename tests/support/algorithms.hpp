// Collective algorithms as files configure them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/components.hpp>

namespace astrolabe::testing {

/// "ring", or with its own keys "multi_ring, strides: [1, 5]".
inline system::AlgorithmPointer algorithm_of(const std::string& text) {
    system::AlgorithmRegistry registry("algorithm", "algorithm");
    system::register_builtin_algorithms(registry);
    ReadContext context;
    const auto configured =
        registry.read(*parse_config("{algorithm: " + text + "}", "algorithms.hpp"), context);
    ASTROLABE_ASSERT(configured.has_value(), "the registry has the algorithm");
    return configured->make();
}

struct NamedAlgorithm {
    std::string name;
    system::AlgorithmPointer algorithm;
};

/// All that come with the project, with the defaults of their parameters.
inline std::vector<NamedAlgorithm> builtin_algorithms() {
    system::AlgorithmRegistry registry("algorithm", "algorithm");
    system::register_builtin_algorithms(registry);
    std::vector<NamedAlgorithm> all;
    for (const std::string& name : registry.names()) {
        if (name != system::kScheduleFromFile) {
            all.push_back({name, algorithm_of(name)});
        }
    }
    return all;
}

}  // namespace astrolabe::testing
