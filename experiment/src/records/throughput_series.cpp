#include "timeline/link_tracks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/records/throughput_series.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/network/resources.hpp>

namespace astrolabe::experiment {

using network::LinkId;
using network::LinkReports;

namespace {

constexpr std::size_t kMostThroughputIntervals = std::size_t{1} << 17;

/// Whole bytes of amounts one after the other, which sum to the rounded sum of the amounts.
class WholeBytes {
public:
    [[nodiscard]] std::int64_t next(IntervalSums::Amount amount) {
        const std::int64_t before = rounded();
        sum_ += amount;
        return rounded() - before;
    }

private:
    [[nodiscard]] std::int64_t rounded() const {
        constexpr IntervalSums::Amount kByte = IntervalSums::Amount{1} << 30;
        static_assert(static_cast<double>(kByte) == IntervalSums::kUnits);
        return static_cast<std::int64_t>((sum_ + kByte / 2) / kByte);
    }

    IntervalSums::Amount sum_ = 0;
};

/// "from,to" of `count` intervals from `number` on; the last one may reach beyond the end of simulated time.
std::string from_to(std::size_t number, std::size_t count, Time interval) {
    const Time from = interval * number;
    const Time to = static_cast<std::int64_t>(count) > (Time::max() - from) / interval
                        ? Time::max()
                        : from + interval * count;
    return fmt::format("{},{}", exact_seconds(from), exact_seconds(to));
}

template <class Value>
Value value_at(const std::vector<Value>& values, std::size_t i) {
    return i < values.size() ? values[i] : Value{};
}

/// Of the wire bytes of an interval.
double share_of(IntervalSums::Amount wire, double bytes_a_second, Time interval) {
    return std::min(
        1.0, static_cast<double>(wire) / IntervalSums::kUnits / (bytes_a_second * to_seconds(interval)));
}

}  // namespace

ThroughputSeries::Groups ThroughputSeries::groups_of(const network::Fabric& fabric) {
    const network::Resources resources(fabric);
    Groups groups;
    std::map<std::pair<network::ResourceId, bool>, std::uint32_t> known;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        const bool leaves = fabric.node(fabric.source(link)).kind == network::NodeKind::kHost;
        const auto [entry, is_new] =
            known.try_emplace({resources.of(link), leaves}, static_cast<std::uint32_t>(groups.groups.size()));
        if (is_new) {
            groups.groups.push_back({resources.name(resources.of(link)), leaves});
        }
        groups.numbers.of_link.push_back(entry->second);
    }
    groups.numbers.bytes_a_second.resize(groups.groups.size());
    // Links that share a port have its rate once.
    const LinkTracks ports = link_tracks(fabric);
    std::vector<bool> is_counted(ports.tracks.size(), false);
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        const std::uint32_t port = ports.track_of[link];
        if (!is_counted[port]) {
            is_counted[port] = true;
            groups.numbers.bytes_a_second[groups.numbers.of_link[link.index()]] +=
                to_bytes_per_second(ports.tracks[port].rate);
        }
    }
    return groups;
}

ThroughputSeries::ThroughputSeries(const network::Fabric& fabric, Time interval, OutputFile throughput,
                                   std::optional<OutputFile> carried)
    : ThroughputSeries(groups_of(fabric), interval, std::move(throughput), std::move(carried)) {}

ThroughputSeries::ThroughputSeries(Groups groups, Time interval, OutputFile throughput,
                                   std::optional<OutputFile> carried)
    : groups_(std::move(groups.groups)),
      asked_(interval),
      record_(std::move(groups.numbers), interval, kMostThroughputIntervals),
      throughput_(std::move(throughput)),
      carried_(std::move(carried)) {
    throughput_.append("from_s,to_s,payload_bytes,wire_bytes,share,delivered_bytes,completed_bytes\n");
    if (carried_) {
        carried_->append("from_s,to_s,links,payload_bytes,wire_bytes,share\n");
    }
}

std::optional<Time> ThroughputSeries::longer_intervals() const {
    return record_.interval() > asked_ ? std::optional(record_.interval()) : std::nullopt;
}

void ThroughputSeries::add(Class& to, std::uint32_t group, LinkReports reports) const {
    to.bytes_a_second += record_.groups().bytes_a_second[group];
    const std::vector<CarriedRecord::Carried> more = record_.intervals_of(group, reports);
    to.carried.resize(std::max(to.carried.size(), more.size()));
    for (std::size_t i = 0; i < more.size(); ++i) {
        to.carried[i].wire += more[i].wire;
        to.carried[i].payload += more[i].payload;
    }
}

Diagnostics ThroughputSeries::finish(const network::NetworkStatistics& statistics, LinkReports reports,
                                     const UnderWay& under_way) {
    record_.expect_totals(statistics, reports, under_way);
    Class out_of_hosts;
    std::vector<Class> classes;  // as they first occur
    for (std::uint32_t group = 0; carried_ && group < groups_.size(); ++group) {
        auto found = std::find_if(classes.begin(), classes.end(),
                                  [&](const Class& known) { return known.name == groups_[group].links; });
        if (found == classes.end()) {
            classes.push_back({groups_[group].links, 0, {}});
            found = std::prev(classes.end());
        }
        add(*found, group, reports);
        if (groups_[group].leaves_hosts) {
            add(out_of_hosts, group, reports);
        }
    }
    write_throughput(out_of_hosts, carried_.has_value());
    for (const Class& links : classes) {
        write_class(links);
    }
    Diagnostics errors;
    if (auto error = throughput_.finish()) {
        errors.push_back(*std::move(error));
    }
    if (carried_) {
        if (auto error = carried_->finish()) {
            errors.push_back(*std::move(error));
        }
    }
    return errors;
}

void ThroughputSeries::write_throughput(const Class& out_of_hosts, bool has_links) {
    const std::vector<Amount> delivered = record_.deliveries();
    const std::vector<Amount> completed = record_.completions();
    const std::size_t end = std::max({out_of_hosts.carried.size(), delivered.size(), completed.size()});
    WholeBytes payload;
    WholeBytes wire;
    WholeBytes arrived;
    WholeBytes complete;
    for (std::size_t i = 0; i < end;) {
        const CarriedRecord::Carried carried = value_at(out_of_hosts.carried, i);
        std::size_t next = i + 1;
        while (value_at(completed, i) == 0 && next < end && value_at(completed, next) == 0 &&
               value_at(delivered, next) == value_at(delivered, i) &&
               value_at(out_of_hosts.carried, next) == carried) {
            ++next;
        }
        const std::size_t count = next - i;
        if (carried.wire > 0 || value_at(delivered, i) > 0 || value_at(completed, i) > 0) {
            const auto times = static_cast<Amount>(count);
            throughput_.append(from_to(i, count, record_.interval()));
            throughput_.append(has_links ? fmt::format(",{},{},{:.6g}", payload.next(carried.payload * times),
                                                       wire.next(carried.wire * times),
                                                       share_of(carried.wire, out_of_hosts.bytes_a_second,
                                                                record_.interval()))
                                         : std::string(",,,"));
            throughput_.append(fmt::format(",{},{}\n", arrived.next(value_at(delivered, i) * times),
                                           complete.next(value_at(completed, i) * times)));
        }
        i = next;
    }
}

void ThroughputSeries::write_class(const Class& links) {
    WholeBytes payload;
    WholeBytes wire;
    for (std::size_t i = 0; i < links.carried.size();) {
        const CarriedRecord::Carried& carried = links.carried[i];
        std::size_t next = i + 1;
        while (next < links.carried.size() && links.carried[next] == carried) {
            ++next;
        }
        if (carried.wire > 0) {
            const auto times = static_cast<Amount>(next - i);
            carried_->append(fmt::format("{},{},{},{},{:.6g}\n", from_to(i, next - i, record_.interval()),
                                         links.name, payload.next(carried.payload * times),
                                         wire.next(carried.wire * times),
                                         share_of(carried.wire, links.bytes_a_second, record_.interval())));
        }
        i = next;
    }
}

}  // namespace astrolabe::experiment
