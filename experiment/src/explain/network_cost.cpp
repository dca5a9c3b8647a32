#include "default_prices.hpp"

#include <cmath>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/network_cost.hpp>

namespace astrolabe::experiment {

namespace {

Result<PriceFile> read_prices(ConfigNode node, const std::string& default_name) {
    ReadContext context;
    if (const ConfigNode* schema = node.find("schema")) {
        read_schema_name(*schema, context);
    }
    std::optional<network::PriceList> list = network::price_schema().read(node, context, {"schema"});
    if (context.error_count() > 0) {
        return context.errors();
    }
    if (list->name.empty()) {
        list->name = default_name;
    }
    return PriceFile{*std::move(list), std::move(node)};
}

/// A whole number in groups of three digits: "1,234,567".
std::string grouped(double whole) {
    return whole < 1000.0
               ? fmt::format("{:.0f}", whole)
               : fmt::format("{},{:03.0f}", grouped(std::floor(whole / 1000.0)), std::fmod(whole, 1000.0));
}

std::string dollars(double value) {
    return grouped(std::round(value));
}

}  // namespace

Result<PriceFile> load_prices(const std::filesystem::path& path) {
    Result<ConfigNode> file = load_config(path);
    if (!file) {
        return file.error();
    }
    return read_prices(*std::move(file), path.stem().string());
}

PriceFile default_prices() {
    Result<ConfigNode> node = parse_config(std::string(kDefaultPrices), "default prices");
    ASTROLABE_ASSERT(node.has_value(), "built-in prices are YAML");
    Result<PriceFile> prices = read_prices(*std::move(node), "default");
    ASTROLABE_ASSERT(prices.has_value(), "built-in prices are valid");
    return *std::move(prices);
}

network::Wiring wiring_of(const ConfigNode& section) {
    const ConfigNode* scale_out = section.find("scale_out");
    if (scale_out != nullptr && section.find("servers") != nullptr) {
        return wiring_of(*scale_out);
    }
    network::Wiring wiring;
    if (const ConfigNode* medium = section.find("medium")) {
        wiring.between_hosts = std::get<network::Medium>(ValueTraits<network::Medium>::parse(medium->text));
    }
    return wiring;
}

Result<network::NetworkCost> network_cost(const network::Fabric& fabric, const network::Wiring& wiring,
                                          const PriceFile& prices) {
    auto cost = network::cost_of(fabric, wiring, prices.list);
    if (const auto* missing = std::get_if<ValidationErrors>(&cost)) {
        ReadContext context;
        report_validation_errors(prices.node, *missing, context);
        return context.errors();
    }
    return std::get<network::NetworkCost>(std::move(cost));
}

Result<network::NetworkCost> network_cost(const Experiment& experiment, const PriceFile& prices) {
    return network_cost(*experiment.fabric, wiring_of(*experiment.resolved.find("network")), prices);
}

nlohmann::ordered_json cost_json(const network::NetworkCost& cost, const network::PriceList& prices) {
    nlohmann::ordered_json object{
        {"prices", prices.name}, {"total_usd", cost.total()}, {"per_host_usd", cost.per_host()}};
    if (cost.has_servers()) {
        object["scale_out_usd"] = cost.total() - cost.inside_servers();
        object["inside_servers_usd"] = cost.inside_servers();
    }
    object["parts"] = nlohmann::ordered_json::array();
    for (const network::CostLine& line : cost.lines) {
        object["parts"].push_back({{"part", key_of(line.parts.part)},
                                   {"rate_bps", line.parts.rate.count()},
                                   {"count", line.parts.count},
                                   {"price_usd", line.price},
                                   {"cost_usd", line.cost()}});
    }
    if (!cost.unpriced.empty()) {
        object["not_priced"] = nlohmann::ordered_json::array();
        for (const network::PartCount& parts : cost.unpriced) {
            object["not_priced"].push_back(
                {{"part", key_of(parts.part)}, {"rate_bps", parts.rate.count()}, {"count", parts.count}});
        }
    }
    return object;
}

std::string cost_text(const network::NetworkCost& cost, const network::PriceList& prices) {
    std::string text = fmt::format("  {:<18}${}, ${} per host (prices: {})\n", "cost", dollars(cost.total()),
                                   dollars(cost.per_host()), prices.name);
    const auto hosts = static_cast<double>(cost.hosts);
    if (cost.has_servers()) {
        const double inside = cost.inside_servers();
        const auto line = [&](std::string_view name, double sum) {
            return fmt::format("    {:<20}${}, ${} per host\n", name, dollars(sum), dollars(sum / hosts));
        };
        text += line("scale-out", cost.total() - inside);
        text += inside == 0.0 && !cost.unpriced.empty()
                    ? fmt::format("    {:<20}not priced, bought with the servers\n", "inside servers")
                    : line("inside servers", inside);
    }
    text += fmt::format("    {:<20}{:>18}{:>12}{:>12}{:>16}\n", "part", "rate", "count", "price", "cost");
    for (const network::CostLine& line : cost.lines) {
        text += fmt::format("    {:<20}{:>18}{:>12}{:>12.2f}{:>16}\n", key_of(line.parts.part),
                            to_string(line.parts.rate), line.parts.count, line.price, dollars(line.cost()));
    }
    for (const network::PartCount& parts : cost.unpriced) {
        text += fmt::format("    {:<20}{:>18}{:>12}{:>12}\n", key_of(parts.part), to_string(parts.rate),
                            parts.count, "not priced");
    }
    return text;
}

ComponentDescription prices_description() {
    const Schema<network::PriceList> schema = network::price_schema();
    return {schema.name(), schema.help(), schema.parameters()};
}

}  // namespace astrolabe::experiment
