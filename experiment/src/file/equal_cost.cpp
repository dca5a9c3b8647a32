#include "largest_within.hpp"
#include "spine_layer.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/network_cost.hpp>
#include <astrolabe/experiment/explain/network_description.hpp>
#include <astrolabe/experiment/file/equal_cost.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::experiment {

enum class SolveFor : std::uint8_t { kLinkRate, kOversubscription };

}  // namespace astrolabe::experiment

namespace astrolabe {

template <>
struct EnumNames<experiment::SolveFor> {
    static constexpr std::array<std::pair<std::string_view, experiment::SolveFor>, 2> kNames{
        {{"link_rate", experiment::SolveFor::kLinkRate},
         {"oversubscription", experiment::SolveFor::kOversubscription}}};
};

}  // namespace astrolabe

namespace astrolabe::experiment {

namespace {

using Networks = Registry<network::FabricMaker>;

constexpr const char* kKey = "cost_equivalent_to";

struct EqualCostKeys {
    std::string other;
    SolveFor solve_for = SolveFor::kLinkRate;
    std::string costs;
};

Schema<EqualCostKeys> equal_cost_schema() {
    Schema<EqualCostKeys> schema("equal_cost",
                                 "keys of any network that is made to cost as much per host as another one");
    schema
        .required(kKey, &EqualCostKeys::other,
                  "the other network: path of a file with it, or of an experiment")
        .optional(
            "solve_for", &EqualCostKeys::solve_for,
            "what is free: link.rate, or the switches above the edge of fat_tree and leaf_spine; of servers "
            "those of scale_out")
        .optional("costs", &EqualCostKeys::costs,
                  "path of a price list; empty: that built in, inputs/costs/default.yaml");
    return schema;
}

/// The keys of `node` that are, or are not, those of equal cost.
ConfigNode part_of(const ConfigNode& node, bool of_equal_cost) {
    ConfigNode part = node;
    std::erase_if(part.entries, [&](const ConfigEntry& entry) {
        const std::vector<std::string>& keys = equal_cost_keys();
        return (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) != of_equal_cost;
    });
    return part;
}

/// The network section of a file: the file itself, or that of an experiment.
std::optional<ConfigNode> load_section(const std::filesystem::path& path, ReadContext& context) {
    Result<ConfigNode> file = load_config(path, context.usage());
    if (!file) {
        for (const Diagnostic& error : file.error()) {
            context.error(error);
        }
        return std::nullopt;
    }
    if (ConfigNode* section = file->find("network")) {
        resolve_reference(*section, context);
        ConfigNode inner = std::move(*section);
        return inner;
    }
    return *std::move(file);
}

/// The section whose keys are solved for: that of the network itself, or of the one between servers.
const ConfigNode* inner_network(const ConfigNode& section) {
    const ConfigNode* between = section.find("scale_out");
    return between != nullptr && between->find("kind") != nullptr ? between : nullptr;
}

ConfigNode with_inner(const ConfigNode& section, ConfigNode inner) {
    if (inner_network(section) == nullptr) {
        return inner;
    }
    ConfigNode whole = section;
    whole.set("scale_out", std::move(inner));
    return whole;
}

/// Whether the rate of links follows from that of NICs.
bool has_rate_of_nics(const ConfigNode& section) {
    const ConfigNode* servers = section.find("servers");
    const std::vector<ConfigNode> alike = servers == nullptr       ? std::vector<ConfigNode>{}
                                          : servers->is_sequence() ? servers->items
                                                                   : std::vector{*servers};
    return std::any_of(alike.begin(), alike.end(),
                       [](const ConfigNode& one) { return one.find_path("nics.rate") != nullptr; });
}

/// Reports what another file lacks, with the place that names it.
void report(Diagnostics errors, const ConfigNode& named_at, ReadContext& context) {
    for (Diagnostic& error : errors) {
        if (!error.where.source) {
            error.where = named_at.where;
        } else {
            error.notes.emplace_back(named_at.where, "asked for here");
        }
        context.error(std::move(error));
    }
}

/// One network section that is to be solved.
class EqualCost {
public:
    /// `also_known` are keys that somebody else reads.
    EqualCost(const ConfigNode& node, const Components& components, ReadContext& context,
              std::vector<std::string> also_known)
        : node_(node),
          tree_(part_of(node, false)),
          components_(components),
          context_(context),
          also_known_(std::move(also_known)) {}

    std::optional<Networks::Configured> solve();

private:
    struct Target {
        double per_host = 0.0;
        std::string file;
    };

    void error(std::string message, std::string hint, const char* key = kKey) {
        context_.error("config.equal-cost", node_.find(key)->where, std::move(message), std::move(hint));
    }
    std::optional<PriceFile> read_prices(const EqualCostKeys& keys);
    std::optional<Target> read_target(const EqualCostKeys& keys);
    /// Of the network in `section`; reports why there is none.
    std::optional<double> cost_of(const ConfigNode& section);
    bool refuse_given(const char* path);
    std::optional<ConfigNode> solve_rate(const Networks::Configured& given, const Target& target);
    std::optional<ConfigNode> solve_switches(const Networks::Configured& given, const Target& target);

    const ConfigNode& node_;
    const ConfigNode tree_;  ///< without the keys of equal cost
    const Components& components_;
    ReadContext& context_;
    const std::vector<std::string> also_known_;
    std::optional<PriceFile> prices_;
};

std::optional<PriceFile> EqualCost::read_prices(const EqualCostKeys& keys) {
    const ConfigNode* given = node_.find("costs");
    if (keys.costs.empty()) {
        return default_prices();
    }
    Result<PriceFile> prices = load_prices(directory_of(*given) / keys.costs);
    if (!prices) {
        report(prices.error(), *given, context_);
        return std::nullopt;
    }
    return *std::move(prices);
}

std::optional<EqualCost::Target> EqualCost::read_target(const EqualCostKeys& keys) {
    const ConfigNode& named_at = *node_.find(kKey);
    const std::filesystem::path path = (directory_of(named_at) / keys.other).lexically_normal();
    ReadContext inside;
    const std::optional<ConfigNode> section = load_section(path, inside);
    report(inside.errors(), named_at, context_);
    if (!section || inside.error_count() > 0) {
        return std::nullopt;
    }
    if (const ConfigNode* third = section->find(kKey)) {
        error(
            fmt::format("the network of {} is itself made to cost as much as {}", path.string(), third->text),
            "name a network that says all of itself");
        return std::nullopt;
    }
    const Result<DescribedNetwork> other = load_network(path.string(), components_);
    if (!other) {
        report(other.error(), named_at, context_);
        return std::nullopt;
    }
    const Result<network::NetworkCost> cost =
        network_cost(*other->fabric, wiring_of(other->section), *prices_);
    if (!cost) {
        report(cost.error(), named_at, context_);
        return std::nullopt;
    }
    return Target{cost->per_host(), path.string()};
}

std::optional<double> EqualCost::cost_of(const ConfigNode& section) {
    ReadContext inside;
    const std::optional<Networks::Configured> configured =
        components_.networks.read(section, inside, also_known_);
    if (!configured) {
        report(inside.errors(), *node_.find(kKey), context_);
        return std::nullopt;
    }
    const Result<network::NetworkCost> cost =
        network_cost(*configured->make()(1), wiring_of(configured->resolved), *prices_);
    if (!cost) {
        report(cost.error(), *node_.find(kKey), context_);
        return std::nullopt;
    }
    return cost->per_host();
}

bool EqualCost::refuse_given(const char* path) {
    const ConfigNode* inner = inner_network(tree_);
    const ConfigNode* given = (inner != nullptr ? *inner : tree_).find_path(path);
    if (given == nullptr) {
        return false;
    }
    context_.error("config.equal-cost", given->where, fmt::format("'{}' is what is solved for", path),
                   fmt::format("leave it out, or leave out {}", kKey));
    return true;
}

std::optional<ConfigNode> EqualCost::solve_rate(const Networks::Configured& given, const Target& target) {
    const ConfigNode* inside = inner_network(given.resolved);
    const ConfigNode* rate = (inside != nullptr ? *inside : given.resolved).find_path("link.rate");
    if (rate == nullptr || !rate->is_scalar()) {
        error(fmt::format("a network of kind '{}' has no single link.rate to solve for", given.kind),
              "make a fat_tree, a leaf_spine or a flat network cost as much");
        return std::nullopt;
    }
    if (refuse_given("link.rate")) {
        return std::nullopt;
    }
    if (inside != nullptr && has_rate_of_nics(given.resolved)) {
        error("NICs have a rate of their own, which is that of the links that are solved for",
              "leave nics.rate out, or solve_for: oversubscription");
        return std::nullopt;
    }
    const auto with = [&](std::int64_t bits) {
        const ConfigNode* inner = inner_network(tree_);
        ConfigNode section = inner != nullptr ? *inner : tree_;
        ConfigNode link = section.find("link") != nullptr ? *section.find("link") : ConfigNode::mapping();
        link.set("rate", ConfigNode::scalar(to_string(Bandwidth(bits))));
        section.set("link", std::move(link));
        return with_inner(tree_, std::move(section));
    };
    const auto cost = [&](std::int64_t bits) { return cost_of(with(bits)); };
    std::vector<std::int64_t> bends;
    for (const Bandwidth listed : prices_->list.listed_rates()) {
        bends.push_back(listed.count());
    }
    // No price falls below the least rate listed, but rates that follow from this one may still be above it.
    CostAt low{bends.empty() ? 1 : bends.front(), 0.0};
    std::optional<double> least = cost(low.number);
    if (least && *least > target.per_host && low.number > 1) {
        low.number = 1;
        least = cost(low.number);
    }
    if (!least) {
        return std::nullopt;
    }
    low.cost = *least;
    if (low.cost > target.per_host) {
        error(fmt::format(
                  "at any link rate this network costs ${:.2f} per host or more, above the ${:.2f} of {}",
                  low.cost, target.per_host, target.file),
              "take fewer cables and ports per host");
        return std::nullopt;
    }
    // Rates far beyond those listed may make others too great that follow from them.
    CostAt high = low;
    while (high.cost <= target.per_host) {
        if (high.number == network::kMaxLinkRate.count()) {
            error(fmt::format(
                      "at no link rate this network costs more than ${:.2f} per host, and {} costs ${:.2f}",
                      high.cost, target.file, target.per_host),
                  "take prices that rise with the rate, or solve_for: oversubscription");
            return std::nullopt;
        }
        low = high;
        high.number =
            std::min(bends.empty() ? network::kMaxLinkRate.count() : std::max(bends.back(), 2 * low.number),
                     network::kMaxLinkRate.count());
        const std::optional<double> found = cost(high.number);
        if (!found) {
            return std::nullopt;
        }
        high.cost = *found;
    }
    const auto crossing = largest_within(target.per_host, low, high, bends, cost);
    return crossing ? std::optional(with(crossing->within.number)) : std::nullopt;
}

std::optional<ConfigNode> EqualCost::solve_switches(const Networks::Configured& given, const Target& target) {
    const ConfigNode* inner = inner_network(tree_);
    const ConfigNode& tree = inner != nullptr ? *inner : tree_;
    const ConfigNode& resolved = inner != nullptr ? *inner_network(given.resolved) : given.resolved;
    const std::string kind = inner != nullptr ? inner->find("kind")->text : given.kind;
    if (kind != "leaf_spine" && kind != "fat_tree") {
        error(fmt::format("a network of kind '{}' has no oversubscription to solve for", kind),
              "solve for link_rate, or take a fat_tree or a leaf_spine", "solve_for");
        return std::nullopt;
    }
    const SpineLayer layer = spine_layer(kind, resolved, tree);
    if (refuse_given(layer.oversubscription)) {
        return std::nullopt;
    }
    const auto with = [&](std::int64_t switches) { return with_inner(tree_, layer.with(switches)); };
    const auto cost = [&](std::int64_t switches) { return cost_of(with(switches)); };
    const std::optional<double> least = cost(1);
    const std::optional<double> most = least ? cost(layer.largest) : std::nullopt;
    if (!most) {
        return std::nullopt;
    }
    if (*least > target.per_host || *most < target.per_host) {
        const bool is_dear = *least > target.per_host;
        error(fmt::format("with {} {} this network costs ${:.2f} per host{} the ${:.2f} of {}",
                          is_dear ? 1 : layer.largest, layer.key, is_dear ? *least : *most,
                          is_dear ? ", above" : " and is 1:1, below", target.per_host, target.file),
              is_dear ? "take slower links or more hosts on an edge switch"
                      : "take faster links, or solve_for: link_rate");
        return std::nullopt;
    }
    if (*most == target.per_host) {
        return with(layer.largest);
    }
    const auto crossing = largest_within(target.per_host, {1, *least}, {layer.largest, *most}, {}, cost);
    if (!crossing) {
        return std::nullopt;
    }
    const bool lower = target.per_host - crossing->within.cost <= crossing->beyond.cost - target.per_host;
    return with(lower ? crossing->within.number : crossing->beyond.number);
}

std::optional<Networks::Configured> EqualCost::solve() {
    const std::optional<EqualCostKeys> keys = equal_cost_schema().read(part_of(node_, true), context_);
    const std::optional<Networks::Configured> given = components_.networks.read(tree_, context_, also_known_);
    if (!keys || !given) {
        return std::nullopt;
    }
    if (given->make().needs_job()) {
        error(fmt::format("a network of kind '{}' is built for a job, at a cost that nothing sets",
                          given->kind),
              "make another network cost as much as this one");
        return std::nullopt;
    }
    prices_ = read_prices(*keys);
    if (!prices_) {
        return std::nullopt;
    }
    const std::optional<Target> target = read_target(*keys);
    if (!target) {
        return std::nullopt;
    }
    const std::optional<ConfigNode> solved = keys->solve_for == SolveFor::kLinkRate
                                                 ? solve_rate(*given, *target)
                                                 : solve_switches(*given, *target);
    return solved ? components_.networks.read(*solved, context_, also_known_) : std::nullopt;
}

}  // namespace

const std::vector<std::string>& equal_cost_keys() {
    static const std::vector<std::string> kKeys = [] {
        std::vector<std::string> keys;
        const Schema<EqualCostKeys> schema = equal_cost_schema();
        for (const ParameterDescriptor& parameter : schema.parameters()) {
            keys.push_back(parameter.key);
        }
        return keys;
    }();
    return kKeys;
}

std::optional<Networks::Configured> read_network(const ConfigNode& node, const Components& components,
                                                 ReadContext& context, std::vector<std::string> also_known) {
    const std::vector<std::string>& keys = equal_cost_keys();
    also_known.insert(also_known.end(), keys.begin(), keys.end());
    if (node.is_mapping() && std::any_of(keys.begin(), keys.end(),
                                         [&](const std::string& key) { return node.find(key) != nullptr; })) {
        return EqualCost(node, components, context, std::move(also_known)).solve();
    }
    return components.networks.read(node, context, std::move(also_known));
}

ComponentDescription equal_cost_description() {
    const Schema<EqualCostKeys> schema = equal_cost_schema();
    return {schema.name(), schema.help(), schema.parameters()};
}

}  // namespace astrolabe::experiment
