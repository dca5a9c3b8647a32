/// throughput.csv and carried.csv: what links carried and what arrived over time, on any backend.
///
/// Time is cut into intervals of length d from 0 on. throughput.csv has, of each interval, the bytes that the
/// links out of all hosts carried together (carried_record.hpp), payload that reached its receiver, and the
/// bytes of messages whose last byte did; carried.csv has the bytes of every class of links (Resources:
/// "host-switch links"). With W the wire bytes of an interval,
///
///     share = 8 W / (d · Σ rates),        0 ≤ share ≤ 1.
///
/// Bytes are rounded such that the rows sum to the whole: a row has the rounded sum up to its end less that
/// up to its begin. Intervals one after the other with the same bytes in which no message is complete are one
/// row; those without any have none. An engine whose links share nothing says only what arrives: there is no
/// carried.csv then, and the columns of links are empty.
///
/// Memory: at most 2^17 intervals, as carried_record.hpp says; longer runs get longer ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <astrolabe/experiment/records/carried_record.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/message_observer.hpp>

namespace astrolabe::experiment {

class ThroughputSeries final : public network::MessageObserver {
public:
    /// interval > 0; no file for `carried`: links share nothing.
    ThroughputSeries(const network::Fabric& fabric, Time interval, OutputFile throughput,
                     std::optional<OutputFile> carried);

    /// Who is told of links.
    [[nodiscard]] network::LinkObserver& links() { return record_; }
    void message(const network::MessageRecord& record) override {
        record_.completed(record.delivered, record.size);
    }

    /// Writes the rows and gives the files their names; why one could not be written.
    [[nodiscard]] Diagnostics finish(const network::NetworkStatistics& statistics,
                                     network::LinkReports reports, const UnderWay& under_way);
    /// How long intervals are, if longer than asked for; after `finish`.
    [[nodiscard]] std::optional<Time> longer_intervals() const;

private:
    using Amount = IntervalSums::Amount;
    /// Of links together, by interval.
    struct Class {
        std::string name;
        double bytes_a_second = 0;
        std::vector<CarriedRecord::Carried> carried;
    };
    /// Links of a kind, those that leave hosts apart.
    struct Group {
        std::string links;
        bool leaves_hosts = false;
    };
    struct Groups {
        LinkGroups numbers;
        std::vector<Group> groups;
    };

    [[nodiscard]] static Groups groups_of(const network::Fabric& fabric);
    ThroughputSeries(Groups groups, Time interval, OutputFile throughput, std::optional<OutputFile> carried);
    void add(Class& to, std::uint32_t group, network::LinkReports reports) const;
    void write_throughput(const Class& out_of_hosts, bool has_links);
    void write_class(const Class& links);

    std::vector<Group> groups_;
    Time asked_;
    CarriedRecord record_;
    OutputFile throughput_;
    std::optional<OutputFile> carried_;
};

}  // namespace astrolabe::experiment
