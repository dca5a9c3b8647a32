/// The keys that `problems` of a topology complains about.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

using Keys = std::vector<std::string>;

inline Keys keys(const ValidationErrors& problems) {
    Keys keys;
    for (const ValidationError& problem : problems) {
        EXPECT_FALSE(problem.message.empty());
        EXPECT_FALSE(problem.hint.empty());
        keys.push_back(problem.key);
    }
    return keys;
}

}  // namespace astrolabe::network
