/// NCCL's topology files as the inside of servers.
///
/// Rates by hand: 8 GT/s x 16 lanes = 16 · 0.75 = 12 GB/s = 96 Gb/s; 12 NVLinks of sm 80 = 12 · 20 = 240 GB/s
/// = 1,920 Gb/s.
#include "process.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/network/analysis/graph_drawing.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::network {
namespace {

using Names = std::vector<std::string>;

const std::string kX16 = R"(link_speed="8 GT/s" link_width="16")";

/// A GPU behind a PCIe switch, with what its element holds.
std::string gpu(int number, const std::string& inside) {
    return fmt::format(
        "<pci busid=\"0:{0}\" class=\"0x030200\" {1}><gpu dev=\"{0}\" sm=\"80\">{2}</gpu></pci>\n", number,
        kX16, inside);
}
const std::string kToNvswitch = R"(<nvlink target="0:f0" count="12" tclass="0x068000"/>)";
std::string nic(int number) {
    return fmt::format(
        "<pci busid=\"0:a{0}\" class=\"0x020000\" link_speed=\"16.0 GT/s PCIe\" link_width=\"8\"><nic><net "
        "name=\"n{0}\" dev=\"{0}\" speed=\"100000\" latency=\"0.5\"/></nic></pci>\n",
        number);
}
/// Two processors with a PCIe switch each, which has two GPUs and a NIC.
std::string two_by_two(const std::string& nvlinks) {
    std::string text = "<!-- one server -->\n<system version=\"1\">\n";
    for (int half = 0; half < 2; ++half) {
        text += fmt::format(
            "<cpu numaid=\"{0}\" arch=\"x86_64\">\n<pci busid=\"0:b{0}\" class=\"0x060400\" "
            "{1}>\n{2}{3}{4}</pci>\n"
            "<pci busid=\"0:c{0}\" class=\"0x010802\"/>\n</cpu>\n",
            half, kX16, gpu(2 * half, nvlinks), gpu(2 * half + 1, nvlinks), nic(half));
    }
    return text + "</system>\n";
}

class NcclTopologies : public ::testing::Test {
protected:
    NcclTopologies() { register_builtin_topologies(registry_); }

    /// Two such servers on a switch; `keys` are further ones of a server.
    std::optional<Registry<FabricMaker>::Configured> read(const std::string& xml,
                                                          const std::string& keys = "",
                                                          const std::string& rest = "") {
        folder_.write("server.xml", xml);
        const auto file =
            folder_.write("network.yaml", "kind: servers\nservers: {count: 2, topology: server.xml" + keys +
                                              "}\nscale_out: {kind: flat}\n" + rest);
        ReadContext context;
        auto configured = registry_.read(*load_config(file), context);
        errors_ = render(context.errors());
        return configured;
    }
    std::shared_ptr<const Fabric> build(const std::string& xml, const std::string& keys = "",
                                        const std::string& rest = "") {
        const auto configured = read(xml, keys, rest);
        EXPECT_TRUE(configured) << errors_;
        return configured ? configured->make()(1) : nullptr;
    }
    void expect_refused(const std::string& xml, const std::string& words, const std::string& keys = "") {
        EXPECT_FALSE(read(xml, keys)) << xml;
        EXPECT_NE(errors_.find(words), std::string::npos) << "expected: " << words << "\n" << errors_;
    }
    static Names path(const Fabric& fabric, int source, int destination) {
        Names names;
        for (const RouteLeg& leg : fabric.routing().route(HostId(source), HostId(destination)).legs) {
            names.push_back(fabric.node(fabric.target(leg.link)).name);
        }
        return names;
    }
    static std::vector<Bandwidth> rates(const Fabric& fabric, int source, int destination) {
        std::vector<Bandwidth> found;
        for (const RouteLeg& leg : fabric.routing().route(HostId(source), HostId(destination)).legs) {
            found.push_back(fabric.link(leg.link).rate);
        }
        return found;
    }

    Registry<FabricMaker> registry_{"network"};
    astrolabe::testing::TemporaryFolder folder_;
    std::string errors_;
};

TEST_F(NcclTopologies, MakeTheInsideOfAServer) {
    const auto fabric = build(two_by_two(kToNvswitch));
    // A server: 4 GPUs, an NVSwitch, 2 PCIe switches, 2 processors, 2 NICs; 4 NVLinks, 6 cables to PCIe
    // switches, 2 from these to processors, one between processors. The disk at each processor is left out.
    EXPECT_EQ(fabric->host_count(), 8U);
    EXPECT_EQ(fabric->node_count(), 2U * 11U + 1U);
    EXPECT_EQ(fabric->link_count(), 2U * (2U * 13U + 4U));
    EXPECT_EQ(path(*fabric, 0, 3), Names({"nvswitch 0", "gpu 3"}));
    EXPECT_EQ(rates(*fabric, 0, 3), std::vector<Bandwidth>(2, 1920_Gbps));
    // GPU 1 shares NIC 0 with GPU 0, GPU 6 has NIC 1 of its server. A NIC at 16 GT/s x 8 = 12 GB/s.
    EXPECT_EQ(path(*fabric, 1, 6),
              Names({"pcie switch 0", "nic 0", "switch", "nic 3", "pcie switch 3", "gpu 6"}));
    EXPECT_EQ(rates(*fabric, 1, 6),
              (std::vector<Bandwidth>{96_Gbps, 96_Gbps, 100_Gbps, 100_Gbps, 96_Gbps, 96_Gbps}));
    EXPECT_EQ(fabric->family().servers()->processors().size(), 4U);
    // Latency 0.5 us of a NIC's cable is the file's; 250 ns of a PCIe cable.
    EXPECT_EQ(fabric->routing().route(HostId(1), HostId(6)).latency, 4 * 250_ns + 2 * 500_ns);
    EXPECT_FALSE(draw_graph(*fabric).empty());
}

TEST_F(NcclTopologies, OnRailsMessagesReachTheNicOfTheirRailOverNvlink) {
    const auto fabric = build(two_by_two(kToNvswitch), "", "rails: aligned\n");
    // Over one of the two GPUs that share it.
    Names names = path(*fabric, 1, 6);
    ASSERT_EQ(names.size(), 8U);
    EXPECT_TRUE(names[1] == "gpu 2" || names[1] == "gpu 3") << names[1];
    names.erase(names.begin() + 1);
    EXPECT_EQ(names,
              Names({"nvswitch 0", "pcie switch 1", "nic 1", "switch", "nic 3", "pcie switch 3", "gpu 6"}));
}

TEST_F(NcclTopologies, WithoutNvlinksTheBusJoinsGpus) {
    const auto fabric = build(two_by_two(""), ", scale_up: {kind: none}, pcie: {socket_rate: 20GB/s}");
    EXPECT_EQ(path(*fabric, 0, 1), Names({"pcie switch 0", "gpu 1"}));
    EXPECT_EQ(path(*fabric, 0, 2), Names({"pcie switch 0", "cpu 0", "cpu 1", "pcie switch 1", "gpu 2"}));
    EXPECT_EQ(rates(*fabric, 0, 2), (std::vector<Bandwidth>{96_Gbps, 96_Gbps, 160_Gbps, 96_Gbps, 96_Gbps}));
    // The keys say the scale-up network where the file is silent.
    const auto mesh = build(two_by_two(""), ", scale_up: {kind: mesh, rate: 100GB/s}");
    EXPECT_EQ(rates(*mesh, 0, 2), std::vector<Bandwidth>{800_Gbps});
}

TEST_F(NcclTopologies, DirectNvlinksLeadToTheirTargets) {
    // GPU 0 has 2 NVLinks to each neighbour of a ring of four: 40 GB/s; said at both ends, or at one.
    std::string text = two_by_two("");
    const auto link = [&](int from, int to) {
        const std::string element = fmt::format("dev=\"{}\" sm=\"80\">", from);
        text.insert(text.find(element) + element.size(),
                    fmt::format("<nvlink target=\"0:{}\" count=\"2\" tclass=\"0x030200\"/>", to));
    };
    for (const auto& [from, to] : {std::pair{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {3, 0}}) {
        link(from, to);
    }
    const auto fabric = build(text);
    EXPECT_EQ(path(*fabric, 0, 1), Names{"gpu 1"});
    EXPECT_EQ(rates(*fabric, 0, 3), std::vector<Bandwidth>{320_Gbps});
    EXPECT_EQ(path(*fabric, 0, 2).size(), 2U);
    // An NVLink to the processor is no way between GPUs that NVLinks join.
    std::string power = text;
    const std::string first = "dev=\"0\" sm=\"80\">";
    power.insert(power.find(first) + first.size(), R"(<nvlink target="x" count="3" tclass="0x068001"/>)");
    EXPECT_EQ(build(power)->link_count(), fabric->link_count() + 2U * 2U);
    EXPECT_EQ(path(*build(power), 0, 2).size(), 2U);
    text.replace(text.find("count=\"2\""), 9, "count=\"3\"");
    expect_refused(text, "NVLinks of 320Gbps lead from here to a GPU that has 480Gbps back");
}

TEST_F(NcclTopologies, GpusAreNumberedByDev) {
    std::string text = two_by_two(kToNvswitch);
    // The first GPU of the file is number 3, the last number 0.
    text.replace(text.find("gpu dev=\"0\""), 11, "gpu dev=\"9\"");
    text.replace(text.find("gpu dev=\"3\""), 11, "gpu dev=\"0\"");
    text.replace(text.find("gpu dev=\"9\""), 11, "gpu dev=\"3\"");
    const auto fabric = build(text);
    // GPU 0 is behind the second processor.
    EXPECT_EQ(path(*fabric, 0, 4).front(), "pcie switch 1");
    EXPECT_EQ(path(*fabric, 3, 4).front(), "pcie switch 0");
}

TEST_F(NcclTopologies, SeveralNetsOfADeviceShareItsCable) {
    std::string text = two_by_two(kToNvswitch);
    const std::string net = R"(<net name="n0" dev="0" speed="100000" latency="0.5"/>)";
    text.replace(text.find(net), net.size(), net + R"(<net dev="2" speed="100000" latency="0.5"/>)");
    const auto fabric = build(text);
    // Of GPUs 0 and 1 with the two nearest NICs each has one of its own, behind the device.
    EXPECT_EQ(fabric->family().servers()->nic_count(), 2U * 3U);
    EXPECT_EQ(path(*fabric, 0, 6), Names({"pcie switch 0", "pcie switch 1", "nic 0", "switch", "nic 4",
                                          "pcie switch 5", "gpu 6"}));
    EXPECT_EQ(path(*fabric, 1, 6), Names({"pcie switch 0", "pcie switch 1", "nic 2", "switch", "nic 4",
                                          "pcie switch 5", "gpu 6"}));
}

TEST_F(NcclTopologies, TheResolvedNetworkReadsBackToTheSame) {
    for (const std::string keys : {"", ", scale_up: {latency: 100ns}, nics: {rate: 100Gbps}"}) {
        const auto first = read(two_by_two(kToNvswitch), keys);
        ASSERT_TRUE(first) << errors_;
        ReadContext context;
        const auto second = registry_.read(first->resolved, context);
        ASSERT_TRUE(second) << render(context.errors());
        EXPECT_EQ(to_yaml(second->resolved), to_yaml(first->resolved));
        EXPECT_EQ(second->make()(1)->link_count(), first->make()(1)->link_count());
    }
}

TEST_F(NcclTopologies, DefectsAreRefusedAtTheirPlaces) {
    const std::string good = two_by_two(kToNvswitch);
    const auto with = [&](const std::string& old, const std::string& now) {
        std::string text = good;
        text.replace(text.find(old), old.size(), now);
        return text;
    };
    // Line 1 is a comment, 2 the system, 3 the first processor, 4 its PCIe switch, 5 to 7 GPUs and a NIC.
    expect_refused(with("</pci>\n<pci busid=\"0:c0\"", "<pci busid=\"0:c0\""), "server.xml:");
    expect_refused(with("</system>", "</sys>"), "server.xml:19:");
    expect_refused(with("version=\"1\"", "version=\"2\""),
                   "server.xml:2:2: error[network.servers]: version '2', expected 1");
    expect_refused("<topology/>", "server.xml:1:2: error[network.servers]: no system element");
    expect_refused("", "not XML");
    expect_refused(with("<gpu dev=\"0\"", "<gpv dev=\"0\""), "server.xml:5:");
    expect_refused(with("<cpu numaid=\"1\"", "<pci/><cpu numaid=\"1\""), "<pci> in a system, expected cpu");
    expect_refused(with(kX16, R"(link_speed="9 GT/s" link_width="16")"),
                   "server.xml:4:2: error[network.servers]: link_speed=\"9 GT/s\", expected 2.5, 5, 8");
    expect_refused(with("link_width=\"8\"", "link_width=\"wide\""),
                   "server.xml:7:2: error[network.servers]: link_width=\"wide\"");
    expect_refused(with("count=\"12\"", "count=\"0\""), "server.xml:5:");
    expect_refused(with("sm=\"80\"", "sm=\"60\""), "has no NVLink whose rate is known");
    expect_refused(with(" sm=\"80\"", ""), "without sm");
    expect_refused(with("tclass=\"0x068000\"", "tclass=\"0x030200\""), "target '0:f0' is no GPU");
    expect_refused(with(kToNvswitch, R"(<nvlink target="0:0" count="1" tclass="0x030200"/>)"), "to itself");
    expect_refused(with("busid=\"0:1\"", "busid=\"0:0\""),
                   "server.xml:6:2: error[network.servers]: busid '0:0' a second time");
    expect_refused(with("busid=\"0:1\" ", ""), "<pci> without busid");
    expect_refused(with("dev=\"1\" sm", "dev=\"0\" sm"), "dev 0 a second time");
    expect_refused(with("speed=\"100000\"", "speed=\"200000\""), "another speed or latency");
    expect_refused(with("speed=\"100000\"", "speed=\"1e30\""), "expected at most");
    expect_refused(with(" class=\"0x010802\"/>", "/>"),
                   "server.xml:9:2: error[network.servers]: device '0:c0' says neither");
    expect_refused(
        with("</pci>\n<pci busid=\"0:c0\"", "<pcilink target=\"0:b1\"/></pci>\n<pci busid=\"0:c0\""),
        "links between PCIe switches beside the tree are not modelled");
    expect_refused(with("<gpu dev=\"0\"", "<nic/><gpu dev=\"0\""), "is several of GPU, NIC");
    expect_refused("<system version=\"1\"><cpu/></system>", "0 GPUs and 0 NICs");
    std::string deep = "<system version=\"1\"><cpu>";
    for (int i = 0; i < 40; ++i) {
        deep += fmt::format("<pci busid=\"{}\">", i);
    }
    for (int i = 0; i < 40; ++i) {
        deep += "</pci>";
    }
    expect_refused(deep + "</cpu></system>", "nested more than");
}

TEST_F(NcclTopologies, WhatFileAndKeysSayTwiceOrNotAtAllIsRefused) {
    const std::string good = two_by_two(kToNvswitch);
    expect_refused(good, "nics.per is said by the topology file", ", nics: {per: pair}");
    expect_refused(good, "scale_up.rate is said by the topology file", ", scale_up: {rate: 100GB/s}");
    expect_refused(good, "pcie.rate is said by the topology file", ", pcie: {rate: 10GB/s}");
    expect_refused(good, "8 GPUs, and the topology file has 4", ", gpus: 8");
    expect_refused(good, "NICs have 200Gbps, and 100Gbps in the topology file", ", nics: {rate: 200Gbps}");
    expect_refused(two_by_two(""), "says nothing of NVLinks");
    std::string silent = good;
    silent.replace(silent.find(kX16), kX16.size(), "");
    expect_refused(silent, "does not say how fast all devices are joined");
    EXPECT_EQ(rates(*build(silent, ", pcie: {rate: 10GB/s}"), 0, 1).size(), 2U);
}

TEST_F(NcclTopologies, AFileThatIsNotThereIsNamedWithItsPlace) {
    const auto file = folder_.write("network.yaml",
                                    "kind: servers\nservers: {count: 2, topology: none.xml}\n"
                                    "scale_out: {kind: flat}\n");
    ReadContext context;
    EXPECT_FALSE(registry_.read(*load_config(file), context));
    const std::string text = render(context.errors());
    EXPECT_NE(text.find("none.xml: error[network.servers]: cannot be read"), std::string::npos) << text;
    EXPECT_NE(text.find("network.yaml:2:"), std::string::npos) << text;
}

}  // namespace
}  // namespace astrolabe::network
