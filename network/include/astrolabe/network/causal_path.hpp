/// The causal path of a run: which messages and timers its time was, one after another, and what held up
/// each.
///
/// Model. Whoever sends a message or sets a timer does so inside a notification, and that notification
/// *caused* it. What was notified last therefore ends a chain of causes that reaches back to time 0 without a
/// gap. A message that was sent while another of its pair was waiting or being served is served only after
/// that one; its time at the head of the pair's queue, from b on, was caused by the end of the other's
/// service, and what it waited before is on the other's chain:
///
///     b = max(sent, end of service of the message of the pair before it),     segment [b, delivered]
///
/// so the queueing of a run is on the path once, as the transfer of those that were ahead. Segments tile the
/// time from 0 to the last notification exactly.
///
/// What a segment waited for. A timer: its purpose. A message on an engine that keeps account (fluid): what
/// limited it at each instant. On others, with α the latency of the path and T the rest of the segment: α is
/// latency, and each link of the path that carried the share u of what it could meanwhile takes u·T, the
/// fullest first, until T is used up. So a link that was full takes it all, and the links that one packet
/// crosses one after another take a part each. What is left found links idle: it waited for circuits where
/// links come and go, else for the transport. Where they come and go, a link that was not full takes the time
/// of the message's own bytes at most, as those of others left while it waited. Engines that cannot say what
/// links carry leave T to "network".
///
/// Limits. Messages of one pair are taken to be served in the order sent, whatever their class. On engines
/// without account α of a network with circuits is that of one circuit, and only hosts' links are looked at.
///
/// Cost: a hash look-up, about 200 bytes and, without account, the counters of the links of its path per
/// message in flight. Chains whose ends nobody waits for any more are dropped as they end, and what followed
/// one another for one label is kept as one segment, so memory grows with what is in flight times labels.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/link_classes.hpp>
#include <astrolabe/network/pair_index.hpp>
#include <astrolabe/network/resources.hpp>

namespace astrolabe::network {

/// One after another for one label.
struct CausalSegment {
    std::uint32_t label = TimerPurpose::kNoLabel;
    Time from;
    Time to;
    std::vector<Time> times;  ///< by resource; they sum to `to` - `from`
};

/// A backend that passes everything on to another and follows causes. What happens in the simulation does not
/// change.
class CauseTracker final : public NetworkBackend {
public:
    /// All must outlive it; nothing was sent yet.
    CauseTracker(NetworkBackend& backend, std::shared_ptr<const Fabric> fabric, const Resources& resources);
    ~CauseTracker() override;

    /// From time 0 to the last notification, in order of time.
    [[nodiscard]] std::vector<CausalSegment> path() const;
    /// Steps of chains that are kept now.
    [[nodiscard]] std::size_t kept() const;

    [[nodiscard]] bool observe(PacketObserver& observer) override { return backend_.observe(observer); }
    [[nodiscard]] LinkReports observe_links(LinkObserver& observer) override {
        return backend_.observe_links(observer);
    }
    [[nodiscard]] bool account_delays(const Resources& /*resources*/) override { return false; }
    [[nodiscard]] std::optional<Bytes> carried(LinkId link) const override { return backend_.carried(link); }
    [[nodiscard]] Time now() const override { return backend_.now(); }
    void send(const Message& message) override;
    void send_batch(std::span<const Message> messages) override;
    void schedule(Time delay, NotificationHandler& handler, std::uint64_t token) override;
    void run() override { backend_.run(); }
    void stop() override { backend_.stop(); }
    [[nodiscard]] std::uint64_t outstanding_messages() const override {
        return backend_.outstanding_messages();
    }
    [[nodiscard]] std::vector<OutstandingMessage> describe_outstanding(std::size_t limit) const override {
        return backend_.describe_outstanding(limit);
    }
    [[nodiscard]] std::string explain_stall() const override { return backend_.explain_stall(); }
    [[nodiscard]] std::uint64_t events_processed() const override { return backend_.events_processed(); }
    [[nodiscard]] NetworkStatistics statistics() const override { return backend_.statistics(); }

private:
    class Chains;
    class PathLinks;

    struct InFlight {
        Message message;
        Time sent;
        std::uint32_t cause = 0;  ///< a step
        std::uint32_t pair = 0;
        std::uint32_t ahead = 0;   ///< the message of its pair that was sent before, while both are in flight
        std::uint32_t behind = 0;  ///< the one that was sent next, likewise
        std::uint32_t served =
            0;      ///< step of the end of service of the one before it, once that is delivered
        Time head;  ///< when that was
    };
    struct Timer {
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
        std::uint32_t cause = 0;
        Time set;
        TimerPurpose purpose;
    };
    class Deliveries final : public NotificationHandler {
    public:
        explicit Deliveries(CauseTracker& tracker)
            : tracker_(tracker) {}
        void notify(std::uint64_t token) override { tracker_.deliver(static_cast<std::uint32_t>(token)); }

    private:
        CauseTracker& tracker_;
    };
    class Expirations final : public NotificationHandler {
    public:
        explicit Expirations(CauseTracker& tracker)
            : tracker_(tracker) {}
        void notify(std::uint64_t token) override { tracker_.expire(static_cast<std::uint32_t>(token)); }

    private:
        CauseTracker& tracker_;
    };

    [[nodiscard]] Message noted(const Message& message);
    void deliver(std::uint32_t number);
    void expire(std::uint32_t number);
    /// Notifies with `step` as the cause of all that follows, and keeps it as the last one.
    void notify(std::uint32_t step, NotificationHandler& handler, std::uint64_t token);
    /// What a message waited for since `head`, by resource into `times_`; returns how much followed the last
    /// bit.
    Time explain(const InFlight& message, std::uint32_t number, Time head);

    NetworkBackend& backend_;
    std::shared_ptr<const Fabric> fabric_;
    bool is_accounted_;
    std::unique_ptr<Chains> chains_;
    std::unique_ptr<PathLinks> links_;  // null where the engine keeps account
    Deliveries deliveries_{*this};
    Expirations expirations_{*this};

    PairIndex pairs_;
    std::vector<std::uint32_t> newest_;  // in flight, by pair
    std::vector<InFlight> in_flight_;
    std::vector<std::uint32_t> free_messages_;
    std::vector<Timer> timers_;
    std::vector<std::uint32_t> free_timers_;
    std::vector<Message> batch_;
    std::vector<Time> times_;  // by resource
    std::uint32_t current_;    // step of the notification that is being made, or of the last one
};

}  // namespace astrolabe::network
