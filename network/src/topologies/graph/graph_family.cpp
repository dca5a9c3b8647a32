#include "graph_family.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network {

namespace {

class GraphFamily final : public NetworkFamily {
public:
    explicit GraphFamily(std::vector<JoinedGraph::Ports> switches)
        : switches_(std::move(switches)) {}

    [[nodiscard]] Description describe(const Fabric& /*fabric*/,
                                       const std::vector<PairTraffic>& /*job*/) const override {
        Description description;
        description.key = "circuit_switches";
        description.json = nlohmann::ordered_json::array();
        std::size_t ports = 0;
        std::size_t unused = 0;
        std::string where;
        for (const JoinedGraph::Ports& one : switches_) {
            description.json.push_back(
                {{"name", one.name}, {"ports", one.count}, {"without_circuit", one.unused}});
            ports += one.count;
            unused += one.unused;
            if (one.unused > 0) {
                where += fmt::format("{}{} of {}", where.empty() ? "" : ", ", one.unused, one.name);
            }
        }
        description.facts = {
            {"circuit switches", fmt::format("{} with {} ports", switches_.size(), ports)},
            {"without circuit",
             unused == 0 ? "no port" : fmt::format("warning: {} ports carry nothing ({})", unused, where)}};
        return description;
    }

    [[nodiscard]] std::vector<PartCount> parts() const override {
        std::vector<PartCount> parts;
        for (const JoinedGraph::Ports& one : switches_) {
            if (one.count > 0) {
                parts.push_back({Part::kCircuitSwitchPort, one.rate, one.count});
            }
            if (one.count > one.unused) {
                parts.push_back({Part::kFibre, one.rate, (one.count - one.unused) / 2});
            }
        }
        return parts;
    }

private:
    std::vector<JoinedGraph::Ports> switches_;
};

}  // namespace

std::shared_ptr<const NetworkFamily> graph_family(std::vector<JoinedGraph::Ports> switches) {
    return std::make_shared<const GraphFamily>(std::move(switches));
}

}  // namespace astrolabe::network
