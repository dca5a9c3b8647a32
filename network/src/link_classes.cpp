#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/link_classes.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

namespace {

/// Of a word, over what was mixed before.
std::uint64_t mix(std::uint64_t before, std::uint64_t word) {
    return mix_bits(word + before + kGoldenGamma);
}

/// Colours of nodes and links, refined until links of a colour are alike. 64 bits tell millions of links
/// apart with a probability of error below 10^-6.
class Colouring {
public:
    explicit Colouring(const Fabric& fabric)
        : fabric_(fabric),
          nodes_(fabric.node_count(), 0),
          own_(fabric.link_count(), 0),
          links_(fabric.link_count(), 0) {
        for (std::size_t host = 0; host < fabric.host_count(); ++host) {
            nodes_[NodeId(host)] = mix(1, host);
        }
        describe_links();
        colour_destinations();
        std::size_t known = 0;
        for (std::size_t found = colour_links(); found > known; found = colour_links()) {
            known = found;
            colour_nodes();
        }
    }

    [[nodiscard]] const IndexedVector<NodeId, std::uint64_t>& nodes() const { return nodes_; }
    [[nodiscard]] const IndexedVector<LinkId, std::uint64_t>& links() const { return links_; }

private:
    /// What a link is by itself.
    void describe_links() {
        for (std::size_t i = 0; i < own_.size(); ++i) {
            const LinkId id(i);
            const Link& link = fabric_.link(id);
            std::uint64_t own = mix(static_cast<std::uint64_t>(link.rate.count()),
                                    static_cast<std::uint64_t>(link.latency.count()));
            own = mix(own, link.cost);
            if (fabric_.circuits().is_circuit(id)) {
                // Comes and goes by itself: it and its switch are unlike all others.
                own = mix(own, i + 1);
                const NodeId source = fabric_.source(id);
                nodes_[source] = mix(1, source.index());
            }
            own_[id] = own;
        }
    }

    /// For which destinations a link is a next link, and among how many. Hosts that hang on one switch by one
    /// cable are one destination.
    void colour_destinations() {
        std::vector<std::uint8_t> is_done(fabric_.node_count(), 0);
        for (std::size_t i = 0; i < fabric_.host_count(); ++i) {
            const HostId host(i);
            const NodeId exit = place_of(fabric_, host);
            if (std::exchange(is_done[exit.index()], 1) != 0) {
                continue;
            }
            for (std::size_t node = 0; node < fabric_.node_count(); ++node) {
                if (node != exit.index() &&
                    (node >= fabric_.host_count() || fabric_.out_degree(NodeId(node)) > 1)) {
                    const auto next = fabric_.routing().next_links(NodeId(node), host);
                    for (const LinkId link : next) {
                        own_[link] += mix(mix(2, exit.index()), next.size());
                    }
                }
            }
        }
    }

    /// How many colours there are.
    std::size_t colour_links() {
        std::vector<std::uint64_t> different;
        for (std::size_t i = 0; i < links_.size(); ++i) {
            const LinkId id(i);
            links_[id] = mix(mix(nodes_[fabric_.source(id)], own_[id]), nodes_[fabric_.target(id)]);
            different.push_back(links_[id]);
        }
        std::sort(different.begin(), different.end());
        return static_cast<std::size_t>(std::unique(different.begin(), different.end()) - different.begin());
    }

    void colour_nodes() {
        std::vector<std::vector<std::uint64_t>> colours(fabric_.node_count());
        for (std::size_t i = 0; i < links_.size(); ++i) {
            const LinkId id(i);
            colours[fabric_.target(id).index()].push_back(mix(3, links_[id]));
            colours[fabric_.source(id).index()].push_back(mix(4, links_[id]));
        }
        for (std::size_t i = fabric_.host_count(); i < nodes_.size(); ++i) {
            std::sort(colours[i].begin(), colours[i].end());
            for (const std::uint64_t colour : colours[i]) {
                nodes_[NodeId(i)] = mix(nodes_[NodeId(i)], colour);
            }
        }
    }

    const Fabric& fabric_;
    IndexedVector<NodeId, std::uint64_t> nodes_;
    IndexedVector<LinkId, std::uint64_t> own_;
    IndexedVector<LinkId, std::uint64_t> links_;
};

/// Numbers 0, 1, … for colours in the order in which they first occur.
class Numbering {
public:
    std::uint32_t operator()(std::uint64_t colour) {
        return numbers_.try_emplace(colour, static_cast<std::uint32_t>(numbers_.size())).first->second;
    }

private:
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

}  // namespace

LinkClasses::LinkClasses(std::shared_ptr<const Fabric> fabric)
    : fabric_(std::move(fabric)),
      class_of_(fabric_->link_count(), 0),
      is_sprayed_(fabric_->routing().load_balancing() == LoadBalancing::kSpray) {
    if (!is_sprayed_) {
        for (std::size_t i = 0; i < class_of_.size(); ++i) {
            class_of_[LinkId(i)] = static_cast<std::uint32_t>(i);
            examples_.emplace_back(i);
        }
        return;
    }
    const Colouring colouring(*fabric_);
    Numbering link_numbers;
    for (std::size_t i = 0; i < class_of_.size(); ++i) {
        const LinkId id(i);
        class_of_[id] = link_numbers(colouring.links()[id]);
        if (class_of_[id] == examples_.size()) {
            examples_.push_back(id);
            links_in_bundle_.push_back(0);
        }
        ++links_in_bundle_[class_of_[id]];
    }
    bundle_of_ = class_of_;
    example_of_bundle_ = examples_;
    Numbering node_numbers;
    colour_of_node_.resize(fabric_->node_count());
    for (std::size_t i = 0; i < fabric_->node_count(); ++i) {
        const NodeId id(i);
        colour_of_node_[id] = node_numbers(colouring.nodes()[id]);
        if (colour_of_node_[id] == nodes_of_colour_.size()) {
            nodes_of_colour_.push_back(0);
        }
        ++nodes_of_colour_[colour_of_node_[id]];
    }
}

LinkClasses LinkClasses::fold(const std::vector<std::uint32_t>& image_of,
                              std::size_t flows_per_representative) const {
    ASTROLABE_ASSERT(flows_per_representative_ == 1 && image_of.size() == size(), "classes are folded once");
    LinkClasses folded = *this;
    folded.flows_per_representative_ = flows_per_representative;
    folded.image_of_ = image_of;
    folded.examples_.clear();
    std::vector<std::size_t> bundles;
    for (std::uint32_t bundle = 0; bundle < image_of.size(); ++bundle) {
        if (image_of[bundle] == folded.examples_.size()) {
            folded.examples_.push_back(examples_[bundle]);
            bundles.push_back(0);
        }
        ASTROLABE_ASSERT(image_of[bundle] < bundles.size(), "classes are numbered as they first occur");
        ++bundles[image_of[bundle]];
    }
    for (const std::size_t count : bundles) {
        folded.factor_.push_back(static_cast<double>(flows_per_representative) / static_cast<double>(count));
    }
    for (std::uint32_t& link_class : folded.class_of_) {
        link_class = image_of[link_class];
    }
    return folded;
}

void LinkClasses::find_route(HostId source, HostId destination, ClassRoute& route) const {
    find_bundles(source, destination, route);
    if (!image_of_.empty()) {
        map_to_images(route);
    }
}

PathRates LinkClasses::path_rates(HostId source, HostId destination) const {
    ClassRoute route;
    find_bundles(source, destination, route);
    PathRates rates{.slowest = Bandwidth::max()};
    for (const ClassLeg& leg : route.legs) {
        const LinkId link = is_sprayed_ ? example_of_bundle_[leg.link_class] : LinkId(leg.link_class);
        const double crossing = leg.load * (is_sprayed_ ? links_in_bundle_[leg.link_class] : 1.0);
        const Bandwidth rate = fabric_->link(link).rate;
        rates.slowest =
            std::min(rates.slowest, Bandwidth(std::llround(static_cast<double>(rate.count()) / leg.load)));
        rates.serialisation +=
            crossing * 8.0 * static_cast<double>(kPicosecondsPerSecond) / static_cast<double>(rate.count());
    }
    return rates;
}

void LinkClasses::find_bundles(HostId source, HostId destination, ClassRoute& route) const {
    ASTROLABE_ASSERT(source != destination, "a route leads from one host to another");
    route.legs.clear();
    route.latency = Time(0);
    const NodeId from = fabric_->node_of(source);
    const NodeId entry = place_of(*fabric_, source);
    const NodeId exit = place_of(*fabric_, destination);
    if (entry != exit && fabric_->routing().next_links(entry, destination).empty()) {
        return;
    }
    if (fabric_->routing().load_balancing() == LoadBalancing::kPaths) {
        const Route paths = fabric_->routing().route(source, destination);
        for (const RouteLeg& leg : paths.legs) {
            route.legs.push_back({static_cast<std::uint32_t>(leg.link.index()), leg.share});
        }
        route.latency = paths.latency;
    } else if (!is_sprayed_) {
        single_path(source, destination, route);
    } else {
        const NodeId to = fabric_->node_of(destination);
        const auto cross = [&](LinkId link) {
            route.legs.push_back({bundle_of_[link], 1.0});
            route.latency = saturating_sum(route.latency, fabric_->link(link).latency);
        };
        if (entry != from) {
            cross(fabric_->first_link(from));
        }
        if (entry != from && exit != to && entry != exit) {
            const InnerRoute& inner = inner_route(entry, exit, destination);
            const auto first = inner_legs_.begin() + inner.first_leg;
            route.legs.insert(route.legs.end(), first, first + inner.leg_count);
            route.latency = saturating_sum(route.latency, inner.latency);
        } else if (entry != exit) {
            spread(entry, exit, destination, route);
        }
        if (exit != to) {
            cross(*fabric_->link(fabric_->first_link(to)).reverse);
        }
    }
}

void LinkClasses::single_path(HostId source, HostId destination, ClassRoute& route) const {
    const NodeId target = fabric_->node_of(destination);
    for (NodeId at = fabric_->node_of(source); at != target;) {
        const LinkId link = fabric_->routing().select(at, source, destination);
        route.latency = saturating_sum(route.latency, hop_latency(*fabric_, link, route.legs.empty()));
        route.legs.push_back({static_cast<std::uint32_t>(link.index()), 1.0});
        at = fabric_->target(link);
    }
}

const LinkClasses::InnerRoute& LinkClasses::inner_route(NodeId entry, NodeId exit, HostId destination) const {
    // Numbers of switches beyond those of hosts name no host, so the pair is free.
    const HostId from(entry.index());
    const HostId to(exit.index());
    std::uint32_t number = inner_index_.find(from, to);
    if (number == PairIndex::kNone) {
        number = static_cast<std::uint32_t>(inner_routes_.size());
        ClassRoute route;
        spread(entry, exit, destination, route);
        inner_routes_.push_back({.first_leg = static_cast<std::uint32_t>(inner_legs_.size()),
                                 .leg_count = static_cast<std::uint32_t>(route.legs.size()),
                                 .latency = route.latency});
        inner_legs_.insert(inner_legs_.end(), route.legs.begin(), route.legs.end());
        inner_index_.insert(from, to, number);
    }
    return inner_routes_[number];
}

void LinkClasses::spread(NodeId entry, NodeId exit, HostId destination, ClassRoute& route) const {
    // What reaches the nodes of one colour, all together; all are as far from the entry.
    struct Arrival {
        std::uint64_t length;
        std::uint32_t colour;
        NodeId example;
        double share;
        Time latency;
    };
    std::vector<Arrival> waiting{{0, colour_of_node_[entry], entry, 1.0, Time(0)}};
    for (;;) {
        const auto next = std::min_element(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
            return std::pair(a.length, a.colour) < std::pair(b.length, b.colour);
        });
        const Arrival here = *next;
        waiting.erase(next);
        if (here.example == exit) {
            route.latency = saturating_sum(route.latency, here.latency);
            return;
        }
        const auto links = fabric_->routing().next_links(here.example, destination);
        const double load = here.share / nodes_of_colour_[here.colour] / static_cast<double>(links.size());
        const auto first_leg = static_cast<std::ptrdiff_t>(route.legs.size());
        for (const LinkId id : links) {
            const std::uint32_t bundle = bundle_of_[id];
            if (std::any_of(route.legs.begin() + first_leg, route.legs.end(),
                            [bundle](const ClassLeg& leg) { return leg.link_class == bundle; })) {
                continue;
            }
            route.legs.push_back({bundle, load});
            const Link& link = fabric_->link(id);
            const NodeId target = fabric_->target(id);
            const std::uint32_t colour = colour_of_node_[target];
            const double share = load * links_in_bundle_[bundle];
            const Time latency =
                saturating_sum(here.latency, hop_latency(*fabric_, id, here.example == entry));
            const auto known = std::find_if(waiting.begin(), waiting.end(), [colour](const auto& arrival) {
                return arrival.colour == colour;
            });
            if (known == waiting.end()) {
                waiting.push_back({here.length + link.cost, colour, target, share, latency});
            } else {
                known->share += share;
                known->latency = std::max(known->latency, latency);
            }
        }
    }
}

void LinkClasses::map_to_images(ClassRoute& route) const {
    std::size_t count = 0;
    for (const ClassLeg& leg : route.legs) {
        const std::uint32_t image = image_of_[leg.link_class];
        const double load = leg.load * factor_[image];
        const auto end = route.legs.begin() + static_cast<std::ptrdiff_t>(count);
        const auto known = std::find_if(route.legs.begin(), end,
                                        [image](const ClassLeg& one) { return one.link_class == image; });
        if (known != end) {
            known->load += load;
        } else {
            route.legs[count++] = {image, load};
        }
    }
    route.legs.resize(count);
}

}  // namespace astrolabe::network
