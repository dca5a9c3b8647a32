#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/config/section_list.hpp>
#include <astrolabe/network/cost/prices.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe {

template <>
struct EnumNames<network::HostCables> {
    static constexpr std::array<std::pair<std::string_view, network::HostCables>, 2> kNames{
        {{"fibre", network::HostCables::kFibre}, {"copper", network::HostCables::kCopper}}};
};

template <>
struct EnumNames<network::OtherRates> {
    static constexpr std::array<std::pair<std::string_view, network::OtherRates>, 2> kNames{
        {{"refuse", network::OtherRates::kRefuse}, {"interpolate", network::OtherRates::kInterpolate}}};
};

}  // namespace astrolabe

namespace astrolabe::network {

namespace {

constexpr Range<double> kDollars{0.0, 1e6};

/// Key and meaning, by Part.
constexpr std::array<std::pair<std::string_view, std::string_view>, kParts> kPartNames{{
    {"nic_port", "a port of a host's network interface card"},
    {"transceiver", "at an end of a fibre"},
    {"fibre", "a fibre there and back, of a length that suits all"},
    {"copper_cable", "a copper cable with its ends"},
    {"switch_port", "a port of a packet switch"},
    {"rotor_port", "a port of a rotor switch"},
    {"patch_panel_port", "a port of a patch panel"},
    {"circuit_switch_port", "a port of an optical circuit switch"},
    {"look_ahead_switch", "an optical 1x2 switch before two ports of a patch panel"},
    {"scale_up_link", "a link of a server's scale-up network; unset: bought with the server"},
    {"scale_up_port", "a port of a server's scale-up switch; unset: bought with the server"},
    {"pcie_link", "a link of a server's bus; unset: bought with the server"},
    {"pcie_port", "a port of a PCIe switch; unset: bought with the server"},
}};

Schema<PricePoint> point_schema() {
    Schema<PricePoint> schema("by_rate", "a price at one rate");
    schema.required("rate", &PricePoint::rate, "of the part", {Bandwidth(1), kMaxLinkRate})
        .required("dollars", &PricePoint::dollars, "of one, in US dollars", kDollars);
    return schema;
}

Schema<Price> part_schema(std::string name) {
    Schema<Price> schema(std::move(name), "what one part costs");
    schema.optional("dollars", &Price::dollars, "of one at any rate, in US dollars; or give by_rate",
                    kDollars);
    add_section_list(schema, "by_rate", &Price::by_rate, point_schema(),
                     "prices by ascending rate, none of which falls");
    schema
        .optional("other_rates", &Price::other_rates,
                  "at rates that are not listed: no price, or on straight lines between those listed, the "
                  "least below and in proportion to the rate above")
        .required("source", &Price::source, "where the price comes from")
        .check([](const Price& price) { return validation_errors(price); });
    return schema;
}

}  // namespace

std::string_view key_of(Part part) {
    return kPartNames[static_cast<std::size_t>(part)].first;
}

std::optional<double> Price::at(Bandwidth rate) const {
    if (dollars) {
        return dollars;
    }
    const auto above = std::lower_bound(by_rate.begin(), by_rate.end(), rate,
                                        [](const PricePoint& point, Bandwidth r) { return point.rate < r; });
    if (above != by_rate.end() && above->rate == rate) {
        return above->dollars;
    }
    if (other_rates == OtherRates::kRefuse || by_rate.empty()) {
        return std::nullopt;
    }
    const auto count = [](Bandwidth r) { return static_cast<double>(r.count()); };
    if (above == by_rate.begin()) {
        return above->dollars;
    }
    const PricePoint& below = *(above - 1);
    if (above == by_rate.end()) {
        return below.dollars * (count(rate) / count(below.rate));
    }
    return below.dollars +
           (above->dollars - below.dollars) * (count(rate - below.rate) / count(above->rate - below.rate));
}

std::vector<Bandwidth> PriceList::listed_rates() const {
    std::vector<Bandwidth> rates;
    for (const std::optional<Price>& price : prices) {
        for (const PricePoint& point : price ? price->by_rate : std::vector<PricePoint>{}) {
            rates.push_back(point.rate);
        }
    }
    std::sort(rates.begin(), rates.end());
    rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
    return rates;
}

ValidationErrors validation_errors(const Price& price) {
    ValidationErrors found;
    if (price.source.empty()) {
        found.push_back({"source", "a price needs a source", "say where it comes from"});
    }
    if (price.dollars.has_value() == !price.by_rate.empty()) {
        found.push_back({"", "a price is said by either dollars or by_rate",
                         price.dollars ? "leave one of them out" : "give one of them"});
    }
    if (price.by_rate.empty() && price.other_rates != OtherRates::kRefuse) {
        found.push_back(
            {"other_rates", "there are no rates that are listed", "leave it out, or give by_rate"});
    }
    for (std::size_t i = 1; i < price.by_rate.size(); ++i) {
        const PricePoint& below = price.by_rate[i - 1];
        const PricePoint& point = price.by_rate[i];
        if (point.rate <= below.rate) {
            found.push_back({fmt::format("by_rate.{}.rate", i),
                             fmt::format("{} follows {}", to_string(point.rate), to_string(below.rate)),
                             "list rates in ascending order, each once"});
        } else if (point.dollars < below.dollars) {
            found.push_back({fmt::format("by_rate.{}.dollars", i),
                             fmt::format("{} at {} is below {} at {}", point.dollars, to_string(point.rate),
                                         below.dollars, to_string(below.rate)),
                             "no part is cheaper than a slower one, which it could stand for"});
        }
    }
    return found;
}

Schema<PriceList> price_schema() {
    Schema<PriceList> schema("prices", "what the parts of networks cost, in US dollars");
    schema.optional("name", &PriceList::name, "what results call it; empty: the name of the file")
        .optional("host_cables", &PriceList::host_cables,
                  "between hosts and switches: a fibre with transceivers, or a copper cable");
    for (std::size_t i = 0; i < kParts; ++i) {
        const std::string key(kPartNames[i].first);
        const Schema<Price> part = part_schema(key);
        schema.field(
            {key, "mapping", "unset", false, {}, std::string(kPartNames[i].second), part.parameters()},
            [part, i](PriceList& list, const ConfigNode& node, ReadContext& context) {
                list.prices[i] = part.read(node, context);
            },
            [part, i](const PriceList& list) {
                return list.prices[i] ? std::optional(part.write(*list.prices[i])) : std::nullopt;
            });
    }
    return schema;
}

}  // namespace astrolabe::network
