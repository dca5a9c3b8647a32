/// Congestion-free engine: every message travels as if it were alone, or shares nothing but the ports of its
/// two hosts. The formulas that studies of congestion are compared with.
///
/// Model. The route of a message crosses links l of latency α_l and rate R_l. S bytes sent at t are there at
/// t + T(S):
///     cut-through          T(S) = Σ α_l + S / min R_l      bits follow each other through all hops
///     store-and-forward    T(S) = Σ (α_l + S / R_l)        every hop waits for the whole message
/// and are delivered then, or with the message of the same pair of hosts that was sent before if that one
/// comes later. Of a route sprayed over several paths, a link that carries the share s counts as one of rate
/// R_l / s, rounded to a bit/s, and the latency is that of the longest path; so cut-through gives a lone
/// message the time that the fluid engine gives it.
///
/// Time. kExact rounds each quotient up to a picosecond. kAstraSim1 cuts off fractions of a nanosecond: of
/// T(S) with cut-through, of each α_l + S / R_l with store-and-forward. These are the times of the analytical
/// backends of ASTRA-sim, astra-sim/astra-network-analytical: cut-through those of congestion_unaware (where
/// all links of a path have one rate), store-and-forward those of congestion_aware on an idle network.
///
/// Ports. With PortSharing::kPorts each first link of a route, out of the source, and each last one, into the
/// destination, carries one message at a time, in the order in which they come; the links between carry any
/// number. With O the time of the message on its slowest first link, L on its slowest last one,
///     leaves     D = max(t, when those first links are free)            they are free again at D + O
///     arrives    A = max(D + T(S) - L, when the one before of its pair arrived)
///     delivered  max(A, when those last links are free) + L             when they are free again
/// in the order of A. A sprayed message occupies a link that carries the share s of it for s·S / R_l. So what
/// a schedule puts on a port at once takes there the sum of its bytes over its rate: N - 1 blocks of a direct
/// exchange as well as chunks in flight together. A lone message still takes T(S).
///
/// Example. Hosts at 100 Gb/s and 500 ns on one switch, 3 messages of 12,500 bytes (1 us) sent at 0: from one
/// host to three others they are delivered at 2, 3 and 4 us, as from three to one; without ports all at 2 us.
///
/// Assumptions. Otherwise links carry any number of messages at once, each at full rate: no sharing, no
/// queues, no headers. So a run may beat the bound that its links set, without ports also that of ports, and
/// a link may be used beyond its rate (`link_utilization` above 1). Static networks only.
///
/// A message whose delivery lies beyond Time::max(), or that has no route, never comes and shows as a stall.
///
/// Complexity: one event per message, with ports two, O(1) where few transfer times are frequent, else
/// O(log n); a route is looked up once per pair of hosts, and T(S) is computed once for a run of equal sizes.
/// Memory: about 100 bytes per pair that ever communicates, 56 per message under way, with ports 16 for each
/// link of the network and 16 more for each first and last link of a pair.
#pragma once

#include "../../switching.hpp"
#include "../pulses.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/containers/delay_queue.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/pair_index.hpp>

namespace astrolabe::network {

enum class TransferTiming : std::uint8_t {
    kExact,     ///< picoseconds, rounded up
    kAstraSim1  ///< whole nanoseconds, rounded down
};

enum class PortSharing : std::uint8_t { kNone, kPorts };

struct CongestionFreeOptions {
    Switching switching = Switching::kCutThrough;
    TransferTiming timing = TransferTiming::kExact;
    PortSharing sharing = PortSharing::kNone;
};

/// Why the engine cannot run `fabric`, or nothing: circuits that come and go; store-and-forward of sprayed
/// messages.
[[nodiscard]] std::optional<std::string> congestion_free_unsupported(const Fabric& fabric,
                                                                     const CongestionFreeOptions& options);

class CongestionFreeBackend final : public NetworkBackend {
public:
    /// Precondition: no refusal.
    explicit CongestionFreeBackend(std::shared_ptr<const Fabric> fabric, CongestionFreeOptions options = {});

    /// Links that carry anything at any time have no record over time.
    [[nodiscard]] LinkReports observe_links(LinkObserver& observer) override {
        observer_ = &observer;
        return LinkReports::kDeliveries;
    }
    void watch(RunWatcher& watcher) override { pulses_.watch(watcher); }
    [[nodiscard]] Time now() const override { return now_; }
    void send(const Message& message) override;
    void schedule(Time delay, NotificationHandler& handler, std::uint64_t token) override;
    void run() override;
    void stop() override { stop_requested_ = true; }
    [[nodiscard]] std::uint64_t outstanding_messages() const override { return sent_ - delivered_; }
    [[nodiscard]] std::vector<OutstandingMessage> describe_outstanding(std::size_t limit) const override;
    [[nodiscard]] std::string explain_stall() const override;
    [[nodiscard]] std::uint64_t events_processed() const override { return events_; }
    [[nodiscard]] Bytes bytes_delivered() const override { return bytes_delivered_; }
    [[nodiscard]] NetworkStatistics statistics() const override;

    /// T(size) from host to host, alone; Time::max() if it does not fit in a Time or there is no route.
    [[nodiscard]] Time transfer_time(HostId source, HostId destination, Bytes size);

private:
    /// Hops that are alike; cut-through makes one of a whole path.
    struct Hops {
        Time latency;
        Bandwidth rate;
        std::uint32_t count = 0;
    };
    /// A first or last link of a route, and the rate at which a whole message passes it.
    struct PortUse {
        LinkId link;
        Bandwidth rate;
    };
    struct Pair {
        HostId source;
        HostId destination;
        std::uint32_t first_hops = 0;  // in hops_
        std::uint32_t hops_count = 0;  // 0: no route
        Bytes last_size = Bytes(-1);
        Time last_transfer;            // T(last_size)
        Time last_delivery;            // of the latest message sent; with ports its arrival at the last link
        std::uint32_t first_port = 0;  // in port_uses_: ports out, then ports in
        std::uint32_t ports_out = 0;
        std::uint32_t ports_in = 0;
        Bytes delivered;
    };
    enum class EventKind : std::uint8_t { kTimer, kArrival, kDelivery };
    /// An arrival is that of a message at the port into its destination.
    struct Event {
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
        std::uint64_t sent_as = 0;  // number of the message
        Bytes size;
        std::uint32_t pair = 0;
        EventKind kind = EventKind::kTimer;
    };
    struct StuckMessage {
        std::uint64_t sent_as = 0;
        Bytes size;
        std::uint32_t pair = 0;
    };

    [[nodiscard]] std::uint32_t pair_between(HostId source, HostId destination);
    void add_hops(Pair& pair);
    void add_ports(Pair& pair);
    [[nodiscard]] Time transfer_time(Pair& pair, Bytes size) const;
    [[nodiscard]] Time compute_transfer_time(const Pair& pair, Bytes size) const;
    /// Of a message on the slowest of its ports in.
    [[nodiscard]] Time service_time(const Pair& pair, Bytes size) const;
    /// Takes the ports out of a message that is sent now, and returns when it leaves.
    [[nodiscard]] Time take_ports_out(const Pair& pair, Bytes size);
    void arrive(const Event& event);
    void process_instant();

    std::shared_ptr<const Fabric> fabric_;
    CongestionFreeOptions options_;
    std::vector<Pair> pairs_;
    PairIndex pair_index_;
    std::vector<Hops> hops_;
    std::vector<PortUse> port_uses_;
    IndexedVector<LinkId, Time> out_free_;  // with ports: when a link out of a host is free
    IndexedVector<LinkId, Time> in_free_;
    LinkObserver* observer_ = nullptr;  // null: nobody observes what arrives
    DelayQueue<Event> events_pending_;
    Pulses pulses_;
    std::vector<StuckMessage> stuck_;
    Time now_;
    bool stop_requested_ = false;
    std::uint64_t sent_ = 0;
    std::uint64_t delivered_ = 0;
    Bytes bytes_delivered_;
    std::uint64_t events_ = 0;
};

}  // namespace astrolabe::network
