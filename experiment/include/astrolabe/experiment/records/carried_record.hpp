/// What links carried and what arrived, in intervals: the record from which throughput.csv, carried.csv and
/// the counters of a timeline are written.
///
/// Model. Links form *groups*; a group carries what its links do. With w_i the wire bytes of interval i that
/// the engine reported (link_observer.hpp), and C = R · d / 8 what the group can carry in an interval of
/// length d at the sum R of its rates,
///
///     carried_i = min(C, w_i + b_i),      b_{i+1} = w_i + b_i - carried_i,      b_0 = 0,
///
/// so carried_i ≤ C always, and Σ carried_i = Σ w_i. On engines whose pieces fit (LinkReports::kAll) b is
/// rounding, which is asserted. Where a service goes before another whose pieces do not say how long they
/// wait for it (kOverlapping), b is what waits, and leaves when there is room. Payload moves with the wire
/// bytes it is in.
///
/// R counts all the time, also while a circuit is dark or none is up: a share of the rate, as in links.csv.
/// Links that share a port (NetworkFamily::shared_ports) count its rate once.
///
/// Conservation. The intervals of a group sum to what its links carried, to a unit of interval_sums.hpp and
/// what doubles of the engine round, together less than half a byte for each link: `expect_totals`.
///
/// Memory is bounded: when there would be more than `most` intervals they become twice as long, and sums stay
/// what they were. 64 bytes for each interval of a group in which something was carried; groups that always
/// carry the same share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/records/interval_sums.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/link_observer.hpp>

namespace astrolabe::experiment {

/// Links that are summed.
struct LinkGroups {
    std::vector<std::uint32_t> of_link;  ///< number of the group, by link
    std::vector<double> bytes_a_second;  ///< by group: of its ports together

    [[nodiscard]] std::size_t size() const { return bytes_a_second.size(); }
};

/// Messages that had not arrived when a run ended.
struct UnderWay {
    Bytes bytes;
    std::uint64_t messages = 0;
};

class CarriedRecord final : public network::LinkObserver {
public:
    using Amount = IntervalSums::Amount;
    struct Carried {
        Amount wire = 0;
        Amount payload = 0;

        friend bool operator==(const Carried&, const Carried&) = default;
    };

    /// interval > 0, most >= 2
    CarriedRecord(LinkGroups groups, Time interval, std::size_t most);

    void links_are_alike(std::span<const std::uint32_t> class_of) override;
    [[nodiscard]] Time interval(Time end) override;
    void carried(network::LinkId link, Time from, Time to, const network::PieceBytes& bytes) override;
    void delivered(network::HostId destination, Time from, Time to, double payload) override;

    /// A message is complete with what is delivered at `when`.
    void completed(Time when, Bytes size);

    /// The length of intervals by now.
    [[nodiscard]] Time interval() const { return interval_; }
    [[nodiscard]] const LinkGroups& groups() const { return groups_; }
    /// By interval; what follows is 0. `reports` is what the engine said it reports.
    [[nodiscard]] std::vector<Carried> intervals_of(std::uint32_t group, network::LinkReports reports) const;
    [[nodiscard]] std::vector<Amount> deliveries() const { return deliveries_.values(); }
    [[nodiscard]] std::vector<Amount> completions() const { return completions_.values(); }
    [[nodiscard]] Amount wire_of(std::uint32_t group) const {
        return series_[series_of_group_[group]].wire.total();
    }
    /// That the record of a run that has ended is of the bytes that the network counted: those that links
    /// carried, payload or wire, as the engine counts them, and those delivered. Of bytes that are under way
    /// any part may have arrived, and of each such message the network counts a byte that is cut as a whole.
    void expect_totals(const network::NetworkStatistics& statistics, network::LinkReports reports,
                       const UnderWay& under_way = {}) const;

private:
    struct Series {
        IntervalSums wire;
        IntervalSums payload;
    };
    struct Share {
        std::uint32_t series;
        std::uint32_t links;  ///< of the class that was reported
    };

    /// Until `end` there are no more than `most` intervals.
    void make_room(Time end);
    void find_end_of_room();

    LinkGroups groups_;
    Time interval_;
    std::size_t most_;
    Time end_of_room_;  ///< of `most` intervals
    std::vector<std::uint32_t> series_of_group_;
    std::vector<Series> series_;
    std::vector<std::uint32_t> class_of_link_;
    std::vector<std::uint32_t> first_share_;  ///< by class, and the end of the last one's
    std::vector<Share> shares_;
    IntervalSums deliveries_;
    IntervalSums completions_;
};

}  // namespace astrolabe::experiment
