/// The slot engine: bulk traffic on rotor switches, one decision per installation instead of one event per
/// packet.
///
/// Limits first. Packets are counted, not moved: what waits at a switch for packets of other hosts, less
/// than h packets long, is left out, and so is contention of relayed packets at the host that relays them.
/// Bulk messages of a pair of hosts keep their order, whatever their class.
///
/// Model. At the start of superslice s every rotor that installs a matching there connects pairs of racks.
/// For each pair RotorLB (rotor_lb.hpp) decides how many packets go from which host to which; the packets of
/// each grant leave evenly over the slot (slot_timing.hpp). First hops reach the relaying host then, and
/// count there from the next installation on. Messages queue first-come first-served per pair of hosts; what
/// is sent during a slot waits for the next installation. A message without bytes needs no circuit: it takes
/// host latencies and propagation.
///
/// Low-latency messages (by size or by class, RotorNetwork::is_low_latency) go around the slots, with
/// priority: see slot_low_latency.hpp.
///
/// Intra-rack messages wait for slots too: as IntraRack says, through another rack or through their switch.
///
/// Conservation: packets leave a queue only by a grant, and a message ends with the last of its packets.
/// When in a whole cycle nothing could be granted, nothing ever will be: the engine stops and reports it.
///
/// Complexity: per installation O(racks) to look, and RotorLB's cost for pairs of racks where something
/// waits; then O(log grants of a sender) per grant and message, and for first hops per grant and superslice
/// in which some of it arrive. Packets cost nothing by themselves. While nothing waits there are no
/// installations to process; with round-robin remainders, cycles in which full queues do the same again are
/// fast-forwarded. Memory: slot_messages.hpp, packet_counts.hpp, relay_queues.hpp.
///
/// Source: RotorNet (SIGCOMM 2017) section 4.2, Opera (NSDI 2020) section 4.
#pragma once

#include "../pulses.hpp"
#include "relay_counts.hpp"
#include "relay_queues.hpp"
#include "slot_counters.hpp"
#include "slot_failures.hpp"
#include "slot_links.hpp"
#include "slot_low_latency.hpp"
#include "slot_messages.hpp"
#include "slot_repetition.hpp"
#include "slot_timing.hpp"
#include "transmission_slot_table.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <astrolabe/core/containers/delay_queue.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/rotor/bulk_service.hpp>
#include <astrolabe/network/rotor/rotor_lb.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::network::rotor {

/// Why the engine cannot run `fabric`, or nothing.
[[nodiscard]] std::optional<std::string> slot_engine_unsupported(const Fabric& fabric);

class SlotEngine final : public NetworkBackend {
public:
    /// What is done about cycles that repeat one another (slot_repetition.hpp); times are the same.
    enum class Repetitions : std::uint8_t { kFastForwarded, kSimulated };

    /// Precondition: the fabric is supported.
    explicit SlotEngine(std::shared_ptr<const Fabric> fabric,
                        Repetitions repetitions = Repetitions::kFastForwarded);

    /// From then on every cycle is simulated.
    [[nodiscard]] LinkReports observe_links(LinkObserver& observer) override;
    void watch(RunWatcher& watcher) override { pulses_.watch(watcher); }
    /// Packets wait at hosts and relays for nothing but circuits.
    [[nodiscard]] PresentLimits present_limits(std::size_t most) const override;
    [[nodiscard]] std::optional<Bytes> carried(LinkId link) const override { return links_.carried(link); }
    [[nodiscard]] Time now() const override { return now_; }
    void send(const Message& message) override;
    void send_batch(std::span<const Message> messages) override;
    void schedule(Time delay, NotificationHandler& handler, std::uint64_t token) override;
    void run() override;
    void stop() override { stop_requested_ = true; }
    [[nodiscard]] std::uint64_t outstanding_messages() const override { return messages_.in_flight(); }
    [[nodiscard]] std::vector<OutstandingMessage> describe_outstanding(std::size_t limit) const override {
        return messages_.describe(limit);
    }
    [[nodiscard]] std::string explain_stall() const override;
    [[nodiscard]] std::uint64_t events_processed() const override { return events_; }
    [[nodiscard]] Bytes bytes_delivered() const override { return bytes_delivered_; }
    [[nodiscard]] NetworkStatistics statistics() const override;

    [[nodiscard]] const SlotCounters& counters() const { return counters_; }

private:
    struct Timer {
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
    };
    /// A rotor's matching, as installed.
    struct Installation {
        Rotor rotor = 0;
        std::uint32_t index = 0;
        std::uint64_t superslice = 0;
        Time start;
    };
    [[nodiscard]] const RotorNetwork& network() const { return *network_; }
    [[nodiscard]] bool anything_waits() const {
        return own_.total() + relayed_.total() > 0 || relays_.any_in_flight() || failures_.holds_any();
    }
    [[nodiscard]] bool is_stuck(std::uint64_t superslice) const;
    [[nodiscard]] Time next_installation() const;
    [[nodiscard]] bool send_at_once(const Message& message);
    void reserve(Rack rack, Rotor rotor);
    void process_instant();
    void install();
    /// What waits at the hosts of a rack for those of another, into the cache.
    void prefetch(Rack from, Rack to) const;
    /// Before the installations of `superslice`: moves time over cycles that repeat; returns where it is
    /// then.
    [[nodiscard]] std::uint64_t fast_forward(std::uint64_t superslice);
    /// Whose packets a grant takes, and when.
    struct Plan {
        std::uint32_t queue = 0;   ///< of messages_, or of relays_ for second hops
        std::uint32_t rank = 0;    ///< among the grants of its sender
        std::uint32_t leaves = 0;  ///< packets; all that were granted, unless the circuit fails before
    };
    void plan(std::span<const Grant> grants);
    void limit_to_circuit(const Installation& installation, Rack rack);
    void rank(std::span<const Grant> of_one_sender, std::span<Plan> plans);
    void transmit(const Installation& installation, std::span<const Grant> grants);
    void transmit_to_destination(const Installation& installation, const Grant& grant, const Plan& plan);
    /// Grants for one destination.
    void transmit_first_hops(const Installation& installation, std::span<const Grant> grants,
                             std::span<const Plan> plans);
    /// The same of one message that has more packets, which `flight` is of.
    void relay_part(const Installation& installation, std::uint32_t flight, std::span<const Grant> grants,
                    std::span<const Plan> plans);
    /// The same of several, or to the last packet. Each superslice takes what leaves in it over all grants,
    /// lest a message at the head of the queue waits for the end of a slot while those behind it leave by
    /// another host.
    void relay_messages(const Installation& installation, std::uint32_t pair, std::span<const Grant> grants,
                        std::span<const Plan> plans);
    [[nodiscard]] std::uint64_t superslice_from(Time time) const;

    std::shared_ptr<const Fabric> fabric_;
    const RotorNetwork* network_;
    SlotTiming timing_;
    TransmissionSlotTable slot_table_;
    RelayCounts relay_counts_;
    RotorLb lb_;
    PacketCounts own_;
    PacketCounts relayed_;
    SlotMessages messages_;
    RelayQueues relays_;
    SlotLinks links_;
    SlotFailures failures_;
    std::optional<SlotLowLatency> low_latency_;  // if any message can be one
    std::optional<SlotRepetition> repetition_;   // if cycles can repeat

    DelayQueue<Timer> timers_;
    Pulses pulses_;
    Time now_;
    bool stop_requested_ = false;
    std::uint64_t next_superslice_ = 0;  // first one not processed
    std::uint64_t last_change_ = 0;      // superslice at or after the latest send, grant or relay
    std::uint64_t delivered_ = 0;
    Bytes bytes_delivered_;
    std::uint64_t events_ = 0;
    SlotCounters counters_;

    // Scratch.
    std::vector<Grant> grants_;
    std::vector<std::uint64_t> by_size_;  // grants of a sender
    std::vector<Plan> plans_;             // by grant
    struct Detoured {
        std::uint32_t packets = 0;
        Bytes payload;
    };
    std::vector<Detoured> detoured_;  // by grant for one destination
};

}  // namespace astrolabe::network::rotor
