// A header is public, below include/, only where another layer, ns3-backend/, an installed consumer or a
// public header that is needed includes it.
#include "sources.hpp"

#include <map>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace astrolabe::structure {
namespace {

std::string layer_of(const std::string& path) {
    return path.substr(0, path.find('/'));
}

/// By public header as it is included, "astrolabe/network/fabric.hpp": the files that include it.
std::map<std::string, std::set<std::string>> includers(const std::vector<Source>& sources) {
    static const std::regex kInclude("#include <(astrolabe/[^>]+)>");
    std::map<std::string, std::set<std::string>> by_header;
    for (const Source& source : sources) {
        for (std::sregex_iterator match(source.text.begin(), source.text.end(), kInclude), end; match != end;
             ++match) {
            by_header[(*match)[1]].insert(source.path);
        }
    }
    return by_header;
}

class PublicHeaders : public ::testing::TestWithParam<const char*> {};

TEST_P(PublicHeaders, AreUsedFromOutside) {
    const std::string layer = GetParam();
    static const std::vector<Source> kSources =
        sources_below({"core", "network", "system", "workload", "experiment", "study", "cli", "ns3-backend",
                       "tests/package"});
    static const std::map<std::string, std::set<std::string>> kIncluders = includers(kSources);
    const std::string folder = layer + "/include/";
    std::set<std::string> unused;  // paths
    for (const Source& source : kSources) {
        if (source.path.starts_with(folder)) {
            unused.insert(source.path);
        }
    }
    for (bool found = true; found;) {
        found = false;
        for (auto header = unused.begin(); header != unused.end();) {
            const auto known = kIncluders.find(header->substr(folder.size()));
            const bool is_used =
                known != kIncluders.end() && std::ranges::any_of(known->second, [&](const std::string& user) {
                    return layer_of(user) != layer || (user.starts_with(folder) && !unused.contains(user));
                });
            header = is_used ? unused.erase(header) : std::next(header);
            found = found || is_used;
        }
    }
    for (const std::string& header : unused) {
        ADD_FAILURE() << header << " is used by no other layer: let it stand beside its source";
    }
}

INSTANTIATE_TEST_SUITE_P(Layers, PublicHeaders,
                         ::testing::Values("core", "network", "system", "workload", "experiment", "study"),
                         [](const auto& layer) { return std::string(layer.param); });

}  // namespace
}  // namespace astrolabe::structure
