// What the grants of an installation take from which queues, and when it arrives.
#include "slot_engine.hpp"

#include <algorithm>

namespace astrolabe::network::rotor {

namespace {

/// What is kept of the pairs of so many stays in the cache.
constexpr std::size_t kHostsInCache = 64;

}  // namespace

/// Looks up what the grants will take, step by step for all of them, so that the processor waits for memory
/// once a step and not once a grant.
void SlotEngine::plan(std::span<const Grant> grants) {
    plans_.resize(grants.size());
    const auto for_all = [&](auto&& relayed, auto&& own) {
        for (std::size_t i = 0; i < grants.size(); ++i) {
            if (grants[i].kind == Grant::Kind::kSecondHop) {
                relayed(grants[i], plans_[i].queue);
            } else {
                own(grants[i], plans_[i].queue);
            }
        }
    };
    for_all(
        [&](const Grant& grant, std::uint32_t& queue) {
            queue = relays_.queue(HostId(grant.from), HostId(grant.to));
            relays_.prefetch(queue);
        },
        [&](const Grant& grant, std::uint32_t& queue) {
            queue = messages_.pair(HostId(grant.from), HostId(grant.destination));
            messages_.prefetch(queue);
        });
    if (fabric_->host_count() > kHostsInCache) {
        for_all([&](const Grant&, std::uint32_t queue) { relays_.prefetch_line(queue); },
                [&](const Grant&, std::uint32_t queue) { messages_.prefetch_first(queue); });
        for_all(
            [&](const Grant&, std::uint32_t queue) {
                relays_.for_first_line(queue,
                                       [&](const Segment& segment) { messages_.prefetch_flight(segment); });
            },
            [&](const Grant& grant, std::uint32_t queue) {
                messages_.prefetch_second(queue, grant.packets);
            });
        for_all(
            [&](const Grant&, std::uint32_t queue) {
                relays_.for_first_line(queue,
                                       [&](const Segment& segment) { messages_.prefetch_pair(segment); });
            },
            [](const Grant&, std::uint32_t) {});
    }
    for (std::size_t first = 0; first < grants.size();) {
        std::size_t last = first + 1;
        while (last < grants.size() && grants[last].from == grants[first].from) {
            ++last;
        }
        rank(grants.subspan(first, last - first), std::span(plans_).subspan(first, last - first));
        first = last;
    }
}

void SlotEngine::rank(std::span<const Grant> of_one_sender, std::span<Plan> plans) {
    by_size_.clear();
    for (const Grant& grant : of_one_sender) {
        by_size_.push_back((std::uint64_t{~grant.packets} << 32) | by_size_.size());
    }
    std::sort(by_size_.begin(), by_size_.end());
    for (std::size_t rank = 0; rank < by_size_.size(); ++rank) {
        const auto number = static_cast<std::uint32_t>(by_size_[rank]);
        plans[number].rank = static_cast<std::uint32_t>(rank);
        plans[number].leaves = of_one_sender[number].packets;
    }
}

/// What does not leave because the circuit of `rack` fails before.
void SlotEngine::limit_to_circuit(const Installation& installation, Rack rack) {
    const Time failure = failures_.failure(installation.rotor, installation.index, rack, installation.start);
    if (failure == Time::max()) {
        return;
    }
    for (std::size_t i = 0; i < grants_.size(); ++i) {
        plans_[i].leaves = failures_.packets_through(grants_[i], plans_[i].rank, installation.start, failure);
    }
}

void SlotEngine::transmit(const Installation& installation, std::span<const Grant> grants) {
    for (std::size_t number = 0; number < grants.size();) {
        const Grant& grant = grants[number];
        if (grant.kind != Grant::Kind::kFirstHop) {
            transmit_to_destination(installation, grant, plans_[number++]);
            continue;
        }
        std::size_t end = number + 1;
        while (end < grants.size() && grants[end].from == grant.from &&
               grants[end].kind == Grant::Kind::kFirstHop && grants[end].destination == grant.destination) {
            ++end;
        }
        transmit_first_hops(installation, grants.subspan(number, end - number),
                            std::span(plans_).subspan(number, end - number));
        number = end;
    }
}

void SlotEngine::transmit_to_destination(const Installation& installation, const Grant& grant,
                                         const Plan& plan) {
    counters_.count(grant.kind, plan.leaves);
    const bool intra_rack = grant.kind == Grant::Kind::kIntraRack;
    const Time first = installation.start + timing_.transmission_slots(plan.rank) +
                       (intra_rack ? timing_.to_intra_rack() : timing_.to_other_rack());
    const auto arrival = [&](std::uint32_t gone) {
        return first + timing_.transmission_slots(slot_table_.transmission_slot_of(gone - 1, grant.packets));
    };
    Bytes payload;
    if (grant.kind == Grant::Kind::kSecondHop) {
        for (std::uint32_t gone = 0; gone < plan.leaves;) {
            const Segment segment = relays_.take(plan.queue, plan.leaves - gone);
            gone += segment.packets();
            payload += messages_.payload_of(segment);
            if (segment.has_flight()) {
                messages_.arrives(segment, arrival(gone));
            }
        }
    } else {
        payload = messages_.send(plan.queue, plan.leaves, arrival);
    }
    const Time start = installation.start;
    const Time there = start + (intra_rack ? timing_.to_intra_rack() : timing_.to_other_rack());
    if (intra_rack) {
        links_.carry_in_rack(grant.from, plan.leaves, payload, start);
    } else {
        links_.carry_to_other_rack(installation.rotor, installation.index, grant.from, plan.leaves, payload,
                                   start);
    }
    links_.carry_down(grant.to, plan.leaves, payload, there);
    links_.deliver(grant.to, payload, there);
}

void SlotEngine::transmit_first_hops(const Installation& installation, std::span<const Grant> grants,
                                     std::span<const Plan> plans) {
    const std::uint32_t pair = plans.front().queue;
    std::uint32_t leave = 0;
    for (const Plan& plan : plans) {
        leave += plan.leaves;
    }
    if (leave == 0) {
        return;
    }
    counters_.count(Grant::Kind::kFirstHop, leave);
    if (messages_.has_more_than(pair, leave)) {
        relay_part(installation, messages_.detour_part(pair, leave), grants, plans);
    } else {
        relay_messages(installation, pair, grants, plans);
    }
}

void SlotEngine::relay_part(const Installation& installation, std::uint32_t flight,
                            std::span<const Grant> grants, std::span<const Plan> plans) {
    const auto full = [&](std::uint64_t packets) {
        return network().bulk.payload * static_cast<std::int64_t>(packets);
    };
    std::uint64_t packets = 0;
    for (std::size_t number = 0; number < grants.size(); ++number) {
        const Grant& grant = grants[number];
        const std::uint32_t leaves = plans[number].leaves;
        if (leaves == 0) {
            continue;
        }
        relays_.travel(relays_.open(HostId(grant.to), HostId(grant.destination)), flight, leaves,
                       relay_counts_.of(grant.packets, plans[number].rank), installation.superslice);
        links_.carry_down(grant.to, leaves, full(leaves), installation.start + timing_.to_other_rack());
        packets += leaves;
    }
    links_.carry_to_other_rack(installation.rotor, installation.index, grants.front().from, packets,
                               full(packets), installation.start);
}

void SlotEngine::relay_messages(const Installation& installation, std::uint32_t pair,
                                std::span<const Grant> grants, std::span<const Plan> plans) {
    detoured_.assign(grants.size(), {});
    std::size_t open = grants.size();
    for (std::size_t later = 0; open > 0; ++later) {
        open = 0;
        for (std::size_t number = 0; number < grants.size(); ++number) {
            const Grant& grant = grants[number];
            auto& [gone, payload] = detoured_[number];
            const std::uint32_t there =
                std::min(plans[number].leaves, relay_counts_.of(grant.packets, plans[number].rank)[later]);
            while (gone < there) {
                const Segment segment = messages_.detour(pair, there - gone);
                gone += segment.packets();
                payload += messages_.payload_of(segment);
                relays_.travel(relays_.open(HostId(grant.to), HostId(grant.destination)), segment,
                               installation.superslice + later);
            }
            open += gone < plans[number].leaves ? 1 : 0;
        }
    }
    for (std::size_t number = 0; number < grants.size(); ++number) {
        const auto& [gone, payload] = detoured_[number];
        links_.carry_to_other_rack(installation.rotor, installation.index, grants[number].from, gone, payload,
                                   installation.start);
        links_.carry_down(grants[number].to, gone, payload, installation.start + timing_.to_other_rack());
    }
}

}  // namespace astrolabe::network::rotor
