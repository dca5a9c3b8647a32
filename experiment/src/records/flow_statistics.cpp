#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/records/flow_statistics.hpp>

namespace astrolabe::experiment {
namespace {

constexpr std::size_t kMostUnfinished = 16;
constexpr std::size_t kMostIntervals = 64;
constexpr std::size_t kFewestForIntervals = 30;
constexpr double kNormal95 = 1.959963984540054;  // 97.5 % of a normal distribution are below
/// The fluid engine may end each message of a chain early by 2^-36 of its duration.
constexpr double kRounding = 0x1p-30;
/// Rates of paths that are split are whole bits a second in an ideal time, and doubles in the engine.
constexpr Time kPicosecond{1};

Estimate mean_of(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    Estimate estimate{mean, {}, {}};
    if (values.size() >= kFewestForIntervals) {
        const double squares =
            std::accumulate(values.begin(), values.end(), 0.0,
                            [mean](double sum, double v) { return sum + (v - mean) * (v - mean); });
        const double half = kNormal95 * std::sqrt(squares / (n - 1) / n);
        estimate.low = mean - half;
        estimate.high = mean + half;
    }
    return estimate;
}

/// Of values in order.
Estimate percentile_of(const std::vector<double>& values, double share) {
    const auto n = static_cast<double>(values.size());
    const auto last = values.size() - 1;
    Estimate estimate{values[std::min(static_cast<std::size_t>(share * n), last)], {}, {}};
    if (values.size() >= kFewestForIntervals) {
        const double half = kNormal95 * std::sqrt(n * share * (1 - share));
        const double low = std::floor(share * n - half);
        const double high = std::ceil(share * n + half);
        if (low >= 0) {
            estimate.low = values[static_cast<std::size_t>(low)];
        }
        if (high <= static_cast<double>(last)) {
            estimate.high = values[static_cast<std::size_t>(high)];
        }
    }
    return estimate;
}

Time time_to_carry(Bytes bytes, Bandwidth rate) {
    return bytes / rate;
}

}  // namespace

ValueSummary summarise(std::vector<double>& values) {
    ValueSummary summary;
    summary.percentiles.resize(kFlowPercentiles.size());
    if (values.empty()) {
        return summary;
    }
    std::sort(values.begin(), values.end());
    summary.mean = mean_of(values);
    for (std::size_t i = 0; i < kFlowPercentiles.size(); ++i) {
        summary.percentiles[i] = percentile_of(values, kFlowPercentiles[i].share);
    }
    summary.max = values.back();
    return summary;
}

void FlowStatistics::Series::widen() {
    for (std::size_t i = 0; i < sums_.size(); i += 2) {
        sums_[i / 2] = sums_[i] + (i + 1 < sums_.size() ? sums_[i + 1] : Bytes(0));
    }
    sums_.resize((sums_.size() + 1) / 2);
    interval_ = interval_ * 2;
}

void FlowStatistics::Series::add(Time at, Bytes bytes) {
    while (at / interval_ >= static_cast<std::int64_t>(kMostIntervals)) {
        widen();
    }
    const auto place = static_cast<std::size_t>(at / interval_);
    if (place >= sums_.size()) {
        sums_.resize(place + 1);
    }
    sums_[place] += bytes;
}

std::vector<double> FlowStatistics::Series::rates(Time interval, Time end) const {
    Series wide = *this;
    while (wide.interval_ < interval) {
        wide.widen();
    }
    const auto count = static_cast<std::size_t>((end.count() + interval.count() - 1) / interval.count());
    wide.sums_.resize(std::max(count, wide.sums_.size()));
    std::vector<double> rates;
    for (std::size_t i = 0; i < wide.sums_.size(); ++i) {
        const Time from = interval * static_cast<std::int64_t>(i);
        const Time length = end > from ? std::min(interval, end - from) : interval;
        rates.push_back(static_cast<double>(wide.sums_[i].count()) / to_seconds(length));
    }
    return rates;
}

FlowStatistics::FlowStatistics(const Experiment& experiment, const std::vector<Bytes>& size_limits)
    : fabric_(*experiment.fabric),
      shares_links_(experiment.backend.shares_links),
      ideal_(experiment.fabric, experiment.backend),
      size_limits_(size_limits),
      sources_(experiment.fabric->host_count()),
      destinations_(experiment.fabric->host_count()) {}

void FlowStatistics::flow_delivered(const system::DeliveredFlow& flow) {
    const Time time = flow.delivered - flow.start;
    const Time ideal = ideal_.of(flow.source, flow.destination, flow.size);
    const double slowdown = to_seconds(time) / to_seconds(ideal);
    ASTROLABE_ASSERT(
        !shares_links_ || time + kPicosecond >= ideal || slowdown >= 1 - kRounding,
        fmt::format("no flow is faster than alone, but {} of host {} to host {} take {} ps of {}",
                    to_string(flow.size), flow.source.index(), flow.destination.index(), time.count(),
                    ideal.count()));
    delivered_.push_back({flow.size, time, std::max(slowdown, 1.0)});
    longest_ = std::max(longest_, flow.start + std::min(ideal, time));
    for (Port* port : {&sources_[flow.source.index()], &destinations_[flow.destination.index()]}) {
        port->since = std::min(port->since, flow.start);
        port->bytes += flow.size;
    }
    offered_.add(flow.start, flow.size);
    completed_.add(flow.delivered, flow.size);
    print_.add(std::uint64_t{flow.source.index()} << 32 | flow.destination.index());
    print_.add(flow.size.count());
    print_.add(flow.start.count());
    print_.add(flow.delivered.count());
}

SizeClass FlowStatistics::summary_of(Bytes above, std::optional<Bytes> to) const {
    SizeClass summary;
    summary.above = above;
    summary.to = to;
    std::vector<double> seconds;
    std::vector<double> slowdown;
    for (const Delivered& flow : delivered_) {
        if (flow.size > above && (!to || flow.size <= *to)) {
            summary.bytes += flow.size;
            seconds.push_back(to_seconds(flow.time));
            slowdown.push_back(flow.slowdown);
        }
    }
    summary.flows = seconds.size();
    summary.seconds = summarise(seconds);
    summary.slowdown = summarise(slowdown);
    return summary;
}

Time FlowStatistics::ports_bound() const {
    Time bound = longest_;
    for (std::size_t host = 0; host < sources_.size(); ++host) {
        const network::HostId id(host);
        if (sources_[host].bytes > Bytes(0)) {
            bound = std::max(
                bound, sources_[host].since + time_to_carry(sources_[host].bytes, fabric_.egress_rate(id)));
        }
        if (destinations_[host].bytes > Bytes(0)) {
            bound = std::max(bound, destinations_[host].since +
                                        time_to_carry(destinations_[host].bytes, fabric_.ingress_rate(id)));
        }
    }
    return bound;
}

FlowResults FlowStatistics::results(const system::FlowInjector& injector, Time end) const {
    FlowResults results;
    results.started = injector.started();
    results.delivered = injector.delivered();
    results.started_bytes = injector.started_bytes();
    results.delivered_bytes = injector.delivered_bytes();
    results.is_at_limit = injector.is_at_limit();
    results.unfinished = injector.unfinished(kMostUnfinished);
    results.all = summary_of(Bytes(0), std::nullopt);
    Bytes above(0);
    for (const Bytes limit : size_limits_) {
        results.classes.push_back(summary_of(above, limit));
        above = limit;
    }
    results.classes.push_back(summary_of(above, std::nullopt));
    results.interval = std::max(offered_.interval(), completed_.interval());
    results.offered = offered_.rates(results.interval, end);
    results.completed = completed_.rates(results.interval, end);
    results.ports_bound = shares_links_ ? ports_bound() : longest_;
    Fingerprint print = print_;
    print.add(injector.started());
    results.fingerprint = print.text();
    return results;
}

}  // namespace astrolabe::experiment
