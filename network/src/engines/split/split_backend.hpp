/// Two engines at once for a network of two that share no links (split_network.hpp).
///
/// Model. Messages between servers run on the engine of the network outside, whatever it is, and that engine
/// keeps the time. Messages inside servers are fluid (fluid_backend.hpp) at the same times: the instants at
/// which the fluid changes are timers of the engine outside, so that both are always at one instant, and what
/// either delivers may set off messages of the other in the same instant. A message whose leg takes time is
/// handed over that much later, and reported that much later, in the order sent.
///
/// Assumptions. NVLink has no packets here, whatever the engine outside. Records name hosts of the whole: a
/// NIC that several hosts share stands under the name of the first of them. What crosses a leg is in no
/// statistics of links.
///
/// Complexity: that of both engines, two timers for a message with legs, and a timer for each time at which
/// the fluid next changes, of which some are overtaken by an earlier one and then do nothing.
#pragma once

#include "../../split_network.hpp"
#include "../fluid/fluid_backend.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/containers/chunked_pool.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/packet_observer.hpp>

namespace astrolabe::network {

class SplitBackend final : public NetworkBackend {
public:
    /// `outside` is an engine for the network outside of `network`.
    SplitBackend(std::shared_ptr<const Fabric> whole, std::shared_ptr<const SplitNetwork> network,
                 std::unique_ptr<NetworkBackend> outside);

    [[nodiscard]] bool observe(PacketObserver& observer) override;
    [[nodiscard]] LinkReports observe_links(LinkObserver& observer) override;
    [[nodiscard]] bool account_delays(const Resources& resources) override;
    Time add_delays(std::span<Time> times) const override;
    [[nodiscard]] std::optional<Bytes> carried(LinkId link) const override;
    void watch(RunWatcher& watcher) override { outside_->watch(watcher); }
    /// Of both: links outside first, and then those inside.
    [[nodiscard]] PresentLimits present_limits(std::size_t most) const override;
    [[nodiscard]] Time now() const override { return outside_->now(); }
    void send(const Message& message) override;
    void send_batch(std::span<const Message> messages) override;
    void schedule(Time delay, NotificationHandler& handler, std::uint64_t token) override;
    void run() override;
    void stop() override { outside_->stop(); }
    [[nodiscard]] std::uint64_t outstanding_messages() const override { return messages_; }
    /// Those outside first; what is on a leg counts as not sent.
    [[nodiscard]] std::vector<OutstandingMessage> describe_outstanding(std::size_t limit) const override;
    [[nodiscard]] std::string explain_stall() const override { return outside_->explain_stall(); }
    [[nodiscard]] std::uint64_t events_processed() const override {
        return outside_->events_processed() + inside_.events_processed();
    }
    [[nodiscard]] Bytes bytes_delivered() const override { return bytes_delivered_; }
    [[nodiscard]] NetworkStatistics statistics() const override;

private:
    /// A message in flight, or a timer.
    struct Item {
        Message message;         ///< as sent; of a timer its handler and token alone
        Time from_nic;           ///< before it is reported
        std::uint32_t held = 0;  ///< what held it up, while it is on its last leg
    };
    /// What of this is notified, with the number of an item.
    template <void (SplitBackend::*what)(std::uint32_t)>
    class Notified final : public NotificationHandler {
    public:
        explicit Notified(SplitBackend& split)
            : split_(split) {}
        void notify(std::uint64_t token) override { (split_.*what)(static_cast<std::uint32_t>(token)); }
        [[nodiscard]] TimerPurpose purpose(std::uint64_t token) const override {
            return split_.purpose(static_cast<std::uint32_t>(token));
        }

    private:
        SplitBackend& split_;
    };
    class Ticks final : public NotificationHandler {
    public:
        explicit Ticks(SplitBackend& split)
            : split_(split) {}
        void notify(std::uint64_t /*token*/) override { split_.tick(); }

    private:
        SplitBackend& split_;
    };
    /// Says of what one network carries what it is in the whole.
    class PartObserver final : public LinkObserver {
    public:
        PartObserver(const SplitBackend& split, const SplitNetwork::Part& part, LinkObserver& observer)
            : split_(split),
              part_(part),
              observer_(observer) {}
        void links_are_alike(std::span<const std::uint32_t> class_of) override;
        [[nodiscard]] Time interval(Time end) override { return observer_.interval(end); }
        void carried(LinkId link, Time from, Time to, const PieceBytes& bytes) override;
        void delivered(HostId destination, Time from, Time to, double payload) override;

    private:
        const SplitBackend& split_;
        const SplitNetwork::Part& part_;
        LinkObserver& observer_;
    };
    class OutsidePackets final : public PacketObserver {
    public:
        OutsidePackets(const SplitBackend& split, PacketObserver& observer)
            : split_(split),
              observer_(observer) {}
        void packet(const PacketEvent& event) override;

    private:
        const SplitBackend& split_;
        PacketObserver& observer_;
    };
    /// Resources of one network as those of the whole.
    struct PartDelays {
        PartDelays(const SplitNetwork::Part& part, const Resources& whole);

        Resources resources;
        IndexedVector<ResourceId, ResourceId> of_whole;
        std::size_t times_of_whole;
        mutable std::vector<Time> times;  ///< by resource of the part, while they are added
    };
    enum class Notifying : std::uint8_t { kNothing, kInside, kOutside, kAfterLeg };

    [[nodiscard]] TimerPurpose purpose(std::uint32_t item) const;
    [[nodiscard]] std::uint32_t keep(const Message& message);
    void send_inside(const Message& message);
    void send_outside(std::uint32_t item);
    [[nodiscard]] Message outside_message(std::uint32_t item);
    /// Takes up a message for outside; returns whether it leaves at once.
    [[nodiscard]] bool take_leg(std::uint32_t item);
    void deliver_inside(std::uint32_t item);
    void deliver_outside(std::uint32_t item);
    void deliver_after_leg(std::uint32_t item);
    void expire(std::uint32_t item);
    void pass_on(std::uint32_t item, Notifying what);
    void stop_at_end();
    void tick();
    /// The fluid changes next at `next`.
    void plan(Time next);
    /// Of the whole: a host that has the NIC.
    [[nodiscard]] HostId host_of(HostId nic) const { return host_of_nic_[nic.index()]; }
    Time add_part(const NetworkBackend& backend, const PartDelays& part, std::span<Time> times) const;

    std::shared_ptr<const Fabric> whole_;
    std::shared_ptr<const SplitNetwork> network_;
    std::unique_ptr<NetworkBackend> outside_;
    FluidBackend inside_;
    std::vector<HostId> host_of_nic_;  ///< by host of the network outside, of the whole
    IndexedVector<LinkId, std::pair<const SplitNetwork::Part*, LinkId>> part_of_link_;  ///< null: a leg

    ChunkedPool<Item> items_;
    Notified<&SplitBackend::deliver_inside> inside_deliveries_{*this};
    Notified<&SplitBackend::deliver_outside> outside_deliveries_{*this};
    Notified<&SplitBackend::deliver_after_leg> last_legs_{*this};
    Notified<&SplitBackend::send_outside> first_legs_{*this};
    Notified<&SplitBackend::expire> expirations_{*this};
    Ticks ticks_{*this};
    std::vector<Message> batch_;
    Time planned_ = Time::max();  ///< the tick that counts; others were overtaken
    bool is_advancing_ = false;
    std::uint64_t messages_ = 0;
    std::uint64_t timers_ = 0;
    std::uint64_t delivered_ = 0;
    Bytes bytes_delivered_;

    std::unique_ptr<PartObserver> inside_links_;  // null where nobody observes
    std::unique_ptr<PartObserver> outside_links_;
    std::unique_ptr<OutsidePackets> outside_packets_;
    std::unique_ptr<PartDelays> inside_delays_;  // null where nobody asked
    std::unique_ptr<PartDelays> outside_delays_;
    Notifying notifying_ = Notifying::kNothing;
    std::uint32_t notified_ = 0;
    /// What held up messages on their last leg, by resource of the whole, and how much of it came after the
    /// last bit.
    struct Held {
        std::vector<Time> times;
        Time after_last_bit;
    };
    std::vector<Held> held_;
    std::vector<std::uint32_t> free_held_;
};

}  // namespace astrolabe::network
