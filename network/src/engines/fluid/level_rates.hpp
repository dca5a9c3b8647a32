/// Rates of connections of a static network without caps, and the ends of their messages in the virtual time
/// of the links that limit them.
///
/// Model. All connections that a link limits have its level λ(t) as their rate (link_levels.hpp). The
/// *virtual time* of the link is the number of bytes that each of them is served,
///
///     V(t) = ∫ λ(t) dt / 8,
///
/// as in fair queueing (Demers, Keshav and Shenker, Analysis and simulation of a fair queueing algorithm,
/// SIGCOMM 1989). A message of which w bytes are left at t ends when V reaches F = V(t) + w, whatever the
/// level is until then. So a change of a level is one operation for all that the link limits: V is brought up
/// to now, and only the message with the smallest F gets an end in time. A connection that another link
/// limits from now on takes what it has left to the virtual time of that one.
///
/// Numbers. V is whole bytes and a part in doubles, so that it does not lose digits as it grows: it errs by
/// 2^-53 of what is served between two changes of a level, and stays at 2^63 bytes, which a link of 1 Pbit/s
/// serves one connection in 20 hours. An end is computed as for one connection
/// (flow_rates.hpp), from the last change of the level, or from the start of the connection where that is
/// later: a message alone on its path in integers.
///
/// Complexity: of an update that of link_levels.hpp, and O(log) for each link with another level and each
/// connection with another bottleneck; O(log) for a message. Memory: 24 bytes a connection beside the solver,
/// and 24 for each end in a heap, of which up to half are stale.
#pragma once

#include "fixed_route_rates.hpp"
#include "link_levels.hpp"
#include "minimum_tree.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network {

class LevelRates final : public FixedRouteRates {
public:
    LevelRates(const LinkClasses& classes, std::vector<Connection>& connections, const ConnectionBytes& bytes,
               double slack);

    void start(std::uint32_t connection) override { levels_.start(connection); }
    void stop(std::uint32_t connection) override { levels_.stop(connection); }
    std::span<const std::uint32_t> update(Time now) override;
    [[nodiscard]] bool keeps_ends() const override { return true; }
    void resume(std::uint32_t connection, Time now) override;
    void extend(std::uint32_t connection, double work) override;
    [[nodiscard]] std::span<const std::uint32_t> take_ends(Time now) override;
    [[nodiscard]] double rate_of(std::uint32_t connection) const override;

    /// A connection that is alone on its links, and so on for a while: the end of a message is known when it
    /// is sent. Between `go_ahead` and `catch_up` nothing else is asked about it, and nothing else changes.
    struct Ahead;
    /// Whether no link is on the way of two of them.
    [[nodiscard]] bool share_no_link(std::span<const std::uint32_t> connections);
    [[nodiscard]] std::size_t active_count() const { return levels_.active_count(); }
    [[nodiscard]] Ahead go_ahead(std::uint32_t connection) const;
    /// When a message ends that is sent at `sent`, behind all before. O(1).
    [[nodiscard]] Time serve_ahead(Ahead& ahead, Bytes size, Time sent);
    /// They serve from now on what `serves` and `behind` say.
    void catch_up(std::span<const Ahead> connections);

    [[nodiscard]] bool moves(std::uint32_t connection) const override { return rate_of(connection) > 0.0; }
    [[nodiscard]] Time completion(std::uint32_t connection) const override;
    [[nodiscard]] double work_left(std::uint32_t connection, Time now) const override;
    [[nodiscard]] std::optional<LinkId> bottleneck(std::uint32_t connection) const override;
    void for_each_link(std::uint32_t connection, const LinkVisitor& visit) const override;
    void report(NetworkStatistics& statistics, Time now) const override;
    [[nodiscard]] const MaxMinSolver::Counters& counters() const override { return levels_.counters(); }

private:
    static constexpr std::uint32_t kNoLink = LinkLevels::kNone;

    /// Virtual time in bytes.
    struct Virtual {
        std::int64_t whole = 0;
        double part = 0.0;  ///< 0 <= part < 1

        void advance(double bytes);
        void advance(Bytes bytes);
        [[nodiscard]] double since(const Virtual& earlier) const;
        friend auto operator<=>(const Virtual&, const Virtual&) = default;
    };
    struct Ending {
        Virtual at;
        std::uint32_t connection;
    };
    struct Clock {
        Time since;         ///< of the last change of the level
        Virtual at;         ///< then
        double rate = 0.0;  ///< the level, as a connection has it
        std::uint32_t changes = 0;
        bool is_pending = false;      ///< its earliest end is to be looked for
        bool is_first_known = false;  ///< the first of `endings` is one, of before the last change
        std::vector<Ending> endings;  ///< a heap; those of connections that moved or went on are stale
        Ending known;                 ///< one of them, whose end was computed at this rate …
        Time known_end;               ///< … already; Time(): none
    };
    struct Course {
        Virtual end;
        std::uint32_t changes = 0;        ///< of the clock, when the connection came to it
        std::uint32_t planned = kNoLink;  ///< the link in whose heap it is
    };

    static bool ends_later(const Ending& a, const Ending& b) { return a.at > b.at; }
    void add_flow(std::span<const ClassLeg> route, const MaxMinSolver::Terms& terms) override;
    [[nodiscard]] Time find_next_end(Time now) override;
    [[nodiscard]] Virtual at(const Clock& clock, Time now) const;
    /// What a connection serves, since when it has had its rate.
    [[nodiscard]] Service service(std::uint32_t connection, const Clock& clock) const;
    /// Of a connection that ends at `end` and came to the clock before its last change.
    [[nodiscard]] static Service service(const Clock& clock, const Virtual& end);
    [[nodiscard]] bool is_stale(const Ending& ending, std::uint32_t link) const;
    /// When what is planned so ends, at the rate of the clock.
    [[nodiscard]] Time end_on(Clock& clock, const Ending& ending) const;
    void push(std::uint32_t connection, std::uint32_t link);
    static void pop(Clock& clock);
    static void replace_first(Clock& clock, const Ending& ending);
    void drop_stale(std::uint32_t link);
    /// An end on the link has come, gone or changed.
    void look_at(std::uint32_t link);
    /// Its level has.
    void look_at_first(std::uint32_t link);
    /// Of the first of `endings`, if that is known to be one: O(1), and courses need not be read.
    [[nodiscard]] std::optional<Time> first_end(Clock& clock) const;
    /// Before clocks change: what a connection that moves has left at `now`.
    [[nodiscard]] double leave(const LinkLevels::Moved& moved, Time now);

    LinkLevels levels_;
    std::vector<Clock> clocks_;       // by link class
    std::vector<Course> courses_;     // by connection
    MinimumTree<std::int64_t> ends_;  // by link class: the picosecond at which its first message ends
    std::vector<std::uint32_t> pending_;
    std::vector<double> left_;
    std::vector<std::uint32_t> taken_;
    std::vector<std::uint32_t> crossed_in_;  // by link class: the last question that met it
    std::uint32_t question_ = 0;
};

struct LevelRates::Ahead {
    std::uint32_t connection = 0;
    double rate = 0.0;    ///< bit/s
    Time last_end;        ///< of all it was handed; Time(-1): it is idle
    bool serves = false;  ///< for `catch_up`: the end of a message is yet to come, …
    Bytes behind;         ///< … behind which these are left

private:
    friend class LevelRates;
    Service service;               // until the last end
    double pace = 0.0;             // of its rate: ps for a byte
    Virtual end;                   // of it, on `link`
    std::uint32_t link = kNoLink;  // that limits it now
    LinkLevels::Limit limit{};     // when it starts again
    bool is_on_clock = false;      // `service` is that of the clock: it began before the level changed
    bool was_active = false;
    bool has_restarted = false;
};

}  // namespace astrolabe::network
