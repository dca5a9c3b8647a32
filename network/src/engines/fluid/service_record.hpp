/// What the connections of the fluid engine put on links over time, for an observer of links
/// (link_observer.hpp): kept only where there is one.
///
/// Model. With S(t) the bytes that a connection has sent up to t, from whole messages and what has left of
/// the one in service, it is *settled* whenever its rate changes, it runs empty, its route changes, or the
/// run returns. Settling at t what was settled at s before reports S(t) - S(s) on every link of the route, by
/// the load it puts there: evenly where the rate was constant, else as its periodic rate gives it. So the
/// pieces of a connection sum to the bytes of its messages, whatever rounding times have.
///
/// Cost: O(links, or classes of links, of the route) for each change of a rate; with circuits times the
/// segments of the rate in between, or the observer's intervals where these are fewer. Memory: 32 bytes a
/// connection.
#pragma once

#include "flow_rates.hpp"
#include "periodic_rate.hpp"

#include <cstdint>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/link_observer.hpp>

namespace astrolabe::network {

class ServiceRecord {
public:
    /// All must outlive it.
    ServiceRecord(LinkObserver& observer, const std::vector<Connection>& connections,
                  const ConnectionBytes& bytes, const FlowRates& rates)
        : observer_(observer),
          connections_(connections),
          bytes_(bytes),
          rates_(rates) {}

    /// The first message of the connection, of `wire` bytes on the wire, has left.
    void complete(std::uint32_t connection, double wire) { sent_of(connection).wire_of_whole += wire; }
    /// Reports what was sent since it was settled before, at the rate that the connection has had.
    void settle(std::uint32_t connection, Time now) { settle(connection, now, rates_.periodic(connection)); }
    /// The same where the rate is another by now; `before` is null if it was constant.
    void settle(std::uint32_t connection, Time now, const PeriodicRate* before) {
        report_until(connection, now, before, sent_by(connection));
    }
    /// Before the route changes: the same of whole bytes, as links count them; the byte that is cut goes the
    /// new way. Without headers.
    void settle_whole_bytes(std::uint32_t connection, Time now) {
        const auto sent = static_cast<double>(bytes_.sent(connection).count());
        report_until(connection, now, nullptr, {sent, sent});
    }

private:
    struct Sent {
        Time until;                ///< reported
        double wire_of_whole = 0;  ///< of messages that have left
        PieceBytes reported;
    };
    struct Part {
        Time from;
        Time to;
        double bytes;
    };

    [[nodiscard]] Sent& sent_of(std::uint32_t connection);
    /// S(now)
    [[nodiscard]] PieceBytes sent_by(std::uint32_t connection);
    void report_until(std::uint32_t connection, Time now, const PeriodicRate* rate, const PieceBytes& all);
    /// Into parts_, what the rate gives.
    void cut(const PeriodicRate& rate, Time from, Time to);
    void report(std::uint32_t connection, Time from, Time to, const PieceBytes& bytes);

    LinkObserver& observer_;
    const std::vector<Connection>& connections_;
    const ConnectionBytes& bytes_;
    const FlowRates& rates_;
    std::vector<Sent> sent_;  // by connection
    std::vector<Part> parts_;
};

}  // namespace astrolabe::network
