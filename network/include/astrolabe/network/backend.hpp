/// What the system layer asks of a network, and all it may ask.
///
/// Contract. The caller is single-threaded: it hands over messages and timers before `run` and from inside
/// the notifications that `run` makes. A backend
///   - delivers every message exactly once, and notifies at the simulated time the last byte reaches the
///     receiving application; messages of one (source, destination, class) are delivered in the order sent;
///   - delivers a message of zero bytes after the latency of its path;
///   - notifies timers at exactly the time asked for, in the order asked for where times are equal;
///   - makes every notification of one instant before simulated time moves on, so that what they start
///     together starts together;
///   - returns from `run` when nothing is outstanding, when `stop` was called, or when it can make no
///     progress (`outstanding_messages() > 0` then distinguishes a stall from an end).
/// Source and destination of a message differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/ids.hpp>
#include <astrolabe/network/link_observer.hpp>
#include <astrolabe/network/rate_interval.hpp>
#include <astrolabe/network/rate_slack.hpp>
#include <astrolabe/network/resources.hpp>

namespace astrolabe::network {

/// What the time of a timer stands for, and the label of messages that it belongs to.
struct TimerPurpose {
    static constexpr std::uint32_t kNoLabel = 0xffffffffU;

    ResourceId resource = Resources::kEndPoints;
    std::uint32_t label = kNoLabel;
};

/// Called back by a backend; `token` is whatever the caller attached to the message or timer.
class NotificationHandler {
public:
    virtual void notify(std::uint64_t token) = 0;
    /// Of a timer that is being set with this token; for those who explain runs.
    [[nodiscard]] virtual TimerPurpose purpose(std::uint64_t token) const {
        static_cast<void>(token);
        return {};
    }

protected:
    ~NotificationHandler() = default;
};

struct Message {
    HostId source;
    HostId destination;
    Bytes size;                                   ///< payload, >= 0
    NotificationHandler* on_delivered = nullptr;  ///< must outlive the message; never null
    std::uint64_t token = 0;
    std::uint8_t traffic_class = 0;  ///< 0 to 7, the greater the more urgent; not every backend cares
    std::uint32_t label = 0;         ///< for records: what the sender calls it; means nothing to backends
};

/// What happened to one link and the queue in front of it, since the start. Flow engines have no queues and
/// count only what was carried; an engine leaves at 0 what it does not have.
struct LinkStatistics {
    Bytes carried;          ///< payload bytes for flow engines, wire bytes for packet engines
    Bytes queue_peak;       ///< most bytes that ever waited
    double queue_mean = 0;  ///< bytes that waited, mean over time from 0 to `now`
    std::uint64_t drops = 0;
    std::uint64_t marks = 0;   ///< congestion-experienced bits set
    std::uint64_t trims = 0;   ///< payloads cut off
    std::uint64_t pauses = 0;  ///< times the far end stopped the link, with pause frames or without credit
    Time paused;               ///< how long any of its classes was stopped, overlaps counted once
};

/// Of a network with demand-aware circuits.
struct DemandAwareStatistics {
    std::uint64_t control_epochs = 0;  ///< instants at which the controller polled what waits
    std::uint64_t changes = 0;         ///< of these, how many moved circuits
    Time dark;                         ///< that a link could carry nothing, mean over links
};

/// Counters since the start; see summary.json in the documentation for the meaning of each.
struct NetworkStatistics {
    std::uint64_t messages = 0;
    Bytes bytes_delivered;
    std::uint64_t packets = 0;      ///< data packets put on the wire by hosts; 0 for flow engines
    std::uint64_t packet_hops = 0;  ///< link crossings of data packets; 0 for flow engines
    std::uint64_t drops = 0;
    std::uint64_t retransmissions = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t ecn_marks = 0;
    std::uint64_t trims = 0;
    std::uint64_t pauses = 0;
    Time paused;       ///< summed over links
    Bytes queue_peak;  ///< of the fullest queue
    std::uint64_t events = 0;
    std::optional<DemandAwareStatistics> reconfiguration;  ///< none: nothing moves with the demand
    std::optional<RateIntervalReport> rate_interval;       ///< none: rates adapt at once
    std::optional<RateSlackReport> rate_slack;             ///< none: nobody asked for slack
    IndexedVector<LinkId, LinkStatistics> links;
};

/// A message that was sent and has not arrived, for the report of a stalled run.
struct OutstandingMessage {
    HostId source;
    HostId destination;
    Bytes size;
    Bytes remaining;
};

/// A link that limits messages, or one of several that carry the same.
struct LimitingLink {
    LinkId link;
    std::size_t links = 1;    ///< it, and those alike
    std::uint64_t flows = 0;  ///< of a flow engine: pairs of hosts whose rate these links limit
    Bytes waiting{};          ///< of a packet engine: in the queue in front of the link
};

/// What limits the messages in flight at one instant, for those who show how far a run is.
struct PresentLimits {
    std::vector<LimitingLink> links;  ///< those that limit most first, at most as many as were asked for
    std::size_t all_links = 0;        ///< that limit anything
    std::uint64_t flows = 0;          ///< that these limit
    std::uint64_t circuit_waits = 0;  ///< pairs of hosts, or messages of slots, that wait for a circuit
};

/// Watches a run from outside: an engine calls it between two events, and it may read the backend.
class RunWatcher {
public:
    /// Returns after how many further events it is to be called again, at least 1.
    [[nodiscard]] virtual std::uint64_t pulse() = 0;

protected:
    ~RunWatcher() = default;
};

class PacketObserver;
class Forwarder;

/// What `explain_stall` says where a delivery lies after Time::max().
inline constexpr std::string_view kBeyondTime =
    "what is under way would arrive after the end of simulated time, 2^63 ps or 106 days";

class NetworkBackend {
public:
    virtual ~NetworkBackend() = default;

    /// Reports every packet to `observer`, which must outlive the backend (packet_observer.hpp). To be called
    /// before anything is sent. False: this engine has no packets to report.
    [[nodiscard]] virtual bool observe(PacketObserver& observer) {
        static_cast<void>(observer);
        return false;
    }

    /// Reports what links carry over time, and what arrives, to `observer`, which must outlive the backend
    /// (link_observer.hpp). To be called before anything is sent, of a backend whose messages stand for
    /// themselves alone. What happens in the simulation does not change.
    [[nodiscard]] virtual LinkReports observe_links(LinkObserver& observer) {
        static_cast<void>(observer);
        return LinkReports::kNothing;
    }

    /// Asks for an account of what holds messages up, by resource; to be called before anything is sent, and
    /// `resources` must outlive the backend. False: this engine keeps none.
    [[nodiscard]] virtual bool account_delays(const Resources& resources) {
        static_cast<void>(resources);
        return false;
    }
    /// At the begin of the notification of a delivery, of an engine that keeps account: adds to `times`, by
    /// resource, what the message has waited for since it was first of its pair. The sum is the whole time
    /// since then. Returns how much of it followed the message's last bit.
    virtual Time add_delays(std::span<Time> times) const {
        static_cast<void>(times);
        return {};
    }
    /// What a link has carried, as `LinkStatistics::carried`, in O(1). Nothing: that is not known at once.
    [[nodiscard]] virtual std::optional<Bytes> carried(LinkId link) const {
        static_cast<void>(link);
        return std::nullopt;
    }

    /// Calls `watcher`, which must outlive the last `run`, from the first event on, at whole instants where
    /// the engine has instants. What happens in the simulation does not change, and no event is added. An
    /// engine that cannot calls nobody.
    virtual void watch(RunWatcher& watcher) { static_cast<void>(watcher); }
    /// What limits messages now, the first `most` links by name; called from a watcher's `pulse`. O(pairs of
    /// hosts + links). Nothing of an engine that does not know.
    [[nodiscard]] virtual PresentLimits present_limits(std::size_t most) const {
        static_cast<void>(most);
        return {};
    }

    /// From now on the backend may hand deliveries to `forwarder`, which must outlive the last `run`, instead
    /// of notifying it of each (forwarder.hpp). What happens in the simulation does not change.
    virtual void run_ahead_with(Forwarder& forwarder) { static_cast<void>(forwarder); }

    [[nodiscard]] virtual Time now() const = 0;

    virtual void send(const Message& message) = 0;
    /// Messages that start together; same meaning as `send` on each in order.
    virtual void send_batch(std::span<const Message> messages) {
        for (const Message& message : messages) {
            send(message);
        }
    }
    /// Notifies `handler` with `token` after `delay` >= 0.
    virtual void schedule(Time delay, NotificationHandler& handler, std::uint64_t token) = 0;

    virtual void run() = 0;
    /// Makes `run` return before simulated time moves on; callable from inside a notification.
    virtual void stop() = 0;

    /// Before anything is sent: up to so many threads may run it from now on, as far as it can; what happens
    /// is the same. Statistics may then be of a moment later until it ends. Returns how many.
    virtual std::size_t use_threads(std::size_t most) {
        static_cast<void>(most);
        return 1;
    }

    [[nodiscard]] virtual std::uint64_t outstanding_messages() const = 0;
    /// At most `limit`, in the order sent; one sent long after the one before it of its pair may come early.
    [[nodiscard]] virtual std::vector<OutstandingMessage> describe_outstanding(std::size_t limit) const = 0;
    /// Why nothing moves any more while messages are outstanding, as far as the network can tell, for people.
    [[nodiscard]] virtual std::string explain_stall() const { return {}; }
    [[nodiscard]] virtual std::uint64_t events_processed() const = 0;
    /// `NetworkStatistics::bytes_delivered`, in O(1) where the engine has it.
    [[nodiscard]] virtual Bytes bytes_delivered() const { return statistics().bytes_delivered; }
    [[nodiscard]] virtual NetworkStatistics statistics() const = 0;
};

}  // namespace astrolabe::network
