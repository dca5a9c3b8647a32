#include "torus.hpp"

#include "checks.hpp"
#include "topology_schemas.hpp"
#include "torus_cables.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// Cables per host along a dimension, in halves: each belongs to two hosts.
std::int64_t half_cables(std::int64_t size, bool double_links) {
    if (size == 1) {
        return 0;
    }
    return size == 2 && !double_links ? 1 : 2;
}

void check_sizes(detail::ParameterCheck& check, const TorusParameters& p) {
    if (p.sizes.empty() || p.sizes.size() > kMaxTorusDimensions) {
        check.report(
            "sizes",
            fmt::format("sizes has {} dimensions, expected 1 to {}", p.sizes.size(), kMaxTorusDimensions),
            "give the number of hosts along each dimension, for example [4, 4, 4]");
        return;
    }
    for (std::size_t d = 0; d < p.sizes.size(); ++d) {
        check.count(fmt::format("sizes.{}", d), p.sizes[d], 1, kMaxHosts,
                    "a size is the number of hosts along a dimension");
    }
    if (!check.sound()) {
        return;
    }
    std::int64_t hosts = 1;
    std::int64_t halves = 0;
    for (const std::int64_t size : p.sizes) {
        if (hosts > kMaxHosts / size) {
            check.report("sizes", fmt::format("the torus has more than {} hosts", kMaxHosts),
                         "use fewer or smaller dimensions");
            return;
        }
        hosts *= size;
        halves += half_cables(size, p.double_links);
    }
    if (hosts * halves / 2 > kMaxCables) {
        check.report("sizes", fmt::format("the torus has more than {} cables", kMaxCables),
                     "use fewer dimensions");
    }
}

template <class T>
void check_per_dimension(detail::ParameterCheck& check, std::string_view key, const std::vector<T>& values,
                         std::size_t dimensions,
                         void (detail::ParameterCheck::*check_one)(std::string_view, T)) {
    if (values.size() != 1 && values.size() != dimensions) {
        check.report(key, fmt::format("{} has {} values for {} dimensions", key, values.size(), dimensions),
                     "give one value for all dimensions, or one for each");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        (check.*check_one)(values.size() == 1 ? std::string(key) : fmt::format("{}.{}", key, i), values[i]);
    }
}

}  // namespace

ValidationErrors validation_errors(const TorusParameters& parameters) {
    detail::ParameterCheck check;
    check_sizes(check, parameters);
    const std::size_t dimensions = parameters.sizes.size();
    check_per_dimension(check, "link.rate", parameters.link.rate, dimensions, &detail::ParameterCheck::rate);
    check_per_dimension(check, "link.latency", parameters.link.latency, dimensions,
                        &detail::ParameterCheck::latency);
    return std::move(check).take();
}

HostLinkParameters dimension_link(const TorusParameters& parameters, std::size_t dimension) {
    const TorusLinkParameters& link = parameters.link;
    return {link.rate[link.rate.size() == 1 ? 0 : dimension],
            link.latency[link.latency.size() == 1 ? 0 : dimension]};
}

std::shared_ptr<const Fabric> build_torus(const TorusParameters& parameters) {
    ASTROLABE_ASSERT(validation_errors(parameters).empty(),
                     "parameters are checked before a fabric is built");
    std::size_t hosts = 1;
    for (const std::int64_t size : parameters.sizes) {
        hosts *= static_cast<std::size_t>(size);
    }
    FabricBuilder builder("torus");
    for (std::size_t i = 0; i < hosts; ++i) {
        builder.add_host(fmt::format("host {}", i));
    }
    detail::for_each_torus_cable(
        parameters.sizes, parameters.double_links,
        [&](std::size_t host, std::size_t other, std::size_t dimension) {
            const HostLinkParameters link = dimension_link(parameters, dimension);
            builder.connect(NodeId(host), NodeId(other), {link.rate, link.latency, Bytes(0)});
        });
    return std::move(builder).build(parameters.load_balancing, static_cast<std::uint64_t>(parameters.seed));
}

namespace {

/// One value for all dimensions, or a list with one for each.
template <class F>
void add_per_dimension(Schema<TorusLinkParameters>& schema, std::string key,
                       std::vector<F> TorusLinkParameters::*member, std::string help, Range<F> range) {
    ParameterDescriptor descriptor{key,
                                   ValueTraits<F>::type() + ", or list of " + ValueTraits<F>::type(),
                                   ValueTraits<F>::format((TorusLinkParameters{}.*member).front()),
                                   false,
                                   range_text(range),
                                   std::move(help),
                                   {}};
    schema.field(
        std::move(descriptor),
        [member, key, range](TorusLinkParameters& target, const ConfigNode& node, ReadContext& context) {
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
        [member](const TorusLinkParameters& source) -> std::optional<ConfigNode> {
            std::vector<ConfigNode> items;
            for (const F value : source.*member) {
                items.push_back(ConfigNode::scalar(ValueTraits<F>::format(value)));
            }
            return items.size() == 1 ? std::move(items.front()) : ConfigNode::sequence(std::move(items));
        });
}

Schema<TorusLinkParameters> torus_link_schema() {
    Schema<TorusLinkParameters> schema("link", "the cables of each dimension");
    add_per_dimension(schema, "rate", &TorusLinkParameters::rate,
                      "rate of each direction of a cable, for all dimensions or for each",
                      {Bandwidth(1), kMaxLinkRate});
    add_per_dimension(schema, "latency", &TorusLinkParameters::latency,
                      "one-way propagation, for all dimensions or for each", {Time(0), kMaxLinkLatency});
    return schema;
}

}  // namespace

void register_torus(Registry<FabricMaker>& registry) {
    Schema<TorusParameters> schema("torus", "hosts on a grid whose lines are closed to rings; hosts forward");
    schema
        .list("sizes", &TorusParameters::sizes, "hosts along each dimension, the fastest-varying first", true,
              {1, kMaxHosts})
        .optional("double_links", &TorusParameters::double_links,
                  "two cables instead of one where a dimension has two hosts")
        .section("link", &TorusParameters::link, torus_link_schema(), "the cables of each dimension");
    detail::add_load_balancing(schema);
    detail::add_check(schema);
    detail::add_topology(registry, schema, build_torus, &TorusParameters::seed);
}

}  // namespace astrolabe::network
