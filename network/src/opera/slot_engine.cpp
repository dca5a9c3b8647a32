#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/opera/slot_engine.hpp>

namespace astrolabe::network::opera {

namespace {

/// Superslices from the one in which a packet is granted to the one it has arrived for.
std::uint64_t horizon(const RotorNetwork& network) {
    return static_cast<std::uint64_t>(SlotTiming(network).longest() /
                                      network.schedule.timing().superslice()) +
           1;
}

}  // namespace

std::optional<std::string> slot_engine_refusal(const Fabric& fabric) {
    if (fabric.rotors() == nullptr) {
        return "slots are those of rotor switches, and this network has none";
    }
    const RotorNetwork& network = *fabric.rotors();
    if (network.low_latency.cutoff > Bytes(0) && network.paths == nullptr) {
        return "its messages below low_latency.cutoff have no paths to take";
    }
    return bulk_refusal(network);
}

SlotEngine::SlotEngine(std::shared_ptr<const Fabric> fabric)
    : fabric_(std::move(fabric)),
      timing_(network()),
      lb_(rotor_lb_options(network()), network().seed),
      own_(network().schedule.racks(), network().hosts_per_rack),
      relayed_(network().schedule.racks(), network().hosts_per_rack),
      messages_(fabric_->host_count(), network().bulk.payload),
      relays_(fabric_->host_count(), horizon(network())),
      links_(*fabric_) {
    const std::optional<std::string> refusal = slot_engine_refusal(*fabric_);
    ASTROLABE_ASSERT(!refusal, refusal.value_or(""));
    if (network().low_latency.cutoff > Bytes(0)) {
        low_latency_.emplace(network());
    }
    for (std::uint64_t later = 0; later <= horizon(network()); ++later) {
        last_turns_.push_back(timing_.last_turn_for(network().schedule.timing().superslice() * later));
    }
}

void SlotEngine::send(const Message& message) {
    ASTROLABE_ASSERT(message.size >= Bytes(0), "a message has a size");
    ASTROLABE_ASSERT(message.on_delivered != nullptr, "someone is told of the delivery");
    const std::uint32_t source = message.source.index();
    const std::uint32_t destination = message.destination.index();
    ASTROLABE_ASSERT(source < fabric_->host_count() && destination < fabric_->host_count(),
                     "a message is between hosts of the fabric");
    ASTROLABE_ASSERT(source != destination, "source and destination of a message differ");
    const std::uint32_t h = network().hosts_per_rack;
    const Time between_racks = source / h == destination / h ? Time(0) : network().propagation;
    if (send_at_once(message)) {
        return;
    }
    messages_.add(message, now_ + 2 * network().host_latency + between_racks);
    own_.add(source, destination, messages_.packets_of(message.size));
    last_change_ = superslice_from(now_);
    launch_arrivals();
}

bool SlotEngine::send_at_once(const Message& message) {
    if (!low_latency_ || message.size >= network().low_latency.cutoff) {
        return false;
    }
    if (!low_latency_->joins(message.source, message.destination, now_)) {
        return false;
    }
    ++counters_.low_latency;
    low_latency_->send(messages_.add_on_its_way(message), message.source, message.destination, message.size,
                       now_);
    return true;
}

/// What low-latency messages took is missing to the hosts of a rack in the slot that begins.
void SlotEngine::reserve(Rack rack, Rotor rotor) {
    const Time uplink = low_latency_->taken_of_uplink(rack, rotor, now_);
    const std::uint32_t h = network().hosts_per_rack;
    for (std::uint32_t host = rack * h; host < (rack + 1) * h; ++host) {
        const SlotLowLatency::Taken taken = low_latency_->taken(host, uplink, now_);
        lb_.reserve(host, taken.send, taken.receive);
    }
}

void SlotEngine::schedule(Time delay, NotificationHandler& handler, std::uint64_t token) {
    ASTROLABE_ASSERT(delay >= Time(0) && delay <= Time::max() - now_, "a timer is in the future");
    timers_.push(now_, delay, {&handler, token});
}

void SlotEngine::launch_arrivals() {
    for (const SlotMessages::Arrival& arrival : messages_.arrivals()) {
        deliveries_.push({arrival.time, launched_++, arrival.message});
    }
    messages_.arrivals().clear();
}

/// The first superslice that begins at or after `time`.
std::uint64_t SlotEngine::superslice_from(Time time) const {
    const Time length = network().schedule.timing().superslice();
    return static_cast<std::uint64_t>(time / length) + (time % length > Time(0) ? 1 : 0);
}

/// Has a cycle before `superslice` passed without a change? Then the next one is the same.
bool SlotEngine::is_stuck(std::uint64_t superslice) const {
    return !relays_.any_under_way() && superslice >= last_change_ + network().schedule.superslices();
}

Time SlotEngine::next_installation() const {
    if (!anything_waits()) {
        return Time::max();
    }
    const std::uint64_t superslice = std::max(next_superslice_, superslice_from(now_));
    if (is_stuck(superslice)) {
        return Time::max();
    }
    const Time length = network().schedule.timing().superslice();
    const bool ends = superslice >= static_cast<std::uint64_t>((Time::max() - timing_.longest()) / length);
    return ends ? Time::max() : length * superslice;
}

void SlotEngine::process_instant() {
    for (;;) {
        if (!deliveries_.empty() && deliveries_.top().time == now_) {
            const std::uint32_t number = deliveries_.top().message;
            deliveries_.pop();
            const SlotMessages::Item message = messages_.remove(number);
            ++events_;
            ++delivered_;
            bytes_delivered_ += message.size;
            message.handler->notify(message.token);
        } else if (!timers_.empty() && timers_.next_time() == now_) {
            const Timer timer = timers_.pop();
            ++events_;
            timer.handler->notify(timer.token);
        } else if (low_latency_ && low_latency_->next_time() == now_) {
            ++events_;
            low_latency_->process(links_, messages_.arrivals());
            launch_arrivals();
        } else {
            return;
        }
    }
}

void SlotEngine::run() {
    stop_requested_ = false;
    for (;;) {
        process_instant();
        if (stop_requested_) {
            return;
        }
        // What is sent in this instant is sent before the installation.
        const Time installation = next_installation();
        if (installation == now_) {
            install();
            continue;
        }
        Time next = std::min(installation, timers_.next_time());
        if (!deliveries_.empty()) {
            next = std::min(next, deliveries_.top().time);
        }
        if (low_latency_) {
            next = std::min(next, low_latency_->next_time());
        }
        if (next == Time::max()) {
            return;
        }
        now_ = next;
    }
}

void SlotEngine::install() {
    const RotorSchedule& schedule = network().schedule;
    const std::uint64_t superslice = superslice_from(now_);
    next_superslice_ = superslice + 1;
    ++events_;
    ++counters_.installations;
    if (relays_.land(superslice, relayed_)) {
        last_change_ = superslice;
    }
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        if (!schedule.installs(rotor, superslice)) {
            continue;
        }
        const Installation installation{rotor, schedule.matching_index(rotor, superslice), superslice, now_};
        const Matching& matching = schedule.matching(rotor, installation.index);
        for (Rack rack = 0; rack < schedule.racks(); ++rack) {
            if (matching[rack] < rack) {
                continue;
            }
            const Rack peer = matching[rack];
            if (own_.of_rack(rack) + own_.of_rack(peer) + relayed_.of_rack(rack) + relayed_.of_rack(peer) ==
                0) {
                continue;
            }
            if (low_latency_) {
                reserve(rack, rotor);
                if (peer != rack) {
                    reserve(peer, rotor);
                }
            }
            grants_.clear();
            lb_.share(rack, peer, own_, relayed_, grants_);
            count(grants_);
            for (auto first = grants_.begin(); first != grants_.end();) {
                const auto last = std::find_if(
                    first, grants_.end(), [first](const Grant& grant) { return grant.from != first->from; });
                serve(installation, {first, last});
                first = last;
                last_change_ = next_superslice_;
            }
        }
    }
    launch_arrivals();
}

void SlotEngine::count(std::span<const Grant> grants) {
    for (const Grant& grant : grants) {
        switch (grant.kind) {
            case Grant::Kind::kSecondHop:
                counters_.second_hops += grant.packets;
                break;
            case Grant::Kind::kDirect:
                counters_.direct += grant.packets;
                break;
            case Grant::Kind::kOwnRack:
                counters_.own_rack += grant.packets;
                break;
            case Grant::Kind::kFirstHop:
                counters_.first_hops += grant.packets;
                break;
        }
    }
}

void SlotEngine::serve(const Installation& installation, std::span<const Grant> of_one_sender) {
    by_size_.clear();
    for (const Grant& grant : of_one_sender) {
        by_size_.push_back((std::uint64_t{~grant.packets} << 32) | by_size_.size());
    }
    std::sort(by_size_.begin(), by_size_.end());
    ranks_.resize(of_one_sender.size());
    for (std::size_t rank = 0; rank < by_size_.size(); ++rank) {
        ranks_[static_cast<std::uint32_t>(by_size_[rank])] = static_cast<std::uint32_t>(rank);
    }
    for (std::size_t number = 0; number < of_one_sender.size();) {
        const Grant& grant = of_one_sender[number];
        if (grant.kind != Grant::Kind::kFirstHop) {
            serve_to_destination(installation, grant, ranks_[number++]);
            continue;
        }
        std::size_t end = number + 1;
        while (end < of_one_sender.size() && of_one_sender[end].destination == grant.destination) {
            ++end;
        }
        serve_first_hops(installation, of_one_sender.subspan(number, end - number),
                         std::span(ranks_).subspan(number, end - number));
        number = end;
    }
}

void SlotEngine::serve_to_destination(const Installation& installation, const Grant& grant,
                                      std::uint32_t rank) {
    const HostId from(grant.from);
    const HostId to(grant.to);
    const bool own_rack = grant.kind == Grant::Kind::kOwnRack;
    const Time first = installation.begin + timing_.turns(rank) +
                       (own_rack ? timing_.to_own_rack() : timing_.to_other_rack());
    const auto arrival = [&](std::uint32_t gone) {
        return first + timing_.turns(timing_.turn_of(gone - 1, grant.packets));
    };
    Bytes payload;
    if (grant.kind == Grant::Kind::kSecondHop) {
        for (std::uint32_t gone = 0; gone < grant.packets;) {
            const Segment segment = relays_.take(from, to, grant.packets - gone, network().bulk.payload);
            gone += segment.packets;
            payload += segment.payload;
            messages_.arrives(segment, arrival(gone));
        }
    } else {
        payload = messages_.send(from, to, grant.packets, arrival);
    }
    if (own_rack) {
        links_.carry_in_rack(grant.from, grant.to, grant.packets, payload);
    } else {
        links_.carry_to_other_rack(installation.rotor, installation.index, grant.from, grant.to,
                                   grant.packets, payload);
    }
}

void SlotEngine::serve_first_hops(const Installation& installation, std::span<const Grant> grants,
                                  std::span<const std::uint32_t> ranks) {
    const HostId from(grants.front().from);
    const HostId destination(grants.front().destination);
    detoured_.assign(grants.size(), {});
    std::size_t open = grants.size();
    for (std::size_t later = 0; open > 0; ++later) {
        open = 0;
        for (std::size_t number = 0; number < grants.size(); ++number) {
            const Grant& grant = grants[number];
            auto& [gone, payload] = detoured_[number];
            const std::uint32_t there = timing_.packets_by(last_turns_[later] - ranks[number], grant.packets);
            while (gone < there) {
                const Segment segment = messages_.detour(from, destination, there - gone);
                gone += segment.packets;
                payload += segment.payload;
                relays_.travel(HostId(grant.to), destination, segment, installation.superslice + later);
            }
            open += gone < grant.packets ? 1 : 0;
        }
    }
    for (std::size_t number = 0; number < grants.size(); ++number) {
        links_.carry_to_other_rack(installation.rotor, installation.index, grants[number].from,
                                   grants[number].to, grants[number].packets, detoured_[number].payload);
    }
}

std::string SlotEngine::explain_stall() const {
    if (low_latency_ && low_latency_->beyond_time() > 0) {
        return std::string(kBeyondTime);
    }
    if (!anything_waits() || next_installation() != Time::max()) {
        return {};
    }
    if (!is_stuck(std::max(next_superslice_, superslice_from(now_)))) {
        return std::string(kBeyondTime);
    }
    return fmt::format("{} packets wait for circuits, and in a whole cycle none came that could take one",
                       own_.total() + relayed_.total());
}

NetworkStatistics SlotEngine::statistics() const {
    NetworkStatistics statistics;
    statistics.messages = delivered_;
    statistics.bytes_delivered = bytes_delivered_;
    statistics.events = events_;
    links_.report(statistics);
    return statistics;
}

}  // namespace astrolabe::network::opera
