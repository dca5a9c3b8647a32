// Row: what hosts in a row (line.cpp) bring beside their links: how far apart the ends are, and a drawing.

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/network/family.hpp>

namespace astrolabe::network {

namespace {

class RowFamily final : public NetworkFamily {
public:
    [[nodiscard]] Description describe(const Fabric& fabric, const std::vector<PairTraffic>&) const override {
        const std::size_t links = fabric.host_count() - 1;
        Description description;
        description.key = "row";
        description.json = {{"longest_route", links}};
        description.facts = {{"longest route", fmt::format("{} links, from end to end", links)}};
        return description;
    }

    [[nodiscard]] std::string draw() const override {
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 10\">"
               "<line x1=\"5\" y1=\"5\" x2=\"95\" y2=\"5\" stroke=\"black\"/></svg>\n";
    }
};

}  // namespace

std::shared_ptr<const NetworkFamily> row_family() {
    return std::make_shared<const RowFamily>();
}

}  // namespace astrolabe::network
