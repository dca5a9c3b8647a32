#include "split_backend.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

SplitBackend::SplitBackend(std::shared_ptr<const Fabric> whole, std::shared_ptr<const SplitNetwork> network,
                           std::unique_ptr<NetworkBackend> outside)
    : whole_(std::move(whole)),
      network_(std::move(network)),
      outside_(std::move(outside)),
      inside_(network_->inside.fabric),
      host_of_nic_(network_->outside.fabric->host_count()),
      part_of_link_(whole_->link_count(), {nullptr, LinkId()}) {
    for (std::size_t host = whole_->host_count(); host-- > 0;) {
        for (const NicId nic : network_->layout->nics_of(HostId(host))) {
            host_of_nic_[network_->layout->nic(nic).host.index()] = HostId(host);
        }
    }
    for (const SplitNetwork::Part* part : {&network_->inside, &network_->outside}) {
        for (LinkId link; link.index() < part->links.size(); ++link) {
            if (const std::optional<LinkId> of_whole = part->links[link]) {
                part_of_link_[*of_whole] = {part, link};
            }
        }
    }
}

std::uint32_t SplitBackend::keep(const Message& message) {
    return items_.add({message, Time(0), 0});
}

TimerPurpose SplitBackend::purpose(std::uint32_t item) const {
    const Message& message = items_[item].message;
    return message.on_delivered->purpose(message.token);
}

// Messages

void SplitBackend::send(const Message& message) {
    send_batch(std::span(&message, 1));
}

void SplitBackend::send_batch(std::span<const Message> messages) {
    batch_.clear();
    for (const Message& message : messages) {
        if (network_->is_inside(message.source, message.destination)) {
            send_inside(message);
            continue;
        }
        ++messages_;
        const std::uint32_t item = keep(message);
        if (take_leg(item)) {
            batch_.push_back(outside_message(item));
        }
    }
    if (!batch_.empty()) {
        outside_->send_batch(batch_);
    }
}

bool SplitBackend::take_leg(std::uint32_t item) {
    Item& of = items_[item];
    const auto [leaves, arrives] = network_->layout->nics_between(of.message.source, of.message.destination);
    of.from_nic = network_->leg(of.message.destination, arrives).from_nic;
    const Time to_nic = network_->leg(of.message.source, leaves).to_nic;
    if (to_nic > Time(0)) {
        outside_->schedule(to_nic, first_legs_, item);
    }
    return to_nic == Time(0);
}

Message SplitBackend::outside_message(std::uint32_t item) {
    Message message = items_[item].message;
    const auto [leaves, arrives] = network_->layout->nics_between(message.source, message.destination);
    message.source = network_->layout->nic(leaves).host;
    message.destination = network_->layout->nic(arrives).host;
    message.on_delivered = &outside_deliveries_;
    message.token = item;
    return message;
}

void SplitBackend::send_outside(std::uint32_t item) {
    outside_->send(outside_message(item));
}

void SplitBackend::send_inside(const Message& message) {
    ++messages_;
    Message inside = message;
    inside.on_delivered = &inside_deliveries_;
    inside.token = keep(message);
    if (is_advancing_) {
        inside_.send(inside);
        return;
    }
    inside_.wait(now());
    inside_.send(inside);
    plan(now());
}

void SplitBackend::tick() {
    if (now() != planned_) {
        return;
    }
    planned_ = Time::max();
    is_advancing_ = true;
    const Time next = inside_.advance(now());
    is_advancing_ = false;
    plan(next);
}

void SplitBackend::plan(Time next) {
    if (next < planned_) {
        planned_ = next;
        outside_->schedule(next - now(), ticks_, 0);
    }
}

void SplitBackend::deliver_inside(std::uint32_t item) {
    --messages_;
    pass_on(item, Notifying::kInside);
}

void SplitBackend::deliver_outside(std::uint32_t item) {
    Item& of = items_[item];
    if (of.from_nic == Time(0)) {
        --messages_;
        pass_on(item, Notifying::kOutside);
        return;
    }
    if (outside_delays_ != nullptr) {
        if (free_held_.empty()) {
            free_held_.push_back(static_cast<std::uint32_t>(held_.size()));
            held_.emplace_back();
        }
        const std::uint32_t number = free_held_.back();
        free_held_.pop_back();
        Held& held = held_[number];
        held.times.assign(outside_delays_->times_of_whole, Time(0));
        held.after_last_bit = add_part(*outside_, *outside_delays_, held.times);
        of.held = number;
    }
    outside_->schedule(of.from_nic, last_legs_, item);
}

void SplitBackend::deliver_after_leg(std::uint32_t item) {
    --messages_;
    pass_on(item, Notifying::kAfterLeg);
    if (outside_delays_ != nullptr) {
        free_held_.push_back(items_[item].held);
    }
}

void SplitBackend::pass_on(std::uint32_t item, Notifying what) {
    const Message& message = items_[item].message;
    ++delivered_;
    bytes_delivered_ += message.size;
    notifying_ = what;
    notified_ = item;
    message.on_delivered->notify(message.token);
    notifying_ = Notifying::kNothing;
    items_.remove(item);
    stop_at_end();
}

// Timers

void SplitBackend::schedule(Time delay, NotificationHandler& handler, std::uint64_t token) {
    ++timers_;
    Message timer;
    timer.on_delivered = &handler;
    timer.token = token;
    outside_->schedule(delay, expirations_, keep(timer));
}

void SplitBackend::expire(std::uint32_t item) {
    --timers_;
    const Message timer = items_[item].message;
    items_.remove(item);
    timer.on_delivered->notify(timer.token);
    stop_at_end();
}

void SplitBackend::run() {
    if (messages_ + timers_ > 0) {
        outside_->run();
    }
    inside_.wait(now());
    inside_.settle_service();
}

void SplitBackend::stop_at_end() {
    if (messages_ + timers_ == 0) {
        outside_->stop();  // ticks that were overtaken may be left
    }
}

// Reports

std::vector<OutstandingMessage> SplitBackend::describe_outstanding(std::size_t limit) const {
    std::vector<OutstandingMessage> all = outside_->describe_outstanding(limit);
    for (OutstandingMessage& message : all) {
        message.source = host_of(message.source);
        message.destination = host_of(message.destination);
    }
    const std::vector<OutstandingMessage> inside = inside_.describe_outstanding(limit - all.size());
    all.insert(all.end(), inside.begin(), inside.end());
    return all;
}

PresentLimits SplitBackend::present_limits(std::size_t most) const {
    PresentLimits all;
    const auto add = [&](const PresentLimits& limits, const SplitNetwork::Part& part) {
        for (LimitingLink link : limits.links) {
            const std::optional<LinkId> of_whole = part.links[link.link];
            if (of_whole && all.links.size() < most) {
                link.link = *of_whole;
                all.links.push_back(link);
            }
        }
        all.all_links += limits.all_links;
        all.flows += limits.flows;
        all.circuit_waits += limits.circuit_waits;
    };
    add(outside_->present_limits(most), network_->outside);
    add(inside_.present_limits(most), network_->inside);
    return all;
}

NetworkStatistics SplitBackend::statistics() const {
    NetworkStatistics all = outside_->statistics();
    const NetworkStatistics inside = inside_.statistics();
    all.messages = delivered_;
    all.bytes_delivered = bytes_delivered_;
    all.events = events_processed();
    IndexedVector<LinkId, LinkStatistics> links(whole_->link_count());
    for (LinkId link; link.index() < links.size(); ++link) {
        const auto& [part, of_part] = part_of_link_[link];
        if (part != nullptr) {
            links[link] = (part == &network_->inside ? inside : all).links[of_part];
        }
    }
    all.links = std::move(links);
    return all;
}

std::optional<Bytes> SplitBackend::carried(LinkId link) const {
    const auto& [part, of_part] = part_of_link_[link];
    if (part == nullptr) {
        return Bytes(0);
    }
    return part == &network_->inside ? inside_.carried(of_part) : outside_->carried(of_part);
}

bool SplitBackend::observe(PacketObserver& observer) {
    outside_packets_ = std::make_unique<OutsidePackets>(*this, observer);
    return outside_->observe(*outside_packets_);
}

void SplitBackend::OutsidePackets::packet(const PacketEvent& event) {
    const std::optional<LinkId> link = split_.network_->outside.links[event.link];
    ASTROLABE_ASSERT(link, "every link between servers is one of the whole");
    PacketEvent of_whole = event;
    of_whole.link = *link;
    of_whole.source = split_.host_of(event.source);
    of_whole.destination = split_.host_of(event.destination);
    observer_.packet(of_whole);
}

LinkReports SplitBackend::observe_links(LinkObserver& observer) {
    inside_links_ = std::make_unique<PartObserver>(*this, network_->inside, observer);
    outside_links_ = std::make_unique<PartObserver>(*this, network_->outside, observer);
    static_cast<void>(inside_.observe_links(*inside_links_));
    return outside_->observe_links(*outside_links_);
}

void SplitBackend::PartObserver::links_are_alike(std::span<const std::uint32_t> /*class_of*/) {
    ASTROLABE_ASSERT(false, "every message is carried by itself");
}

void SplitBackend::PartObserver::carried(LinkId link, Time from, Time to, const PieceBytes& bytes) {
    if (const std::optional<LinkId> of_whole = part_.links[link]) {
        observer_.carried(*of_whole, from, to, bytes);
    }
}

void SplitBackend::PartObserver::delivered(HostId destination, Time from, Time to, double payload) {
    const bool is_nic = &part_ == &split_.network_->outside;
    observer_.delivered(is_nic ? split_.host_of(destination) : destination, from, to, payload);
}

SplitBackend::PartDelays::PartDelays(const SplitNetwork::Part& part, const Resources& whole)
    : resources(*part.fabric),
      times_of_whole(whole.size()),
      times(resources.size()) {
    // Those that are no links have the same numbers everywhere.
    for (ResourceId resource; resource.index() < resources.size(); ++resource) {
        of_whole.push_back(resource.index() <= Resources::kTransport.index() ? resource
                                                                             : Resources::kNetwork);
    }
    for (LinkId link; link.index() < part.links.size(); ++link) {
        if (part.links[link]) {
            of_whole[resources.of(link)] = whole.of(*part.links[link]);
        }
    }
}

bool SplitBackend::account_delays(const Resources& resources) {
    inside_delays_ = std::make_unique<PartDelays>(network_->inside, resources);
    outside_delays_ = std::make_unique<PartDelays>(network_->outside, resources);
    const bool both = inside_.account_delays(inside_delays_->resources) &&
                      outside_->account_delays(outside_delays_->resources);
    if (!both) {
        outside_delays_ = nullptr;
    }
    return both;
}

Time SplitBackend::add_part(const NetworkBackend& backend, const PartDelays& part,
                            std::span<Time> times) const {
    std::ranges::fill(part.times, Time(0));
    const Time after_last_bit = backend.add_delays(part.times);
    for (ResourceId resource; resource.index() < part.times.size(); ++resource) {
        times[part.of_whole[resource].index()] += part.times[resource.index()];
    }
    return after_last_bit;
}

Time SplitBackend::add_delays(std::span<Time> times) const {
    if (notifying_ == Notifying::kInside) {
        return add_part(inside_, *inside_delays_, times);
    }
    const Item& item = items_[notified_];
    const NicId leaves = network_->layout->nics_between(item.message.source, item.message.destination).first;
    times[Resources::kLatency.index()] += network_->leg(item.message.source, leaves).to_nic;
    if (notifying_ == Notifying::kOutside) {
        return add_part(*outside_, *outside_delays_, times);
    }
    const Held& held = held_[item.held];
    for (std::size_t resource = 0; resource < times.size(); ++resource) {
        times[resource] += held.times[resource];
    }
    times[Resources::kLatency.index()] += item.from_nic;
    return held.after_last_bit + item.from_nic;
}

}  // namespace astrolabe::network
