/// Which rates the connections of the fluid engine get, and when the messages they serve are done: one
/// interface, and an implementation for each way in which links exist.
///
///     fixed_route_rates.hpp   all links at all times: max-min fair rates (max_min_solver.hpp)
///     level_rates.hpp         the same kept by link, with slack or without (link_levels.hpp)
///     fixed_route_rates.hpp   links come and go with a schedule: rates that repeat (circuit_rates.hpp)
///     demand_aware_rates.hpp  a controller moves links with what waits (demand_aware_circuits.hpp)
///     failing_rates.hpp       all links at all times, but for those that fail (failure_timeline.hpp)
///
/// The engine owns connections, queues and events. It reports which connections start and stop; `update` then
/// makes the rates of the instant, and `completion` says when a connection is done at its rate.
#pragma once

#include "../../message_queues.hpp"
#include "connection_terms.hpp"
#include "max_min_solver.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/ids.hpp>
#include <astrolabe/network/link_classes.hpp>
#include <astrolabe/network/link_observer.hpp>

namespace astrolabe::network {

/// An ordered pair of hosts and what it serves.
struct Connection {
    enum class State : std::uint8_t {
        kIdle,
        kWaiting,  ///< has messages that start later (transport_terms.hpp)
        kServing,  ///< active in the rates
        kDrained,  ///< as kServing, but the queue ran empty in this instant
        kNowhere   ///< no route: messages wait for ever, or until there is one
    };

    HostId source;
    HostId destination;
    Time latency;
    Time since;                    ///< of the last change of rate
    double work = 0.0;             ///< bytes from `since` to the end of the message being served
    double rate = 0.0;             ///< bit/s; 0 where rates repeat
    Bytes served;                  ///< whole messages
    MessageQueues::Waiting first;  ///< message; without a handler: none
    MessageQueues::Queue behind;   ///< the first one
    State state = State::kIdle;
    bool whole = false;  ///< `work` and `rate` are integers and exactly represented

    [[nodiscard]] bool has_messages() const { return first.handler != nullptr; }
};

/// What connections have sent and hold, as the engine knows.
class ConnectionBytes {
public:
    [[nodiscard]] virtual Bytes sent(std::uint32_t connection) const = 0;
    /// Of an active connection: all that it has not served.
    [[nodiscard]] virtual Bytes waiting(std::uint32_t connection) const = 0;
    /// Of the message in service, what has left.
    [[nodiscard]] virtual PieceBytes in_service(std::uint32_t connection) const = 0;

protected:
    ~ConnectionBytes() = default;
};

class PeriodicRate;
class ServiceRecord;

class FlowRates {
public:
    /// Both must outlive it; `connections` are those of the engine, of which the last may be new.
    FlowRates(std::vector<Connection>& connections, const ConnectionBytes& bytes)
        : connections_(connections),
          bytes_(bytes) {}
    virtual ~FlowRates() = default;

    /// Takes up the newest connection: sets its latency, and its state where it has no route.
    virtual void add_connection() = 0;
    /// Before anything is sent on a connection.
    virtual void before_send(std::uint32_t /*connection*/, Time /*now*/) {}

    /// Changes take effect at the next `update`; a connection may start again.
    virtual void start(std::uint32_t connection) = 0;
    virtual void stop(std::uint32_t connection) = 0;
    /// Makes the rates of the active connections, brings the work of those whose rate changed up to `now` and
    /// returns them, valid until the next call.
    virtual std::span<const std::uint32_t> update(Time now) = 0;

    /// Whether it keeps the ends of messages in order itself, so that the engine need not know when rates
    /// change: then `update` returns nothing, and the engine calls what follows.
    [[nodiscard]] virtual bool keeps_ends() const { return false; }
    /// A connection that already has a rate serves another message from `now` on: not after `start`.
    virtual void resume(std::uint32_t /*connection*/, Time /*now*/) {}
    /// Of a message that has ended, the connection serves the next: `work` more bytes.
    virtual void extend(std::uint32_t /*connection*/, double /*work*/) {}
    /// The earliest end, not before now; Time::max(): there is none.
    [[nodiscard]] Time next_end(Time now) {
        if (!knows_next_end_) {
            next_end_ = find_next_end(now);
            knows_next_end_ = true;
        }
        return next_end_;
    }
    /// The connections whose message ends now, which is `next_end`, in the order of numbers.
    [[nodiscard]] virtual std::span<const std::uint32_t> take_ends(Time /*now*/) { return {}; }

    [[nodiscard]] virtual double rate_of(std::uint32_t connection) const {
        return connections_[connection].rate;
    }
    /// Whether it will ever be served further.
    [[nodiscard]] virtual bool moves(std::uint32_t connection) const {
        return connections_[connection].rate > 0.0;
    }
    /// When the message being served is done; Time::max(): never, or after the end of time.
    [[nodiscard]] virtual Time completion(std::uint32_t connection) const;
    /// A time later than the last change of rate that is not after that: `planned` where it is one, else
    /// halfway, which remains one until the rate has doubled. Nothing where the completion itself is to be
    /// planned.
    [[nodiscard]] virtual std::optional<Time> completion_bound(std::uint32_t connection, Time planned) const;
    /// Bytes left of it.
    [[nodiscard]] virtual double work_left(std::uint32_t connection, Time now) const {
        return constant_work_left(connections_[connection], now);
    }

    /// From `from` on, at the rates of now: until when the connection waits for circuits. `has_begun`: the
    /// first bytes of its message are sent, so that what the message still waits for is their number.
    [[nodiscard]] virtual Time circuit_wait(std::uint32_t /*connection*/, Time from,
                                            bool /*has_begun*/) const {
        return from;
    }
    /// The link that limits the rate of an active connection; nothing: its cap does.
    [[nodiscard]] virtual std::optional<LinkId> bottleneck(std::uint32_t connection) const = 0;

    /// Whether a message arrives the latency of its connection after its last bit; else `delivery_delay`
    /// says.
    [[nodiscard]] virtual bool keeps_latency() const { return true; }
    [[nodiscard]] virtual Time delivery_delay(std::uint32_t connection, Time /*now*/) {
        return connections_[connection].latency;
    }

    /// Does what falls due with links at `now`, after all else of the instant. The next event, `next_event`
    /// being that of messages and timers; `now` if anything was done.
    [[nodiscard]] virtual Time act(Time /*now*/, Time next_event) { return next_event; }

    /// From now on `record`, which outlives this, settles a connection before its rate or its route changes.
    void settle_with(ServiceRecord& record) { record_ = &record; }
    /// The rate of a connection where it repeats; null where it is constant until it changes.
    [[nodiscard]] virtual const PeriodicRate* periodic(std::uint32_t /*connection*/) const { return nullptr; }
    /// The links that a connection crosses, one for each class of links, and the load that each link of the
    /// class has for every byte it sends.
    using LinkVisitor = std::function<void(LinkId, double)>;
    virtual void for_each_link(std::uint32_t connection, const LinkVisitor& visit) const = 0;

    /// Why these messages, all that are outstanding, do not move, as far as links are to blame.
    [[nodiscard]] virtual std::string explain(const std::vector<OutstandingMessage>& /*messages*/) const {
        return {};
    }

    /// Writes what links carried, and what else is known of links.
    virtual void report(NetworkStatistics& statistics, Time now) const = 0;
    /// What a static network counts.
    [[nodiscard]] virtual const MaxMinSolver::Counters& counters() const;

protected:
    /// Bytes that are left at `since`, served at one rate.
    struct Service {
        Time since;
        double work = 0.0;
        double rate = 0.0;   ///< bit/s
        bool whole = false;  ///< work and rate are integers and exactly represented
    };
    /// For `next_end`, which is asked for several times between two changes of ends and looks for it once.
    [[nodiscard]] virtual Time find_next_end(Time /*now*/) { return Time::max(); }
    /// An end has changed, come or gone.
    void forget_next_end() { knows_next_end_ = false; }
    /// When that is done; Time::max(): never, or so late that what takes `latency` more arrives after the end
    /// of time.
    [[nodiscard]] static Time end_of(const Service& service, Time latency);
    /// The same, where the picoseconds that a byte takes at its rate, which is not 0, are known.
    [[nodiscard]] static Time end_of(const Service& service, double pace, Time latency);
    [[nodiscard]] static double pace_at(double rate);
    /// Bytes.
    [[nodiscard]] static double served_at(double rate, Time duration);
    /// Of a connection whose rate has been the same since `since`.
    [[nodiscard]] static double constant_work_left(const Connection& connection, Time now);
    void change_rate(Connection& connection, double rate, Time now);

    std::vector<Connection>& connections_;
    const ConnectionBytes& bytes_;
    ServiceRecord* record_ = nullptr;  // null: nobody observes links

private:
    Time next_end_ = Time::max();
    bool knows_next_end_ = true;
};

/// Whether rates can be kept by link: links are always there, do not fail, and nothing else limits a rate.
[[nodiscard]] bool can_keep_rates_by_link(const Fabric& fabric, const TransportTerms& terms);

/// For the fabric of `classes`; `terms` may be null, and both outlive it. `slack`: of link_levels.hpp, where
/// rates are kept by link, which must be possible; nothing: by connection.
[[nodiscard]] std::unique_ptr<FlowRates> make_flow_rates(
    std::shared_ptr<const LinkClasses> classes, ConnectionTerms* terms, MaxMinSolver::Strategy strategy,
    std::optional<double> slack, std::vector<Connection>& connections, const ConnectionBytes& bytes);

}  // namespace astrolabe::network
