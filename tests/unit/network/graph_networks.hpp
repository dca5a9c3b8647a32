/// Networks of lists and files, built in a folder of their own, or their first defect.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

class GraphTest : public testing::Test {
protected:
    GraphTest() { register_builtin_topologies(registry_); }
    ~GraphTest() override { std::filesystem::remove_all(folder_); }

    std::shared_ptr<const Fabric> build(const std::string& yaml) {
        const Result<ConfigNode> node = parse_config(yaml, (folder_ / "network.yaml").string(), folder_);
        if (!node) {
            ADD_FAILURE() << render(node.error());
            return nullptr;
        }
        ReadContext context;
        const auto configured = registry_.read(*node, context);
        errors_ = context.errors();
        resolved_ = configured ? to_yaml(configured->resolved) : "";
        return configured ? configured->make()(1) : nullptr;
    }
    /// Of a network that cannot be: the first diagnostic as "line:column message".
    std::string defect(const std::string& yaml) {
        EXPECT_EQ(build(yaml), nullptr) << yaml;
        if (errors_.empty()) {
            return "";
        }
        const Diagnostic& first = errors_.front();
        return fmt::format("{}:{} {}", first.where.line, first.where.column, first.message);
    }
    std::string write(const std::string& name, const std::string& text) {
        std::filesystem::create_directories(folder_);
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return (folder_ / name).string();
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() /
        fmt::format("astrolabe-graph-{}-{}", ::getpid(),
                    testing::UnitTest::GetInstance()->current_test_info()->name());
    Registry<FabricMaker> registry_{"network"};
    Diagnostics errors_;
    std::string resolved_;  ///< the last network that was built, with everything said
};

/// Every link and every route of one fabric is that of the other.
inline void expect_same(const Fabric& a, const Fabric& b) {
    ASSERT_EQ(a.host_count(), b.host_count());
    ASSERT_EQ(a.node_count(), b.node_count());
    ASSERT_EQ(a.link_count(), b.link_count());
    for (LinkId id; id.index() < a.link_count(); ++id) {
        ASSERT_EQ(a.source(id), b.source(id)) << id.index();
        ASSERT_EQ(a.target(id), b.target(id)) << id.index();
        EXPECT_EQ(a.link(id).rate, b.link(id).rate);
        EXPECT_EQ(a.link(id).latency, b.link(id).latency);
        EXPECT_EQ(a.link(id).reverse, b.link(id).reverse);
        EXPECT_EQ(a.link(id).cost, b.link(id).cost);
    }
    for (std::size_t i = 0; i < a.host_count(); ++i) {
        for (std::size_t j = 0; j < a.host_count(); ++j) {
            if (i == j) {
                continue;
            }
            const Route one = a.routing().route(HostId(i), HostId(j));
            const Route other = b.routing().route(HostId(i), HostId(j));
            ASSERT_EQ(one.legs.size(), other.legs.size());
            EXPECT_EQ(one.latency, other.latency);
            for (std::size_t leg = 0; leg < one.legs.size(); ++leg) {
                EXPECT_EQ(one.legs[leg].link, other.legs[leg].link);
                EXPECT_EQ(one.legs[leg].share, other.legs[leg].share);
            }
        }
    }
}

}  // namespace astrolabe::network
