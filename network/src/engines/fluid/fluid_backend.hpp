/// Fluid engine: messages as fluid that flows at max-min fair rates; events only where rates can change.
///
/// Model. A *connection* is an ordered pair of hosts, as a TCP connection or an RDMA queue pair is. It serves
/// its messages first-in first-out. Connections with something to send share the links max-min fairly with
/// equal weights (max_min_solver.hpp); one that is sprayed over several paths loads each link by its share.
/// With x(t) the rate of a connection and α the latency of its longest path, a message of S bytes that
/// reaches the head of the queue at b is served at e and delivered at d:
///
///     ∫_b^e x(t) dt = 8·S bit,    d = ⌈e⌉ + α        (cut-through: bits follow each other through all hops)
///
/// and the next message starts at e exactly, not at ⌈e⌉, so rounding does not add up over a train of
/// messages. A message without bytes takes no service. A lone message takes α + S/B, B the rate of its
/// slowest link.
///
/// Assumptions: rates adapt at once (no slow start, no acknowledgements), queues neither fill nor drop, no
/// packet headers, unless terms (transport_terms.hpp) say otherwise. What this leaves out is what the packet
/// engines measure. Bytes served before a circuit goes down count as sent and arrive; those left wait until
/// it comes back. A route is fixed per pair and takes circuits as existing, so a message over a circuit waits
/// for it.
///
/// Circuits. Where links come and go, x(t) repeats with the period of the circuit schedule as long as the
/// same connections are active (circuit_rates.hpp), and e follows in closed form (periodic_rate.hpp).
/// Intervals and periods in which nothing starts or ends cost nothing: 30 s of a network that reconfigures
/// every 100 us take the time of its messages, not of 300,000 intervals.
///
/// Circuits that move with the demand (demand_aware_circuits.hpp). Connections have the routes of the present
/// wiring, and events are added at which the controller polls and circuits come up, while something waits
/// (demand_aware_rates.hpp). What waits for a pair is all that its connection has not served. Without terms.
///
/// Time. Rates are doubles, notifications whole picoseconds. ⌈e⌉ is computed from the last change of the
/// connection's rate: exactly (128-bit integers where needed) if the rate is a whole number of bit/s and no
/// fraction of a byte was pending, as for a message alone on its path. Otherwise a time that exceeds a
/// picosecond by less than 2^-36 of the time since that change, and by less than 1/4 ps, counts as that
/// picosecond: messages that end together end at the same picosecond, at most 1/4 ps early. Doubles carry 53
/// bits, so from 2^50 ps (19 minutes) without a change of rate on, such a time may also err by a few 2^-53 of
/// itself: 1 ps in 2.5 hours. A time beyond Time::max() never comes and shows as a stall.
///
/// Conservation. A message is finished by its size, never by accumulated amounts; statistics count whole
/// messages, and of those in service, in the middle of a run, what was served.
///
/// All events of one instant are processed, then rates are updated once. A connection whose next message is
/// ready when one ends keeps its rate, without an update. Boundaries of a circuit schedule are no events.
///
/// Complexity: two events per message (served, delivered), O(1) for those that end together and O(log
/// connections) for others, plus the rate updates. Both are counted, and cost O(1), where the engine goes
/// ahead of them (fluid_run_ahead.cpp). Memory: about 200 bytes per pair that ever communicates over six
/// classes of links, 110 over two, a half more where rates are kept by link, and 4 per pair there could be up
/// to 2,048 hosts; 40 per message queued or on the wire.
#pragma once

#include "../../host_pair_index.hpp"
#include "../../message_queues.hpp"
#include "../pulses.hpp"
#include "completion_queue.hpp"
#include "connection_terms.hpp"
#include "delay_ledger.hpp"
#include "forwarding_hop.hpp"
#include "level_rates.hpp"
#include "max_min_solver.hpp"
#include "message_pool.hpp"
#include "service_record.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/core/containers/delay_queue.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/forwarder.hpp>
#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

/// How max-min fair rates of links that are always there are kept. Both are exact and give the same times.
enum class RatesKept : std::uint8_t {
    kWhereCheaper,  ///< by link where many connections share links: among 64 hosts and more
    kByConnection,  ///< fixed_route_rates.hpp
    kByLink         ///< level_rates.hpp
};

struct FluidOptions {
    /// kWholeNetwork gives the same results and is for comparison only.
    MaxMinSolver::Strategy strategy = MaxMinSolver::Strategy::kLocal;
    TransportTerms terms{};
    /// Least time between two updates of rates (rate_interval.hpp); 0: rates adapt at once. Else the fabric
    /// is static and without failures, terms have neither slow start nor incast, and there is no slack.
    Time rate_interval{};
    /// Part of its rate that a link which limits connections may leave unused (rate_slack.hpp); 0: none. Else
    /// the fabric is static and without failures, and there are no terms. Where links are observed or delays
    /// accounted, none is left. Not on classes that are folded.
    double rate_slack = 0.0;
    /// By connection whatever is said: where links come and go, fail or are observed, where delays are
    /// accounted, with terms, an interval or the other strategy, and on classes that are folded. By link:
    /// with slack.
    RatesKept rates_kept = RatesKept::kWhereCheaper;
};

class FluidBackend final : public NetworkBackend, private ConnectionBytes {
public:
    /// A message represents `flows_per_representative` of them; statistics are those of the whole network.
    explicit FluidBackend(std::shared_ptr<const LinkClasses> classes, FluidOptions options = {});
    explicit FluidBackend(std::shared_ptr<const Fabric> fabric, FluidOptions options = {});

    [[nodiscard]] LinkReports observe_links(LinkObserver& observer) override;
    [[nodiscard]] bool account_delays(const Resources& resources) override {
        follow_connections();
        ledger_ = std::make_unique<DelayLedger>(resources, *rates_);
        return true;
    }
    Time add_delays(std::span<Time> times) const override { return ledger_->add(notified_, times); }
    void watch(RunWatcher& watcher) override { pulses_.watch(watcher); }
    /// Rates are settled in a `pulse`: links that are the bottleneck of some pair are full.
    [[nodiscard]] PresentLimits present_limits(std::size_t most) const override;
    /// Where rates are kept by link, in `run`.
    void run_ahead_with(Forwarder& forwarder) override;
    [[nodiscard]] Time now() const override { return now_; }
    void send(const Message& message) override;
    void schedule(Time delay, NotificationHandler& handler, std::uint64_t token) override;
    void run() override;
    void stop() override { stop_requested_ = true; }

    // For one that runs on the clock of another engine, in the place of `run`.

    /// Processes what is due until `until`, which is then now. Returns when something is due next if nothing
    /// is sent before; Time::max(): nothing is.
    Time advance(Time until);
    /// Now is `time`, before which nothing was due.
    void wait(Time time);
    /// Settles what is in service with the observer of links, if there is one: once, when all is over.
    void settle_service();

    [[nodiscard]] std::uint64_t outstanding_messages() const override { return sent_ - delivered_; }
    [[nodiscard]] std::vector<OutstandingMessage> describe_outstanding(std::size_t limit) const override;
    [[nodiscard]] std::string explain_stall() const override;
    [[nodiscard]] std::uint64_t events_processed() const override { return events_; }
    [[nodiscard]] Bytes bytes_delivered() const override {
        return static_cast<std::int64_t>(classes_->flows_per_representative()) * bytes_delivered_;
    }
    /// Those of rate_interval.hpp and rate_slack.hpp included.
    [[nodiscard]] NetworkStatistics statistics() const override;

    /// How often and how widely rates were recomputed, in a static network.
    [[nodiscard]] const MaxMinSolver::Counters& rate_updates() const { return rates_->counters(); }
    /// Messages that no event has sent (forwarder.hpp).
    [[nodiscard]] std::uint64_t forwarded_messages() const { return forwarded_; }
    [[nodiscard]] const Fabric& fabric() const { return classes_->fabric(); }

private:
    /// Deliveries, or a timer if there is none.
    struct DelayedEvent {
        MessagePool::List deliveries;
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
    };
    using State = Connection::State;

    /// Starts what waited.
    class Starter final : public NotificationHandler {
    public:
        explicit Starter(FluidBackend& backend)
            : backend_(backend) {}
        void notify(std::uint64_t connection) override {
            backend_.start_waiting(static_cast<std::uint32_t>(connection));
        }

    private:
        FluidBackend& backend_;
    };

    [[nodiscard]] std::uint32_t connection_between(HostId source, HostId destination);
    [[nodiscard]] Bytes remaining_at_head(const Connection& connection) const;
    [[nodiscard]] Bytes sent(std::uint32_t index) const override;
    [[nodiscard]] Bytes waiting(std::uint32_t index) const override;
    [[nodiscard]] PieceBytes in_service(std::uint32_t index) const override;
    /// When the first message of a connection will be served: never, or not before now.
    [[nodiscard]] Time completion(std::uint32_t index) const;
    void plan_completion(std::uint32_t index);
    /// The same after a change of rate, where a bound will do for now.
    void replan_completion(std::uint32_t index);
    void begin_service(std::uint32_t index);
    void start_waiting(std::uint32_t index);
    /// Bytes on the wire of the first message in the queue.
    [[nodiscard]] double work_of_first(std::uint32_t index) const;
    void complete(std::uint32_t index);
    /// From now to the delivery of a message that is served; not where `is_plain_`.
    [[nodiscard]] Time delivery_delay(std::uint32_t index, Bytes size);
    void append(Connection& connection, const MessageQueues::Waiting& message);
    /// Takes it out. Precondition: there is one.
    MessageQueues::Waiting take_first(Connection& connection);
    /// The number of a message that leaves its source, in no list yet.
    [[nodiscard]] std::uint32_t board(std::uint32_t index, const MessageQueues::Waiting& message);
    /// Puts it on the wire.
    void launch(std::uint32_t message);
    /// One that was served then, now or before.
    void put_on_wire(std::uint32_t message, Time served, Time latency);
    /// The same of one without bytes.
    void pass(std::uint32_t index, const MessageQueues::Waiting& message);
    void deliver();
    void process_instant();
    void settle_rates();
    void update_rates();
    /// Counts what a connection that ran empty has kept from its links since.
    void withhold(std::uint32_t index);
    /// Counts how long connections waited for the update of now.
    void count_waits();
    /// When rates are updated if nothing happens before; Time::max(): not at all.
    [[nodiscard]] Time next_update();
    /// The end that is planned first, or a bound of it; Time::max(): none is.
    [[nodiscard]] Time next_planned();
    [[nodiscard]] bool keeps_rates_by_link(const FluidOptions& options) const;
    void find_rates_by_link();
    /// Before anything is sent: rates are from now on kept by connection, without slack.
    void follow_connections();
    /// Nothing: rates adapt at once.
    [[nodiscard]] std::optional<RateIntervalReport> interval_report() const;
    /// Completes the instant, unless something of it is still due: then that is now.
    [[nodiscard]] Time next_event();

    /// Of two that are not negative; at most Bytes::max().
    [[nodiscard]] static Bytes sum_of(Bytes a, Bytes b) {
        return b > Bytes::max() - a ? Bytes::max() : a + b;
    }

    // fluid_run_ahead.cpp

    /// Whether it can, and it is not too early to ask again; then `hops_` and `ahead_` are found.
    [[nodiscard]] bool goes_ahead();
    void run_ahead();
    /// Whether messages have been on all of them and they share no link.
    [[nodiscard]] bool find_hops(std::span<const Forwarder::Hop> hops);
    /// Null: they are none.
    [[nodiscard]] ForwardingHop* hop_between(HostId source, HostId destination);
    /// Whether all messages that are outstanding are the forwarder's, on the hops.
    [[nodiscard]] bool forwards_all();
    void expect_no_less(Bytes least);
    void begin_ahead();
    void end_ahead();
    /// False: it is not one to forward, and the run is no longer ahead.
    [[nodiscard]] bool send_ahead(const Message& message);
    /// Before then no timer is due, all that is delivered is known now, and no delivery is to be notified.
    [[nodiscard]] Time known_until() const;
    void forward_until(Time until);
    /// The instant of now, until it is over or nothing is ahead any more.
    void notify_ahead();
    /// Takes the first message off a hop.
    [[nodiscard]] ForwardingHop::Message arrive_ahead(ForwardingHop& hop);
    /// Counts that it has left its source, unless it had at the begin.
    void leave_hop(ForwardingHop& hop, Bytes size);

    std::shared_ptr<const LinkClasses> classes_;
    std::unique_ptr<ConnectionTerms> terms_;  // null where there are none
    std::vector<Connection> connections_;
    std::unique_ptr<FlowRates> rates_;
    std::unique_ptr<DelayLedger> ledger_;    // null where nobody asked
    std::unique_ptr<ServiceRecord> record_;  // null where nobody observes links
    Pulses pulses_;
    LevelRates* rates_by_link_ = nullptr;  // rates_, if it is that
    bool rates_keep_ends_;                 // rates are kept by link; else completions_ does
    bool is_plain_;  // a message arrives the latency of its connection after its last bit
    Starter starter_{*this};
    HostPairIndex pairs_;
    CompletionQueue completions_;
    MessageQueues queues_;   // of messages behind the first of their connection
    MessagePool in_flight_;  // those that have left it
    DelayQueue<DelayedEvent> delayed_;
    std::uint32_t notified_ = MessagePool::kNone;
    MessagePool::List delivering_;          // what is left of the deliveries being notified
    std::vector<std::uint32_t> drained_;    // in this instant
    std::vector<std::uint32_t> restarted_;  // drained and sent on again in this instant
    MaxMinSolver::Strategy strategy_;
    double rate_slack_;   // as asked for
    bool applies_slack_;  // else rates are exact
    Time rate_interval_;
    Time no_update_before_;
    bool has_rates_to_update_ = false;     // connections started or ran empty
    std::vector<std::uint32_t> starting_;  // with an interval: since the last update
    IndexedVector<LinkId, double> withheld_bytes_;
    RateIntervalReport interval_report_;
    Forwarder* forwarder_ = nullptr;  // null: every delivery is notified
    bool is_ahead_ = false;
    std::uint64_t ahead_again_at_ = 0;  // events
    Bytes least_ahead_;                 // of messages that are forwarded
    std::uint64_t forwarded_ = 0;
    std::vector<ForwardingHop> hops_;
    std::vector<LevelRates::Ahead> ahead_;  // by hop
    std::vector<std::uint32_t> hop_of_;     // by connection; kNone: it is none
    Time now_;
    bool stop_requested_ = false;
    std::uint64_t sent_ = 0;
    std::uint64_t delivered_ = 0;
    std::uint64_t events_ = 0;
    Bytes bytes_delivered_;
};

}  // namespace astrolabe::network
