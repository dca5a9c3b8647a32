#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/rotor_lb.hpp>

namespace astrolabe::network::rotor {

namespace {

constexpr int kPasses = 5;

std::uint32_t sum(Span<const std::uint32_t> items) {
    return std::accumulate(items.begin(), items.end(), std::uint32_t{0});
}

}  // namespace

RotorLb::RotorLb(const RotorLbOptions& options, std::uint64_t seed)
    : options_(options),
      fair_(seed, options.remainders),
      random_(seed, "rotor_lb") {
    ASTROLABE_ASSERT(options.racks > 0 && options.hosts_per_rack > 0, "there are hosts");
    second_hop_limit_ = options.slot / options.hosts_per_rack;
    relay_limit_ = static_cast<std::uint32_t>(std::uint64_t{2} * options.slot / options.hosts_per_rack);
    group_of_.resize(std::size_t{options.racks} * options.hosts_per_rack, 0);
    reserved_.resize(group_of_.size());
}

void RotorLb::share(Rack x, Rack y, PacketCounts& own, PacketCounts& relayed, std::vector<Grant>& grants) {
    if (own.of_rack(x) + own.of_rack(y) + relayed.of_rack(x) + relayed.of_rack(y) == 0) {
        return;
    }
    open(out_, x, y);
    if (x == y) {
        release(x);
        if (options_.intra_rack_direct) {
            grant_intra_rack(out_, out_.receive, own);
            commit(out_, own, grants);
        }
        return;
    }
    open(back_, y, x);
    release(x);
    release(y);
    if (options_.two_hops) {
        grant_relayed(out_, relayed);
        grant_relayed(back_, relayed);
    }
    grant_direct(out_, own);
    grant_direct(back_, own);
    if (options_.intra_rack_direct) {
        grant_intra_rack(out_, back_.receive, own);
        grant_intra_rack(back_, out_.receive, own);
    }
    if (options_.two_hops) {
        offer(out_, own);
        offer(back_, own);
        accept(out_, own, relayed);
        accept(back_, own, relayed);
    }
    commit(out_, own, grants);
    commit(back_, own, grants);
}

void RotorLb::open(Direction& direction, Rack from, Rack to) {
    const std::size_t h = options_.hosts_per_rack;
    direction.from = from;
    direction.to = to;
    direction.send.assign(h, options_.slot);
    direction.receive.assign(h, options_.slot);
    direction.second_hop.assign(h * h, 0);
    direction.direct.assign(h * h, 0);
    direction.intra_rack.assign(h * h, 0);
    direction.offers.clear();
    direction.accepted.clear();
    if (any_reserved_) {
        for (std::uint32_t port = 0; port < options_.hosts_per_rack; ++port) {
            direction.send[port] -= std::min(options_.slot, reserved_[host(from, port)].send);
            direction.receive[port] -= std::min(options_.slot, reserved_[host(to, port)].receive);
        }
    }
}

void RotorLb::release(Rack rack) {
    if (any_reserved_) {
        std::fill_n(reserved_.begin() + host(rack, 0), options_.hosts_per_rack, Reserved{});
    }
}

void RotorLb::grant_relayed(Direction& direction, PacketCounts& relayed) {
    const std::uint32_t h = options_.hosts_per_rack;
    if (relayed.of_rack(direction.from) == 0) {
        return;
    }
    for (std::uint32_t i = 0; i < h; ++i) {
        const std::uint32_t from = host(direction.from, i);
        const Span<const std::uint64_t> waiting = relayed.of_host(from);
        for (std::uint32_t j = 0; j < h && !waiting.empty(); ++j) {
            const std::uint32_t to = host(direction.to, j);
            if (waiting[to] == 0) {
                continue;
            }
            const std::uint32_t most = std::min({second_hop_limit_, direction.send[i], direction.receive[j]});
            const auto packets = static_cast<std::uint32_t>(std::min<std::uint64_t>(waiting[to], most));
            direction.second_hop[i * h + j] = packets;
            direction.send[i] -= packets;
            direction.receive[j] -= packets;
            relayed.take(from, to, packets);
        }
    }
}

void RotorLb::fill_demands(Rack from, Rack to, const PacketCounts& own) {
    const std::uint32_t h = options_.hosts_per_rack;
    demands_.assign(std::size_t{h} * h, 0);
    for (std::uint32_t i = 0; i < h; ++i) {
        const Span<const std::uint64_t> waiting = own.of_host(host(from, i));
        for (std::uint32_t j = 0; j < h && !waiting.empty(); ++j) {
            demands_[i * h + j] =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(waiting[host(to, j)], options_.slot));
        }
    }
}

void RotorLb::grant_direct(Direction& direction, PacketCounts& own) {
    const std::uint32_t h = options_.hosts_per_rack;
    if (own.of_rack(direction.from) == 0) {
        return;
    }
    fill_demands(direction.from, direction.to, own);
    fair_.set_index(index_);
    fair_.split(demands_, direction.send, direction.receive, direction.direct);
    for (std::uint32_t i = 0; i < h; ++i) {
        for (std::uint32_t j = 0; j < h; ++j) {
            own.take(host(direction.from, i), host(direction.to, j), direction.direct[i * h + j]);
        }
    }
}

void RotorLb::grant_intra_rack(Direction& direction, Span<std::uint32_t> receive, PacketCounts& own) {
    const std::uint32_t h = options_.hosts_per_rack;
    if (own.of_rack(direction.from) == 0) {
        return;
    }
    fill_demands(direction.from, direction.from, own);
    fair_.set_index(index_);
    fair_.split(demands_, direction.send, receive, direction.intra_rack);
    for (std::uint32_t i = 0; i < h; ++i) {
        for (std::uint32_t j = 0; j < h; ++j) {
            own.take(host(direction.from, i), host(direction.from, j), direction.intra_rack[i * h + j]);
        }
    }
}

bool RotorLb::is_offered(const Direction& direction, std::uint32_t destination) const {
    const Rack rack = destination / options_.hosts_per_rack;
    return rack != direction.to && (rack != direction.from || !options_.intra_rack_direct) &&
           (options_.connected.empty() ||
            options_.connected[std::size_t{direction.to} * options_.racks + rack] != 0);
}

void RotorLb::offer(Direction& direction, const PacketCounts& own) {
    if (own.of_rack(direction.from) == 0 || sum(direction.receive) == 0) {
        return;
    }
    for (std::uint32_t i = 0; i < options_.hosts_per_rack; ++i) {
        const std::uint32_t cap = direction.send[i];
        const std::uint32_t from = host(direction.from, i);
        const Span<const std::uint32_t> waiting = own.destinations(from);
        if (cap == 0 || waiting.empty()) {
            continue;
        }
        // With twice as many to choose from as can be chosen, each gets 0 or 1, and drawing finds them soon.
        // Not where more destinations than those of two racks may be no choice.
        if (options_.connected.empty() &&
            waiting.size() > 2 * (std::size_t{cap} + 2 * options_.hosts_per_rack)) {
            offer_one_of_each(direction, i, own);
            continue;
        }
        demands_.resize(waiting.size());
        shares_.resize(waiting.size());
        for (std::size_t k = 0; k < waiting.size(); ++k) {
            demands_[k] =
                is_offered(direction, waiting[k])
                    ? static_cast<std::uint32_t>(std::min<std::uint64_t>(own(from, waiting[k]), cap))
                    : 0;
        }
        fair_.set_index(index_ + i);
        static_cast<void>(fair_.split(demands_, cap, shares_));
        for (std::size_t k = 0; k < waiting.size(); ++k) {
            if (shares_[k] > 0) {
                direction.offers.push_back({i, waiting[k], shares_[k]});
            }
        }
    }
}

void RotorLb::offer_one_of_each(Direction& direction, std::uint32_t port, const PacketCounts& own) {
    const Span<const std::uint32_t> waiting = own.destinations(host(direction.from, port));
    const std::size_t first = direction.offers.size();
    drew_ = true;
    while (direction.offers.size() - first < direction.send[port]) {
        const std::uint32_t destination = waiting[random_.below(static_cast<std::uint32_t>(waiting.size()))];
        if (group_of_[destination] == 0 && is_offered(direction, destination)) {
            group_of_[destination] = 1;
            direction.offers.push_back({port, destination, 1});
        }
    }
    for (std::size_t k = first; k < direction.offers.size(); ++k) {
        group_of_[direction.offers[k].destination] = 0;
    }
}

void RotorLb::group_offers(const Direction& direction) {
    groups_.clear();
    for (const Offer& offer : direction.offers) {
        std::uint32_t& group = group_of_[offer.destination];
        if (group == 0) {
            groups_.push_back({static_cast<std::uint32_t>(groups_.size()), 0});
            group = static_cast<std::uint32_t>(groups_.size());
        }
        ++groups_[group - 1].end;
    }
    // Sizes become starts, and placing the members moves the starts to the ends.
    std::uint32_t begin = 0;
    for (Group& group : groups_) {
        begin += std::exchange(group.end, begin);
    }
    order_.resize(direction.offers.size());
    left_.resize(direction.offers.size());
    for (std::size_t k = 0; k < direction.offers.size(); ++k) {
        const Offer& offer = direction.offers[k];
        const std::uint32_t place = groups_[group_of_[offer.destination] - 1].end++;
        order_[place] = static_cast<std::uint32_t>(k);
        left_[place] = offer.packets;
    }
    is_some_empty_ = false;
    for (const Offer& offer : direction.offers) {
        group_of_[offer.destination] = 0;
    }
    taken_.assign(groups_.size() * options_.hosts_per_rack, 0);
}

void RotorLb::drop_empty_offers() {
    std::uint32_t kept = 0;
    std::uint32_t begin = 0;
    std::size_t kept_groups = 0;
    for (const Group& group : groups_) {
        const std::uint32_t first = kept;
        for (std::uint32_t k = begin; k < group.end; ++k) {
            if (left_[k] > 0) {
                order_[kept] = order_[k];
                left_[kept++] = left_[k];
            }
        }
        begin = group.end;
        if (kept > first) {
            groups_[kept_groups++] = {group.number, kept};
        }
    }
    order_.resize(kept);
    left_.resize(kept);
    groups_.resize(kept_groups);
    is_some_empty_ = false;
}

void RotorLb::accept(Direction& direction, const PacketCounts& own, const PacketCounts& relayed) {
    const std::uint32_t h = options_.hosts_per_rack;
    if (direction.offers.empty()) {
        return;
    }
    group_offers(direction);
    direction.accepted.assign(direction.offers.size() * h, 0);
    const std::uint32_t first = first_receiver();
    for (int pass = 0; pass < kPasses && !order_.empty(); ++pass) {
        std::uint32_t given = 0;
        auto receivers = static_cast<std::uint32_t>(
            h - std::count(direction.receive.begin(), direction.receive.end(), std::uint32_t{0}));
        for (std::uint32_t k = 0; k < h; ++k) {
            const std::uint32_t port = (first + k) % h;
            if (direction.receive[port] > 0) {
                given += accept_at(direction, port, receivers--, own, relayed);
            }
        }
        if (given == 0) {
            return;
        }
    }
}

std::uint32_t RotorLb::first_receiver() {
    const std::uint32_t h = options_.hosts_per_rack;
    if (options_.remainders == Remainders::kAtRandom) {
        drew_ = true;
        return random_.below(h);
    }
    fair_.depend_on_index(1, h);
    return static_cast<std::uint32_t>(index_ % h);
}

std::uint32_t RotorLb::accept_at(Direction& direction, std::uint32_t port, std::uint32_t receivers,
                                 const PacketCounts& own, const PacketCounts& relayed) {
    const std::uint32_t h = options_.hosts_per_rack;
    const std::uint32_t at = host(direction.to, port);
    if (is_some_empty_) {
        drop_empty_offers();
    }
    demands_.resize(order_.size());
    shares_.resize(order_.size());
    group_shares_.resize(order_.size());
    std::uint64_t wanted = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
        demands_[k] = left_[k] <= receivers ? 1 : (left_[k] + receivers - 1) / receivers;
        wanted += demands_[k];
    }
    fair_.set_index(index_ + port);
    if (fair_.split(demands_, wanted, direction.receive[port], shares_) == 0) {
        return 0;
    }
    std::uint32_t given = 0;
    std::uint32_t begin = 0;
    for (const Group& group : groups_) {
        const Span<const std::uint32_t> wished = Span(shares_).subspan(begin, group.end - begin);
        const std::uint32_t wishes = sum(wished);
        if (wishes > 0) {
            const std::uint32_t destination = direction.offers[order_[begin]].destination;
            std::uint32_t& taken = taken_[group.number * h + port];
            const std::uint64_t held = own(at, destination) + relayed(at, destination) + taken;
            const std::uint32_t room =
                held < relay_limit_ ? relay_limit_ - static_cast<std::uint32_t>(held) : 0;
            const std::uint32_t accepted = fair_.split(wished, wishes, room, group_shares_);
            for (std::uint32_t k = begin; k < group.end; ++k) {
                left_[k] -= group_shares_[k - begin];
                is_some_empty_ |= left_[k] == 0;
                direction.accepted[order_[k] * h + port] += group_shares_[k - begin];
            }
            taken += accepted;
            given += accepted;
        }
        begin = group.end;
    }
    direction.receive[port] -= given;
    return given;
}

void RotorLb::commit(const Direction& direction, PacketCounts& own, std::vector<Grant>& grants) const {
    const std::uint32_t h = options_.hosts_per_rack;
    auto offer = direction.offers.begin();
    for (std::uint32_t i = 0; i < h; ++i) {
        const std::uint32_t from = host(direction.from, i);
        const auto grant_row = [&](Span<const std::uint32_t> packets, Rack rack, Grant::Kind kind) {
            for (std::uint32_t j = 0; j < h; ++j) {
                if (packets[i * h + j] > 0) {
                    grants.push_back({from, host(rack, j), host(rack, j), packets[i * h + j], kind});
                }
            }
        };
        grant_row(direction.second_hop, direction.to, Grant::Kind::kSecondHop);
        grant_row(direction.direct, direction.to, Grant::Kind::kDirect);
        if (options_.intra_rack_direct) {
            grant_row(direction.intra_rack, direction.from, Grant::Kind::kIntraRack);
        }
        for (; offer != direction.offers.end() && offer->from == i; ++offer) {
            const auto number = static_cast<std::size_t>(offer - direction.offers.begin());
            const auto accepted = Span(direction.accepted).subspan(number * h, h);
            std::uint32_t taken = 0;
            for (std::uint32_t j = 0; j < h; ++j) {
                const std::uint32_t packets = accepted[j];
                if (packets > 0) {
                    grants.push_back(
                        {from, host(direction.to, j), offer->destination, packets, Grant::Kind::kFirstHop});
                    taken += packets;
                }
            }
            own.take(from, offer->destination, taken);
        }
    }
}

}  // namespace astrolabe::network::rotor
