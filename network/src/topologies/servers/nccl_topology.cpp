#include "nccl_topology.hpp"

#include "server_parameters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <pugixml.hpp>

#include <astrolabe/core/source_text.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network::servers {

namespace {

using Device = NcclDevice;

constexpr int kDeepest = 32;
constexpr std::int64_t kMostLanes = 32;
constexpr std::int64_t kMostNvlinks = 1024;
constexpr double kMegabit = 1e6;
constexpr double kMegabyte = 8e6;

/// Of one lane and direction, bit/s, by GT/s.
constexpr std::array<std::pair<double, std::int64_t>, 6> kLaneRates{{{2.5, 1'500'000'000},
                                                                     {5, 3'000'000'000},
                                                                     {8, 6'000'000'000},
                                                                     {16, 12'000'000'000},
                                                                     {32, 24'000'000'000},
                                                                     {64, 48'000'000'000}}};

/// Of one NVLink and direction, bit/s.
std::optional<std::int64_t> nvlink_rate(std::int64_t sm) {
    if (sm >= 100) {
        return 320'800'000'000;
    }
    if (sm >= 90) {
        return 164'800'000'000;
    }
    if (sm == 86) {
        return 96'000'000'000;
    }
    return sm >= 70 ? std::optional<std::int64_t>(160'000'000'000) : std::nullopt;
}

/// Thrown and caught within the reader: the first defect ends the reading.
struct NcclDefect {
    Diagnostic diagnostic;
};

class NcclReader {
public:
    explicit NcclReader(const std::shared_ptr<const SourceText>& source)
        : source_(source),
          places_(source) {}

    [[nodiscard]] NcclTopology read() {
        const pugi::xml_parse_result parsed =
            document_.load_buffer(source_->text.data(), source_->text.size(), pugi::parse_default);
        if (!parsed) {
            refuse(places_.at(parsed.offset), fmt::format("not XML: {}", parsed.description()),
                   "NCCL writes such files where NCCL_TOPO_DUMP_FILE names one");
        }
        const pugi::xml_node system = document_.document_element();
        if (std::strcmp(system.name(), "system") != 0) {
            refuse(system ? place(system) : places_.at(0), "no system element",
                   "a topology of NCCL is <system version=\"1\"><cpu …>…</cpu></system>");
        }
        if (const std::string_view version = system.attribute("version").value(); version != "1") {
            refuse(place(system), fmt::format("version '{}', expected 1", version),
                   "this is the only version that is known");
        }
        for (const pugi::xml_node child : system.children()) {
            expect(child, {"cpu"}, "system");
            add_processor(child);
        }
        add_links();
        check();
        prune();
        return std::move(topology_);
    }

private:
    /// A GPU's own element, or the device where it has none.
    struct GpuElement {
        std::uint32_t device;
        pugi::xml_node element;
    };
    struct NumberedNic {
        std::uint32_t device;
        std::optional<std::int64_t> number;
    };

    [[noreturn]] static void refuse(SourceRange where, std::string message, std::string hint) {
        throw NcclDefect{{"network.servers", std::move(where), std::move(message), std::move(hint), {}}};
    }
    [[nodiscard]] SourceRange place(pugi::xml_node node) const {
        SourceRange where = places_.at(node.offset_debug());
        where.length = std::max(1, static_cast<int>(std::strlen(node.name())));
        return where;
    }

    void expect(pugi::xml_node child, std::initializer_list<std::string_view> known,
                std::string_view parent) const {
        if (child.type() == pugi::node_element &&
            std::find(known.begin(), known.end(), child.name()) != known.end()) {
            return;
        }
        const bool is_element = child.type() == pugi::node_element;
        refuse(place(child),
               is_element
                   ? fmt::format("<{}> in a {}, expected {}", child.name(), parent, fmt::join(known, ", "))
                   : fmt::format("text in a {}, expected elements", parent),
               std::strcmp(child.name(), "pcilink") == 0
                   ? "links between PCIe switches beside the tree are not modelled"
                   : "leave it out");
    }

    [[nodiscard]] std::optional<double> number(pugi::xml_node node, const char* name) const {
        const pugi::xml_attribute given = node.attribute(name);
        if (!given) {
            return std::nullopt;
        }
        const std::string_view text = given.value();
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
            refuse(place(node), fmt::format("{}=\"{}\" of <{}> is no number", name, text, node.name()),
                   "write it without a unit");
        }
        return value;
    }
    [[nodiscard]] std::optional<std::int64_t> whole(pugi::xml_node node, const char* name, std::int64_t least,
                                                    std::int64_t most) const {
        const std::optional<double> value = number(node, name);
        if (!value) {
            return std::nullopt;
        }
        if (*value != std::floor(*value) || *value < static_cast<double>(least) ||
            *value > static_cast<double>(most)) {
            refuse(place(node),
                   fmt::format("{}=\"{}\" of <{}>, expected a whole number from {} to {}", name,
                               node.attribute(name).value(), node.name(), least, most),
                   "");
        }
        return static_cast<std::int64_t>(*value);
    }
    [[nodiscard]] Bandwidth rate(pugi::xml_node node, double bits) const {
        if (bits > static_cast<double>(kMaxLinkRate.count())) {
            refuse(place(node),
                   fmt::format("{:.4g} bit/s, expected at most {}", bits, to_string(kMaxLinkRate)), "");
        }
        return Bandwidth(static_cast<std::int64_t>(std::llround(bits)));
    }

    std::uint32_t add(Device device) {
        topology_.devices.push_back(std::move(device));
        return static_cast<std::uint32_t>(topology_.devices.size() - 1);
    }

    void add_processor(pugi::xml_node cpu) {
        const std::uint32_t index = add({Device::Kind::kProcessor, std::nullopt, std::nullopt, place(cpu)});
        for (const pugi::xml_node child : cpu.children()) {
            expect(child, {"pci", "nic"}, "cpu");
            if (std::strcmp(child.name(), "nic") == 0) {
                add_nets(child, index, std::nullopt, place(child), nets_of(child));
            } else {
                add_pci(child, index, 1);
            }
        }
    }

    /// Nothing where neither speed nor width is said.
    [[nodiscard]] std::optional<Bandwidth> pcie_rate(pugi::xml_node pci) const {
        const pugi::xml_attribute speed = pci.attribute("link_speed");
        const std::optional<std::int64_t> width = whole(pci, "link_width", 0, kMostLanes);
        if (!speed || !width) {
            return std::nullopt;
        }
        const std::string_view text = speed.value();
        double transfers = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), transfers);
        const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
        for (const auto& [known, lane] : kLaneRates) {
            if (error == std::errc{} && transfers == known && unit.starts_with(" GT/s")) {
                return Bandwidth((*width == 0 ? 16 : *width) * lane);
            }
        }
        refuse(place(pci), fmt::format("link_speed=\"{}\", expected 2.5, 5, 8, 16, 32 or 64 GT/s", text),
               "write \"16.0 GT/s PCIe\", for example");
    }

    [[nodiscard]] std::vector<pugi::xml_node> nets_of(pugi::xml_node nic) const {
        std::vector<pugi::xml_node> nets;
        for (const pugi::xml_node net : nic.children()) {
            expect(net, {"net"}, "nic");
            nets.push_back(net);
        }
        return nets;
    }

    void add_pci(pugi::xml_node pci, std::uint32_t parent, int depth) {
        if (depth > kDeepest) {
            refuse(place(pci), fmt::format("devices are nested more than {} deep", kDeepest),
                   "no server has such a bus");
        }
        const std::string bus = pci.attribute("busid").value();
        if (bus.empty()) {
            refuse(place(pci), "<pci> without busid", "give every device its own");
        }
        if (!devices_by_bus_.try_emplace(bus, kUnknown).second) {
            refuse(place(pci), fmt::format("busid '{}' a second time", bus), "give every device its own");
        }
        std::vector<pugi::xml_node> below;
        std::vector<pugi::xml_node> nets;
        pugi::xml_node gpu;
        bool has_nic = false;
        for (const pugi::xml_node child : pci.children()) {
            expect(child, {"pci", "gpu", "nic"}, "pci");
            if (std::strcmp(child.name(), "pci") == 0) {
                below.push_back(child);
            } else if (std::strcmp(child.name(), "nic") == 0) {
                has_nic = true;
                const std::vector<pugi::xml_node> more = nets_of(child);
                nets.insert(nets.end(), more.begin(), more.end());
            } else if (gpu) {
                refuse(place(child), "a second <gpu> of one device", "a GPU is a device of its own");
            } else {
                gpu = child;
            }
        }
        const std::string_view device_class = pci.attribute("class").value();
        const bool is_gpu = gpu || (device_class.starts_with("0x03") && !has_nic);
        const bool is_nic = has_nic || (device_class.starts_with("0x02") && !gpu);
        if ((is_gpu && is_nic) || ((is_gpu || is_nic) && !below.empty())) {
            refuse(place(pci), fmt::format("device '{}' is several of GPU, NIC and PCIe switch", bus),
                   "give each a <pci> of its own");
        }
        const std::optional<Bandwidth> cable = pcie_rate(pci);
        if (is_gpu) {
            const std::uint32_t index = add({Device::Kind::kGpu, parent, cable, place(pci)});
            devices_by_bus_[bus] = index;
            gpus_.push_back({index, gpu ? gpu : pci});
        } else if (is_nic) {
            add_nets(pci, parent, cable, place(pci), nets);
        } else if (!below.empty()) {
            const std::uint32_t index = add({Device::Kind::kPcieSwitch, parent, cable, place(pci)});
            for (const pugi::xml_node child : below) {
                add_pci(child, index, depth + 1);
            }
        } else if (device_class.empty()) {
            refuse(place(pci), fmt::format("device '{}' says neither its class nor what it has", bus),
                   "NCCL asks the machine; here give class=\"0x030200\" of a GPU, \"0x020000\" of a NIC");
        }
    }

    /// The NICs of one device, or of a processor: several share the device's cable.
    void add_nets(pugi::xml_node owner, std::uint32_t parent, std::optional<Bandwidth> cable,
                  const SourceRange& where, const std::vector<pugi::xml_node>& nets) {
        if (nets.size() > 1) {
            parent = add({Device::Kind::kPcieSwitch, parent, cable, where});
        }
        for (std::size_t i = 0; i < std::max<std::size_t>(1, nets.size()); ++i) {
            const pugi::xml_node net = nets.empty() ? owner : nets[i];
            const std::uint32_t nic = add({Device::Kind::kNic, parent, cable, place(net)});
            std::optional<std::int64_t> dev;
            std::optional<Bandwidth> speed;
            std::optional<Time> latency;
            if (!nets.empty()) {
                dev = whole(net, "dev", 0, kMaxHosts);
                if (const std::optional<double> given = number(net, "speed")) {
                    speed = rate(net, (*given > 0 ? *given : 10'000.0) * kMegabit);
                }
                if (const double given = number(net, "latency").value_or(0); given > 0) {
                    latency = Time(std::llround(std::min(given * 1e6, 1e18)));
                }
            }
            if (!nics_.empty() && (speed != topology_.nic_rate || latency != topology_.nic_latency)) {
                refuse(place(net), "this NIC has another speed or latency than those before it",
                       "NICs of servers are of one kind");
            }
            topology_.nic_rate = speed;
            topology_.nic_latency = latency;
            nics_.push_back({nic, dev});
        }
    }

    [[nodiscard]] std::uint32_t processor_of(std::uint32_t device) const {
        while (topology_.devices[device].parent) {
            device = *topology_.devices[device].parent;
        }
        return device;
    }

    void add_links() {
        std::map<std::pair<std::uint32_t, std::uint32_t>, Bandwidth> cables;
        std::map<std::uint32_t, Bandwidth> to_switch;
        std::map<std::uint32_t, Bandwidth> to_processor;
        for (const auto& [gpu, element] : gpus_) {
            std::map<std::uint32_t, Bandwidth> to_gpu;
            if (std::strcmp(element.name(), "gpu") == 0) {
                for (const pugi::xml_node link : element.children()) {
                    expect(link, {"nvlink", "c2c"}, "gpu");
                    if (std::strcmp(link.name(), "c2c") == 0) {
                        const double each = number(link, "bw").value_or(0);
                        const std::int64_t count = whole(link, "count", 1, kMostNvlinks).value_or(1);
                        if (each <= 0) {
                            refuse(place(link), "<c2c> without bw above 0", "give it in MB/s");
                        }
                        to_processor[gpu] += rate(link, each * kMegabyte * static_cast<double>(count));
                        continue;
                    }
                    const std::string_view target_class = link.attribute("tclass").value();
                    const Bandwidth all = nvlinks(element, link);
                    if (target_class.starts_with("0x068001")) {
                        to_processor[gpu] += all;
                    } else if (target_class.starts_with("0x0680")) {
                        to_switch[gpu] += all;
                    } else {
                        to_gpu[target_of(gpu, link)] += all;
                    }
                }
            }
            for (const auto& [target, all] : to_gpu) {
                const auto [cable, is_new] = cables.try_emplace(std::minmax(gpu, target), all);
                if (!is_new && cable->second != all) {
                    refuse(place(element),
                           fmt::format("NVLinks of {} lead from here to a GPU that has {} back",
                                       to_string(all), to_string(cable->second)),
                           "both ends have the same count and sm");
                }
            }
        }
        for (const auto& [gpu, all] : to_switch) {
            topology_.links.push_back({gpu, std::nullopt, all});
        }
        for (const auto& [ends, all] : cables) {
            topology_.links.push_back({ends.first, ends.second, all});
        }
        for (const auto& [gpu, all] : to_processor) {
            topology_.links.push_back({gpu, processor_of(gpu), all});
        }
    }

    [[nodiscard]] Bandwidth nvlinks(pugi::xml_node gpu, pugi::xml_node link) const {
        const std::optional<std::int64_t> count = whole(link, "count", 1, kMostNvlinks);
        if (!count) {
            refuse(place(link), "<nvlink> without count", "give the number of links");
        }
        const std::optional<std::int64_t> sm = whole(gpu, "sm", 0, 10'000);
        const std::optional<std::int64_t> each = sm ? nvlink_rate(*sm) : std::nullopt;
        if (!each) {
            refuse(place(gpu),
                   sm ? fmt::format("sm=\"{}\" has no NVLink whose rate is known", *sm)
                      : std::string("<gpu> with NVLinks and without sm"),
                   "their rate follows from sm: 70 and above");
        }
        return rate(link, static_cast<double>(*count) * static_cast<double>(*each));
    }

    [[nodiscard]] std::uint32_t target_of(std::uint32_t gpu, pugi::xml_node link) const {
        const std::string target = link.attribute("target").value();
        const auto known = devices_by_bus_.find(target);
        if (known == devices_by_bus_.end() || known->second == kUnknown) {
            refuse(place(link), fmt::format("target '{}' is no GPU of this file", target),
                   "name the busid of a GPU, or give tclass=\"0x068000\" of an NVSwitch");
        }
        if (known->second == gpu) {
            refuse(place(link), "an NVLink from a GPU to itself", "name the busid of another GPU");
        }
        return known->second;
    }

    /// Devices by number where all have one, else as they are.
    template <class Item, class NumberOf>
    std::vector<std::uint32_t> in_order(const std::vector<Item>& items, const NumberOf& number_of) const {
        std::vector<std::uint32_t> devices;
        std::map<std::int64_t, std::uint32_t> by_number;
        for (const Item& item : items) {
            devices.push_back(item.device);
            if (const std::optional<std::int64_t> dev = number_of(item)) {
                if (!by_number.try_emplace(*dev, item.device).second) {
                    refuse(topology_.devices[item.device].where, fmt::format("dev {} a second time", *dev),
                           "give each a number of its own");
                }
            }
        }
        if (by_number.size() == devices.size()) {
            std::ranges::transform(by_number, devices.begin(),
                                   [](const auto& entry) { return entry.second; });
        }
        return devices;
    }

    void check() {
        topology_.gpus = in_order(gpus_, [this](const GpuElement& gpu) {
            return std::strcmp(gpu.element.name(), "gpu") == 0 ? whole(gpu.element, "dev", 0, kMaxHosts)
                                                               : std::nullopt;
        });
        topology_.nics = in_order(nics_, [](const NumberedNic& nic) { return nic.number; });
        const SourceRange whole_file = place(document_.document_element());
        if (topology_.gpus.empty() || topology_.nics.empty()) {
            refuse(whole_file,
                   fmt::format("{} GPUs and {} NICs, expected at least one of each", topology_.gpus.size(),
                               topology_.nics.size()),
                   "devices of class 0x03… are GPUs, those of class 0x02… NICs");
        }
        if (topology_.gpus.size() > kMaxGpusOfServer || topology_.nics.size() > kMaxGpusOfServer) {
            refuse(whole_file,
                   fmt::format("{} GPUs and {} NICs, expected at most {} of each", topology_.gpus.size(),
                               topology_.nics.size(), kMaxGpusOfServer),
                   "a file describes one server");
        }
    }

    /// Leaves out what leads to no GPU or NIC; parents come before their children.
    void prune() {
        std::vector<bool> is_used(topology_.devices.size(), false);
        for (std::size_t i = topology_.devices.size(); i-- > 0;) {
            const Device& device = topology_.devices[i];
            is_used[i] = is_used[i] || device.kind == Device::Kind::kGpu || device.kind == Device::Kind::kNic;
            if (is_used[i] && device.parent) {
                is_used[*device.parent] = true;
            }
        }
        std::vector<std::uint32_t> now(topology_.devices.size(), 0);
        std::vector<Device> kept;
        for (std::size_t i = 0; i < topology_.devices.size(); ++i) {
            if (is_used[i]) {
                now[i] = static_cast<std::uint32_t>(kept.size());
                Device device = topology_.devices[i];
                if (device.parent) {
                    device.parent = now[*device.parent];
                }
                kept.push_back(std::move(device));
            }
        }
        topology_.devices = std::move(kept);
        for (std::vector<std::uint32_t>* list : {&topology_.gpus, &topology_.nics}) {
            std::ranges::transform(*list, list->begin(), [&](std::uint32_t device) { return now[device]; });
        }
        for (NcclLink& link : topology_.links) {
            link.gpu = now[link.gpu];
            if (link.target) {
                link.target = now[*link.target];
            }
        }
    }

    static constexpr std::uint32_t kUnknown = 0xffffffffU;  ///< a device that is no GPU

    std::shared_ptr<const SourceText> source_;
    TextPlaces places_;
    pugi::xml_document document_;
    NcclTopology topology_;
    std::map<std::string, std::uint32_t, std::less<>> devices_by_bus_;
    std::vector<GpuElement> gpus_;
    std::vector<NumberedNic> nics_;
};

}  // namespace

bool NcclTopology::has_scale_up() const {
    return std::ranges::any_of(links, [this](const NcclLink& link) {
        return !link.target || devices[*link.target].kind == NcclDevice::Kind::kGpu;
    });
}

const NcclDevice* NcclTopology::without_rate() const {
    const auto found =
        std::ranges::find_if(devices, [](const NcclDevice& device) { return device.parent && !device.rate; });
    return found == devices.end() ? nullptr : &*found;
}

Result<NcclTopology> load_nccl_topology(const std::filesystem::path& path) {
    const Result<std::shared_ptr<const SourceText>> source = read_source(path, "network.servers");
    if (!source) {
        return source.error();
    }
    try {
        return NcclReader(*source).read();
    } catch (const NcclDefect& defect) {
        return Diagnostics{defect.diagnostic};
    }
}

}  // namespace astrolabe::network::servers
