#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/records/carried_record.hpp>

namespace astrolabe::experiment {

using network::LinkId;
using network::LinkReports;

CarriedRecord::CarriedRecord(LinkGroups groups, Time interval, std::size_t most)
    : groups_(std::move(groups)),
      interval_(interval),
      most_(most) {
    ASTROLABE_ASSERT(interval > Time(0) && most >= 2, "intervals have a length, and two can become one");
    find_end_of_room();
    std::vector<std::uint32_t> own(groups_.of_link.size());
    std::iota(own.begin(), own.end(), 0U);
    links_are_alike(own);
}

void CarriedRecord::links_are_alike(std::span<const std::uint32_t> class_of) {
    ASTROLABE_ASSERT(class_of.size() == groups_.of_link.size(), "every link has a class");
    class_of_link_.assign(class_of.begin(), class_of.end());
    // Of each group, how many links it has of each class: groups that have the same are one series.
    std::vector<std::map<std::uint32_t, std::uint32_t>> classes_in(groups_.size());
    std::uint32_t classes = 0;
    for (std::size_t link = 0; link < class_of.size(); ++link) {
        ++classes_in[groups_.of_link[link]][class_of[link]];
        classes = std::max(classes, class_of[link] + 1);
    }
    std::map<std::map<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    std::vector<std::vector<Share>> shares(classes);
    series_of_group_.clear();
    for (const auto& classes_of_group : classes_in) {
        const auto [entry, is_new] =
            known.try_emplace(classes_of_group, static_cast<std::uint32_t>(known.size()));
        series_of_group_.push_back(entry->second);
        if (is_new) {
            for (const auto& [link_class, links] : classes_of_group) {
                shares[link_class].push_back({entry->second, links});
            }
        }
    }
    series_.assign(known.size(), {});
    shares_.clear();
    first_share_.assign(1, 0);
    for (const std::vector<Share>& of_class : shares) {
        shares_.insert(shares_.end(), of_class.begin(), of_class.end());
        first_share_.push_back(static_cast<std::uint32_t>(shares_.size()));
    }
}

void CarriedRecord::make_room(Time end) {
    while (end > end_of_room_) {
        interval_ = interval_ <= Time::max() - interval_ ? interval_ + interval_ : Time::max();
        deliveries_.merge_pairs();
        completions_.merge_pairs();
        for (Series& series : series_) {
            series.wire.merge_pairs();
            series.payload.merge_pairs();
        }
        find_end_of_room();
    }
}

void CarriedRecord::find_end_of_room() {
    end_of_room_ = interval_ <= Time::max() / most_ ? interval_ * most_ : Time::max();
}

Time CarriedRecord::interval(Time end) {
    make_room(end);
    return interval_;
}

void CarriedRecord::carried(LinkId link, Time from, Time to, const network::PieceBytes& bytes) {
    make_room(to);
    const Amount wire = IntervalSums::units(bytes.wire);
    const Amount payload = IntervalSums::units(bytes.payload);
    const std::uint32_t link_class = class_of_link_[link.index()];
    for (std::uint32_t i = first_share_[link_class]; i < first_share_[link_class + 1]; ++i) {
        Series& series = series_[shares_[i].series];
        series.wire.add(interval_, from, to, wire * shares_[i].links);
        series.payload.add(interval_, from, to, payload * shares_[i].links);
    }
}

void CarriedRecord::delivered(network::HostId /*destination*/, Time from, Time to, double payload) {
    make_room(to);
    deliveries_.add(interval_, from, to, IntervalSums::units(payload));
}

void CarriedRecord::completed(Time when, Bytes size) {
    make_room(when);
    completions_.add(interval_, when, when, IntervalSums::units(static_cast<double>(size.count())));
}

std::vector<CarriedRecord::Carried> CarriedRecord::intervals_of(std::uint32_t group,
                                                                LinkReports reports) const {
    const Series& series = series_[series_of_group_[group]];
    const std::vector<Amount> wire = series.wire.values();
    const std::vector<Amount> payload = series.payload.values();
    const Amount room =
        std::max<Amount>(1, IntervalSums::units(groups_.bytes_a_second[group] * to_seconds(interval_)));
    // A byte, and the precision to which rates are shared.
    const double rounding = IntervalSums::kUnits + 1e-9 * static_cast<double>(series.wire.total());
    std::vector<Carried> carried;
    Carried waiting;
    for (std::size_t i = 0; i < wire.size() || waiting.wire > 0; ++i) {
        waiting.wire += i < wire.size() ? wire[i] : 0;
        waiting.payload += i < payload.size() ? payload[i] : 0;
        Carried now = waiting;
        if (waiting.wire > room) {
            const double part = static_cast<double>(room) / static_cast<double>(waiting.wire);
            now = {room, std::min(room, static_cast<Amount>(static_cast<double>(waiting.payload) * part))};
        }
        waiting.wire -= now.wire;
        waiting.payload -= now.payload;
        const auto late = static_cast<double>(waiting.wire);
        ASTROLABE_ASSERT(
            reports == LinkReports::kOverlapping || late <= rounding,
            fmt::format("no link carries more than its rate in any interval, but one {:.6g} B more until {}",
                        late / IntervalSums::kUnits, to_string(interval_ * (i + 1))));
        carried.push_back(now);
    }
    return carried;
}

void CarriedRecord::expect_totals(const network::NetworkStatistics& statistics, LinkReports reports,
                                  const UnderWay& under_way) const {
    const auto is_of = [](Amount units, double bytes, double rounding) {
        return std::abs(static_cast<double>(units) / IntervalSums::kUnits - bytes) <= rounding;
    };
    const auto part = static_cast<double>(under_way.bytes.count()) / 2;
    ASTROLABE_ASSERT(is_of(deliveries_.total(),
                           static_cast<double>(statistics.bytes_delivered.count()) + part, part + 0.5),
                     "every byte delivered is in some interval");
    if (reports != LinkReports::kAll && reports != LinkReports::kOverlapping) {
        return;
    }
    std::vector<double> bytes(groups_.size());
    // Where routes change the network counts whole bytes by either.
    const std::uint64_t changes = statistics.reconfiguration ? 2 * statistics.reconfiguration->changes : 0;
    std::vector<double> rounding(groups_.size(), 0.01 + static_cast<double>(changes));
    for (std::size_t link = 0; link < groups_.of_link.size(); ++link) {
        bytes[groups_.of_link[link]] += static_cast<double>(statistics.links[LinkId(link)].carried.count());
        rounding[groups_.of_link[link]] += 0.5 + static_cast<double>(under_way.messages);
    }
    for (std::size_t group = 0; group < groups_.size(); ++group) {
        const Series& series = series_[series_of_group_[group]];
        ASTROLABE_ASSERT(is_of(series.wire.total(), bytes[group], rounding[group]) ||
                             is_of(series.payload.total(), bytes[group], rounding[group]),
                         "every byte that a link carried is in some interval");
    }
}

}  // namespace astrolabe::experiment
