/// Congestion-free engine: every message travels as if it were alone. The formula that studies of congestion
/// are compared with.
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
/// Assumptions. Links and ports carry any number of messages at once, each at full rate: no sharing, no
/// queues, no headers. So a run may beat the bound that its ports set, and a link may be used beyond its
/// rate (`link_utilization` above 1). Static networks only.
///
/// A message whose delivery lies beyond Time::max(), or that has no route, never comes and shows as a stall.
///
/// Complexity: one event per message, O(1) where few transfer times are frequent, else O(log n); a route is
/// looked up once per pair of hosts, and T(S) is computed once for a run of equal sizes. Memory: about 100
/// bytes per pair that ever communicates, 56 per message under way.
#pragma once

#include "../../switching.hpp"

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

struct CongestionFreeOptions {
    Switching switching = Switching::kCutThrough;
    TransferTiming timing = TransferTiming::kExact;
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
    [[nodiscard]] Time now() const override { return now_; }
    void send(const Message& message) override;
    void schedule(Time delay, NotificationHandler& handler, std::uint64_t token) override;
    void run() override;
    void stop() override { stop_requested_ = true; }
    [[nodiscard]] std::uint64_t outstanding_messages() const override { return sent_ - delivered_; }
    [[nodiscard]] std::vector<OutstandingMessage> describe_outstanding(std::size_t limit) const override;
    [[nodiscard]] std::string explain_stall() const override;
    [[nodiscard]] std::uint64_t events_processed() const override { return events_; }
    [[nodiscard]] NetworkStatistics statistics() const override;

    /// T(size) from host to host; Time::max() if it does not fit in a Time or there is no route.
    [[nodiscard]] Time transfer_time(HostId source, HostId destination, Bytes size);

private:
    /// Hops that are alike; cut-through makes one of a whole path.
    struct Hops {
        Time latency;
        Bandwidth rate;
        std::uint32_t count = 0;
    };
    struct Pair {
        HostId source;
        HostId destination;
        std::uint32_t first_hops = 0;  // in hops_
        std::uint32_t hops_count = 0;  // 0: no route
        Bytes last_size = Bytes(-1);
        Time last_transfer;  // T(last_size)
        Time last_delivery;  // of the latest message sent
        Bytes delivered;
    };
    /// A delivery, or a timer if `pair` is kTimer.
    struct Event {
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
        std::uint64_t sent_as = 0;  // number of the message
        Bytes size;
        std::uint32_t pair = 0;
    };
    struct StuckMessage {
        std::uint64_t sent_as = 0;
        Bytes size;
        std::uint32_t pair = 0;
    };

    static constexpr std::uint32_t kTimer = 0xffffffffU;

    [[nodiscard]] std::uint32_t pair_between(HostId source, HostId destination);
    void add_hops(Pair& pair);
    [[nodiscard]] Time transfer_time(Pair& pair, Bytes size) const;
    [[nodiscard]] Time compute_transfer_time(const Pair& pair, Bytes size) const;
    void process_instant();

    std::shared_ptr<const Fabric> fabric_;
    CongestionFreeOptions options_;
    std::vector<Pair> pairs_;
    PairIndex pair_index_;
    std::vector<Hops> hops_;
    LinkObserver* observer_ = nullptr;  // null: nobody observes what arrives
    DelayQueue<Event> events_pending_;
    std::vector<StuckMessage> stuck_;
    Time now_;
    bool stop_requested_ = false;
    std::uint64_t sent_ = 0;
    std::uint64_t delivered_ = 0;
    Bytes bytes_delivered_;
    std::uint64_t events_ = 0;
};

}  // namespace astrolabe::network
