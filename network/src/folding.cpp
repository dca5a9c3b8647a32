#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/folding.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

namespace {

constexpr std::uint32_t kNone = 0xffffffff;

/// More are not worth the time that looking at them takes.
constexpr std::size_t kMostPairs = std::size_t{1} << 22;

/// Where one generator takes the classes, as far as flows have shown.
class ClassMap {
public:
    explicit ClassMap(const LinkClasses& classes)
        : classes_(classes),
          image_(classes.size(), kNone),
          source_(classes.size(), kNone) {}

    /// False: another class goes there, `from` goes elsewhere, or the links differ.
    [[nodiscard]] bool take(std::uint32_t from, std::uint32_t to) {
        if (image_[from] == to) {
            return true;
        }
        if (image_[from] != kNone || source_[to] != kNone || rate(from) != rate(to)) {
            return false;
        }
        image_[from] = to;
        source_[to] = from;
        return true;
    }
    [[nodiscard]] bool take(const ClassRoute& from, const ClassRoute& to) {
        return from.latency == to.latency &&
               std::equal(from.legs.begin(), from.legs.end(), to.legs.begin(), to.legs.end(),
                          [this](const ClassLeg& a, const ClassLeg& b) {
                              return a.load == b.load && take(a.link_class, b.link_class);
                          });
    }
    [[nodiscard]] const std::vector<std::uint32_t>& images() const { return image_; }

private:
    [[nodiscard]] Bandwidth rate(std::uint32_t link_class) const {
        return classes_.fabric().link(classes_.example(link_class)).rate;
    }

    const LinkClasses& classes_;
    std::vector<std::uint32_t> image_;
    std::vector<std::uint32_t> source_;
};

/// Classes that some map joins, numbered as they first occur.
class Orbits {
public:
    explicit Orbits(std::size_t classes)
        : parent_(classes) {
        std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
    }

    void join(const std::vector<std::uint32_t>& images) {
        for (std::uint32_t from = 0; from < images.size(); ++from) {
            if (images[from] != kNone) {
                parent_[root(images[from])] = root(from);
            }
        }
    }
    [[nodiscard]] std::vector<std::uint32_t> numbers() {
        std::vector<std::uint32_t> of_root(parent_.size(), kNone);
        std::vector<std::uint32_t> numbers;
        std::uint32_t next = 0;
        for (std::uint32_t member = 0; member < parent_.size(); ++member) {
            std::uint32_t& number = of_root[root(member)];
            if (number == kNone) {
                number = next++;
            }
            numbers.push_back(number);
        }
        return numbers;
    }

private:
    std::uint32_t root(std::uint32_t member) {
        while (parent_[member] != member) {
            parent_[member] = parent_[parent_[member]];
            member = parent_[member];
        }
        return member;
    }

    std::vector<std::uint32_t> parent_;
};

/// Checks one generator.
class Check {
public:
    Check(const LinkClasses& classes, std::span<const HostId> hosts, const Folding& folding,
          std::size_t generator)
        : classes_(classes),
          hosts_(hosts),
          folding_(folding),
          generator_(generator),
          map_(classes) {}

    /// Whether the flows of all pairs, or of `pairs` and their images, have images.
    [[nodiscard]] bool run(const RankPairs& pairs) {
        if (!pairs) {
            return check_all();
        }
        for (std::size_t offset = 0; offset < folding_.ranks; offset += folding_.representatives) {
            for (const auto& [source, destination] : *pairs) {
                if (!check(folding_.image(source, offset), folding_.image(destination, offset))) {
                    return false;
                }
            }
        }
        return true;
    }
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    [[nodiscard]] const ClassMap& map() const { return map_; }

private:
    /// Ranks that are alike but for their cables: on one switch, and their images on one switch. Between two
    /// lots of such ranks one pair tells for all where routes between switches do not depend on the hosts.
    [[nodiscard]] std::vector<std::vector<std::size_t>> lots() const {
        std::vector<NodeId> places;
        for (std::size_t rank = 0; rank < folding_.ranks; ++rank) {
            places.push_back(place_of(classes_.fabric(), hosts_[rank]));
        }
        const bool is_one_switch = std::equal(places.begin() + 1, places.end(), places.begin());
        const bool shares_routes =
            is_one_switch || classes_.fabric().routing().load_balancing() == LoadBalancing::kSpray;
        std::map<std::pair<NodeId, NodeId>, std::size_t> numbers;
        std::vector<std::vector<std::size_t>> lots;
        for (std::size_t rank = 0; rank < folding_.ranks; ++rank) {
            const std::size_t image = folding_.image(rank, generator_);
            const auto [entry, is_new] = numbers.try_emplace({places[rank], places[image]}, lots.size());
            if (is_new || !shares_routes) {
                entry->second = lots.size();
                lots.emplace_back();
            }
            lots[entry->second].push_back(rank);
        }
        return lots;
    }

    [[nodiscard]] bool check_all() {
        const std::vector<std::vector<std::size_t>> all = lots();
        if (all.size() > kMostPairs / all.size()) {
            refusal_ = "there are too many pairs of ranks to compare their routes";
            return false;
        }
        for (const auto& from : all) {
            for (const auto& to : all) {
                if (&from != &to ? !check(from.front(), to.front())
                                 : from.size() > 1 && !check(from[0], from[1])) {
                    return false;
                }
            }
        }
        return std::all_of(all.begin(), all.end(), [this](const auto& lot) {
            return lot.size() == 1 || std::all_of(lot.begin(), lot.end(),
                                                  [this](std::size_t rank) { return check_cable(rank); });
        });
    }

    [[nodiscard]] bool check(std::size_t source, std::size_t destination) {
        const std::size_t image_source = folding_.image(source, generator_);
        const std::size_t image_destination = folding_.image(destination, generator_);
        classes_.find_route(hosts_[source], hosts_[destination], route_);
        classes_.find_route(hosts_[image_source], hosts_[image_destination], image_);
        if (map_.take(route_, image_)) {
            return true;
        }
        refusal_ = fmt::format("the route from rank {} to rank {} is not like that from rank {} to rank {}",
                               source, destination, image_source, image_destination);
        return false;
    }

    /// Both directions of the only cable of a rank's host.
    [[nodiscard]] bool check_cable(std::size_t rank) {
        const Fabric& fabric = classes_.fabric();
        const std::size_t image = folding_.image(rank, generator_);
        const LinkId out = fabric.first_link(fabric.node_of(hosts_[rank]));
        const LinkId image_out = fabric.first_link(fabric.node_of(hosts_[image]));
        const auto take = [&](LinkId link, LinkId image_link) {
            return fabric.link(link).latency == fabric.link(image_link).latency &&
                   map_.take(classes_.class_of(link), classes_.class_of(image_link));
        };
        if (take(out, image_out) && take(*fabric.link(out).reverse, *fabric.link(image_out).reverse)) {
            return true;
        }
        refusal_ = fmt::format("the cable of rank {} is not like that of rank {}", rank, image);
        return false;
    }

    const LinkClasses& classes_;
    std::span<const HostId> hosts_;
    const Folding& folding_;
    std::size_t generator_;
    ClassMap map_;
    ClassRoute route_;
    ClassRoute image_;
    std::string refusal_;
};

}  // namespace

std::vector<std::size_t> Folding::generators() const {
    if (equivalence == Equivalence::kRotation) {
        return {representatives};
    }
    std::vector<std::size_t> offsets;
    for (std::size_t offset = representatives; offset < ranks; offset *= 2) {
        offsets.push_back(offset);
    }
    return offsets;
}

FoldedClasses fold_classes(const LinkClasses& classes, std::span<const HostId> hosts, const Folding& folding,
                           const RankPairs& pairs) {
    ASTROLABE_ASSERT(hosts.size() == folding.ranks && folding.representatives < folding.ranks &&
                         folding.ranks % folding.representatives == 0,
                     "a part of the ranks stands for all");
    if (!classes.fabric().is_static()) {
        return {{}, "circuits of the network come and go"};
    }
    Orbits orbits(classes.size());
    for (const std::size_t generator : folding.generators()) {
        Check check(classes, hosts, folding, generator);
        if (!check.run(pairs)) {
            return {{}, check.refusal()};
        }
        orbits.join(check.map().images());
    }
    return {classes.fold(orbits.numbers(), folding.class_size()), {}};
}

}  // namespace astrolabe::network
