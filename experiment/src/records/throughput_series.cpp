#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/records/throughput_series.hpp>
#include <astrolabe/experiment/results/csv.hpp>

namespace astrolabe::experiment {

ThroughputSeries::ThroughputSeries(const network::Fabric& fabric, Time interval, OutputFile file)
    : interval_(interval),
      bytes_at_full_rate_(0),
      file_(std::move(file)) {
    ASTROLABE_ASSERT(interval > Time(0), "intervals have a length");
    for (network::HostId host; host.index() < fabric.host_count(); ++host) {
        bytes_at_full_rate_ += to_bytes_per_second(fabric.egress_rate(host)) * to_seconds(interval);
    }
    file_.append("from_s,to_s,bytes,share,completed_bytes\n");
}

void ThroughputSeries::message(const network::MessageRecord& record) {
    const std::int64_t first = record.sent / interval_;
    // One that ends with an interval has no part in the next.
    const std::int64_t last = std::max(first, (record.delivered - Time(1)) / interval_);
    const auto bytes = static_cast<double>(record.size.count());
    Interval& end = intervals_[last];
    end.completed += record.size;
    if (first == last) {
        end.part += bytes;
        return;
    }
    const double per_picosecond = bytes / static_cast<double>((record.delivered - record.sent).count());
    const double whole = per_picosecond * static_cast<double>(interval_.count());
    Interval& begin = intervals_[first];
    begin.part += per_picosecond * static_cast<double>((interval_ - record.sent % interval_).count());
    end.part += per_picosecond * static_cast<double>((record.delivered - interval_ * last).count());
    Interval& next = intervals_[first + 1];
    next.whole += whole;
    ++next.messages;
    end.whole -= whole;
    --end.messages;
}

void ThroughputSeries::write_row(std::int64_t number, std::int64_t count, double bytes, Bytes completed) {
    // The last one may reach beyond the end of simulated time.
    const Time from = interval_ * number;
    const Time to = count > (Time::max() - from) / interval_ ? Time::max() : from + interval_ * count;
    const auto intervals = static_cast<double>(count);
    file_.append(fmt::format("{},{},{:.10g},{:.6g},{}\n", exact_seconds(from), exact_seconds(to),
                             bytes * intervals, bytes / bytes_at_full_rate_, completed.count()));
}

std::optional<Diagnostic> ThroughputSeries::finish() {
    double whole = 0;
    std::int64_t messages = 0;
    for (auto at = intervals_.begin(); at != intervals_.end(); ++at) {
        const auto& [number, interval] = *at;
        messages += interval.messages;
        // Nothing flows on where no message does, whatever rounding left.
        whole = messages > 0 ? whole + interval.whole : 0;
        // An interval in which messages begin or end has a row of its own.
        const bool is_own_row = interval.part > 0 || interval.completed > Bytes(0);
        if (is_own_row) {
            write_row(number, 1, whole + interval.part, interval.completed);
        }
        const std::int64_t first = is_own_row ? number + 1 : number;
        const auto next = std::next(at);
        if (whole > 0 && next != intervals_.end() && next->first > first) {
            write_row(first, next->first - first, whole, Bytes(0));
        }
    }
    return file_.finish();
}

}  // namespace astrolabe::experiment
