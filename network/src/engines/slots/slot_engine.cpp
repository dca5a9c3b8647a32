#include "slot_engine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/undeliverable.hpp>

namespace astrolabe::network::rotor {

namespace {

/// Superslices from the one in which a packet is granted to the one it has arrived for.
std::uint64_t horizon(const RotorNetwork& network) {
    return static_cast<std::uint64_t>(SlotTiming(network).longest() /
                                      network.schedule.timing().superslice()) +
           1;
}

}  // namespace

std::optional<std::string> slot_engine_unsupported(const Fabric& fabric) {
    if (rotors_of(fabric) == nullptr) {
        return "slots are those of rotor switches, and this network has none";
    }
    const RotorNetwork& network = *rotors_of(fabric);
    if (network.has_low_latency() && network.host_rate) {
        return "slots know one rate of low-latency messages on all their way: leave out uplink_rate, or "
               "low_latency, or take a packet engine";
    }
    return service_unsupported(network);
}

SlotEngine::SlotEngine(std::shared_ptr<const Fabric> fabric, Repetitions repetitions)
    : fabric_(std::move(fabric)),
      network_(rotors_of(*fabric_)),
      timing_(network()),
      slot_table_(timing_),
      relay_counts_(timing_, network().schedule.timing().superslice(), horizon(network())),
      lb_(rotor_lb_options(network()), network().seed),
      own_(network().schedule.racks(), network().hosts_per_rack),
      relayed_(network().schedule.racks(), network().hosts_per_rack),
      messages_(fabric_->host_count(), network().bulk.payload, network().schedule.timing().superslice(),
                horizon(network())),
      relays_(fabric_->host_count(), horizon(network())),
      links_(*fabric_),
      failures_(network(), timing_) {
    const std::optional<std::string> reason = slot_engine_unsupported(*fabric_);
    ASTROLABE_ASSERT(!reason, reason.value_or(""));
    if (network().has_low_latency()) {
        low_latency_.emplace(network());
    } else if (repetitions == Repetitions::kFastForwarded && network().failing.empty() &&
               network().bulk.remainders == Remainders::kRoundRobin) {
        repetition_.emplace(network().schedule, static_cast<std::uint32_t>(fabric_->host_count()),
                            network().hosts_per_rack, timing_.packets_per_slot());
    }
}

LinkReports SlotEngine::observe_links(LinkObserver& observer) {
    repetition_.reset();
    links_.report_to(observer);
    return low_latency_ ? LinkReports::kOverlapping : LinkReports::kAll;
}

void SlotEngine::send(const Message& message) {
    ASTROLABE_ASSERT(message.size >= Bytes(0), "a message has a size");
    ASTROLABE_ASSERT(message.on_delivered != nullptr, "someone is notified of the delivery");
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
}

void SlotEngine::send_batch(std::span<const Message> messages) {
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (i + kAhead < messages.size()) {
            messages_.prefetch_last(messages[i + kAhead].source, messages[i + kAhead].destination);
        }
        send(messages[i]);
    }
}

bool SlotEngine::send_at_once(const Message& message) {
    if (!network().is_low_latency(message.size, message.traffic_class)) {
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

/// What low-latency messages took is missing to the hosts of a rack in the slot that starts.
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

/// The first superslice that starts at or after `time`.
std::uint64_t SlotEngine::superslice_from(Time time) const {
    const Time length = network().schedule.timing().superslice();
    return static_cast<std::uint64_t>(time / length) + (time % length > Time(0) ? 1 : 0);
}

/// Has a cycle before `superslice` passed without a change? Then the next one is the same.
bool SlotEngine::is_stuck(std::uint64_t superslice) const {
    return !relays_.any_in_flight() && !failures_.holds_any() &&
           superslice >= last_change_ + network().schedule.superslices();
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
        if (messages_.next_arrival() == now_) {
            const SlotMessages::Arrival message = messages_.pop_arrival();
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
            low_latency_->process(links_, messages_);
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
        pulses_.events(events_);
        // What is sent in this instant is sent before the installation.
        const Time installation = next_installation();
        if (installation == now_) {
            install();
            continue;
        }
        Time next = std::min({installation, timers_.next_time(), messages_.next_arrival()});
        if (low_latency_) {
            next = std::min(next, low_latency_->next_time());
        }
        if (next == Time::max()) {
            return;
        }
        now_ = next;
    }
}

std::uint64_t SlotEngine::fast_forward(std::uint64_t superslice) {
    const RotorSchedule& schedule = network().schedule;
    if (!repetition_ || superslice % schedule.superslices() != 0) {
        return superslice;
    }
    const Time length = schedule.timing().superslice();
    const Time free = std::min(timers_.next_time(), Time::max() - timing_.longest() - length) - now_;
    const std::uint64_t limit = free <= Time(0) ? 0 : static_cast<std::uint64_t>((free - Time(1)) / length);
    const std::uint64_t passed = repetition_->fast_forward(
        superslice, lb_.period(), limit, {own_, relayed_, messages_, relays_, links_, counters_});
    lb_.forget();
    now_ += length * passed;
    last_change_ += passed;
    return superslice + passed;
}

void SlotEngine::prefetch(Rack from, Rack to) const {
    const std::uint32_t h = network().hosts_per_rack;
    for (std::uint32_t host = from * h; host < (from + 1) * h; ++host) {
        own_.prefetch(host, to * h);
        relayed_.prefetch(host, to * h);
    }
}

void SlotEngine::install() {
    const std::uint64_t superslice = fast_forward(superslice_from(now_));
    if (failures_.learn(superslice, lb_, own_, relayed_)) {
        last_change_ = superslice;
    }
    const RotorSchedule& schedule = failures_.schedule();
    next_superslice_ = superslice + 1;
    ++events_;
    ++counters_.installations;
    if (relays_.arrive(superslice, relayed_)) {
        last_change_ = superslice;
    }
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        if (!schedule.installs(rotor, superslice)) {
            continue;
        }
        const Installation installation{rotor, schedule.matching_index(rotor, superslice), superslice, now_};
        const Matching& matching = schedule.matching(rotor, installation.index);
        for (Rack rack = 0; rack < schedule.racks(); ++rack) {
            // A few racks before they are asked for.
            constexpr Rack kAhead = 4;
            if (const Rack later = rack + kAhead; later < schedule.racks() && matching[later] >= later) {
                prefetch(later, matching[later]);
                prefetch(matching[later], later);
            }
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
            lb_.set_index(index_in(schedule, superslice));
            lb_.share(rack, peer, own_, relayed_, grants_);
            if (!grants_.empty()) {
                plan(grants_);
                limit_to_circuit(installation, rack);
                transmit(installation, grants_);
                last_change_ = next_superslice_;
            }
        }
    }
}

std::string SlotEngine::explain_stall() const {
    if (low_latency_ && low_latency_->beyond_time() > 0) {
        return std::string(kBeyondTime);
    }
    std::string text;
    if (anything_waits() && next_installation() == Time::max()) {
        if (!is_stuck(std::max(next_superslice_, superslice_from(now_)))) {
            return std::string(kBeyondTime);
        }
        text = describe_undeliverable(network(), now_, own_, relayed_);
    }
    if (low_latency_ && !low_latency_->disconnected().empty()) {
        const std::size_t messages = low_latency_->disconnected().size();
        text += fmt::format("{}{} low-latency message{} no path left:{}", text.empty() ? "" : "\n", messages,
                            messages == 1 ? " has" : "s have",
                            describe_given_up(network(), now_, low_latency_->disconnected()));
    }
    return text;
}

PresentLimits SlotEngine::present_limits(std::size_t /*most*/) const {
    PresentLimits limits;
    limits.circuit_waits = anything_waits() ? messages_.in_flight() : 0;
    return limits;
}

NetworkStatistics SlotEngine::statistics() const {
    NetworkStatistics statistics;
    statistics.messages = delivered_;
    statistics.bytes_delivered = bytes_delivered_;
    statistics.events = events_;
    links_.report(statistics);
    return statistics;
}

}  // namespace astrolabe::network::rotor
