#include "grid_parameters.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network::detail {

void check_grid_sizes(ParameterCheck& check, const std::vector<std::int64_t>& sizes, std::string_view kind,
                      const std::function<std::int64_t(std::int64_t size)>& half_cables) {
    if (sizes.empty() || sizes.size() > kMaxGridDimensions) {
        check.report(
            "sizes",
            fmt::format("sizes has {} dimensions, expected 1 to {}", sizes.size(), kMaxGridDimensions),
            "give the number of hosts along each dimension, for example [4, 4, 4]");
        return;
    }
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        check.count(fmt::format("sizes.{}", d), sizes[d], 1, kMaxHosts,
                    "a size is the number of hosts along a dimension");
    }
    if (!check.sound()) {
        return;
    }
    std::int64_t hosts = 1;
    std::int64_t halves = 0;
    for (const std::int64_t size : sizes) {
        if (hosts > kMaxHosts / size) {
            check.report("sizes", fmt::format("the {} has more than {} hosts", kind, kMaxHosts),
                         "use fewer or smaller dimensions");
            return;
        }
        hosts *= size;
        halves += half_cables(size);
    }
    if (hosts * halves / 2 > kMaxCables) {
        check.report("sizes", fmt::format("the {} has more than {} cables", kind, kMaxCables),
                     "use fewer dimensions");
    }
}

namespace {

template <class T>
void check_per_dimension(ParameterCheck& check, std::string_view key, const std::vector<T>& values,
                         std::size_t dimensions, void (ParameterCheck::*check_one)(std::string_view, T)) {
    if (values.size() != 1 && values.size() != dimensions) {
        check.report(key, fmt::format("{} has {} values for {} dimensions", key, values.size(), dimensions),
                     "give one value for all dimensions, or one for each");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        (check.*check_one)(values.size() == 1 ? std::string(key) : fmt::format("{}.{}", key, i), values[i]);
    }
}

/// One value for all dimensions, or a list with one for each.
template <class F>
void add_per_dimension(Schema<GridLinkParameters>& schema, std::string key,
                       std::vector<F> GridLinkParameters::*member, std::string help, Range<F> range) {
    ParameterDescriptor descriptor{key,
                                   ValueTraits<F>::type() + ", or list of " + ValueTraits<F>::type(),
                                   ValueTraits<F>::format((GridLinkParameters{}.*member).front()),
                                   false,
                                   range_text(range),
                                   std::move(help),
                                   {}};
    schema.field(
        std::move(descriptor),
        [member, key, range](GridLinkParameters& target, const ConfigNode& node, ReadContext& context) {
            const bool many = node.is_sequence();
            const std::span<const ConfigNode> items = many ? std::span(node.items) : std::span(&node, 1);
            (target.*member).clear();
            for (const ConfigNode& item : items) {
                if (const std::optional<F> value =
                        read_scalar<F>(item, (many ? "an item of '" : "'") + key + "'", context, range)) {
                    (target.*member).push_back(*value);
                }
            }
        },
        [member](const GridLinkParameters& source) -> std::optional<ConfigNode> {
            std::vector<ConfigNode> items;
            for (const F value : source.*member) {
                items.push_back(ConfigNode::scalar(ValueTraits<F>::format(value)));
            }
            return items.size() == 1 ? std::move(items.front()) : ConfigNode::sequence(std::move(items));
        });
}

}  // namespace

void check_grid_link(ParameterCheck& check, const GridLinkParameters& link, std::size_t dimensions) {
    check_per_dimension(check, "link.rate", link.rate, dimensions, &ParameterCheck::rate);
    check_per_dimension(check, "link.latency", link.latency, dimensions, &ParameterCheck::latency);
}

Schema<GridLinkParameters> grid_link_schema() {
    Schema<GridLinkParameters> schema("link", "the cables of each dimension");
    add_per_dimension(schema, "rate", &GridLinkParameters::rate,
                      "rate of each direction of a cable, for all dimensions or for each",
                      {Bandwidth(1), kMaxLinkRate});
    add_per_dimension(schema, "latency", &GridLinkParameters::latency,
                      "one-way propagation, for all dimensions or for each", {Time(0), kMaxLinkLatency});
    return schema;
}

}  // namespace astrolabe::network::detail
