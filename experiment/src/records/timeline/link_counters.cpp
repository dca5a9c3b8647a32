#include "link_counters.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace astrolabe::experiment {

using network::LinkId;

namespace {

constexpr std::size_t kMostCounterIntervals = 2000;
constexpr std::size_t kFewestIntervals = 33;
constexpr std::size_t kMostMemory = std::size_t{32} << 20;
/// Of a track, what an interval takes in the record.
constexpr std::size_t kBytesOfInterval = 64;
/// The busiest links keep their intervals rather than that more links are shown.
constexpr std::size_t kWorthSamples = 64;

/// A second or so of looking at links whatever the run, and then a fraction of what a message costs.
constexpr std::uint64_t kFirstAllowance = 200'000'000;
constexpr std::uint64_t kAllowancePerLook = 30;
constexpr std::uint64_t kVisitsPerConnection = 4;

/// Of a mean queue, what is shown: thousandths of a byte.
constexpr double kPerByte = 1000;

constexpr double kBitsPerSecondPicosecond = 8.0 * static_cast<double>(kPicosecondsPerSecond);

/// Bytes that a link of this rate carries in the time.
double room(Bandwidth rate, Time time) {
    return static_cast<double>(rate.count()) * static_cast<double>(time.count()) / kBitsPerSecondPicosecond;
}

/// Intervals for which there is memory, if each takes so much for a track.
std::size_t most_of(std::size_t tracks, std::size_t bytes) {
    // One host alone has no links.
    return std::clamp(kMostMemory / (std::max<std::size_t>(1, tracks) * bytes), kFewestIntervals,
                      kMostCounterIntervals);
}

/// Of a rank: a run takes at least as long.
Time compute_of(const Experiment& experiment) {
    Time compute;
    for (const system::Operation& operation : experiment.program.operations) {
        if (operation.is_compute()) {
            compute += operation.compute().duration[system::RankId(0)];
        }
    }
    return compute;
}

LinkGroups groups_of(const LinkTracks& tracks) {
    LinkGroups groups;
    for (LinkId link; link.index() < tracks.track_of.size(); ++link) {
        groups.of_link.push_back(tracks.track_of[link]);
    }
    for (const LinkTrack& track : tracks.tracks) {
        groups.bytes_a_second.push_back(to_bytes_per_second(track.rate));
    }
    return groups;
}

}  // namespace

LinkCounters::LinkCounters(const Experiment& experiment, const LinkTracks& tracks)
    : tracks_(tracks),
      has_queues_(experiment.backend.reports_packets),
      most_intervals_(most_of(tracks.tracks.size(), kBytesOfInterval)),
      most_samples_(most_of(tracks.tracks.size(), sizeof(double))),
      first_interval_(std::max(Time(1), compute_of(experiment) / most_intervals_)),
      record_(groups_of(tracks), first_interval_, most_intervals_),
      pairs_(experiment.fabric->host_count() * (experiment.fabric->host_count() - 1)),
      interval_(first_interval_),
      next_(interval_),
      allowance_(kFirstAllowance) {
    if (has_queues_) {
        samples_.emplace_back().waited.resize(tracks_.tracks.size());
    }
}

void LinkCounters::look(const network::NetworkBackend& backend) {
    if (!has_queues_) {
        return;
    }
    ++looks_;
    allowance_ += kAllowancePerLook;
    const Time now = backend.now();
    if (now < next_) {
        return;
    }
    const std::uint64_t cost = tracks_.track_of.size() + kVisitsPerConnection * std::min(looks_, pairs_);
    if (allowance_ < cost) {
        return;
    }
    allowance_ -= cost;
    take(backend.statistics(), now);
    if (samples_.size() == most_samples_) {
        drop_every_other();
        interval_ = std::max(interval_ * 2, now / (most_samples_ / 2));
    }
    next_ = now < Time::max() - interval_ ? now + interval_ : Time::max();
}

void LinkCounters::end(const Run& run) {
    record_.expect_totals(run.network, run.link_reports, under_way(run));
    reports_ = run.link_reports;
    end_ = run.execution.total;
    if (!has_queues_) {
        return;
    }
    if (samples_.size() > 1 && samples_.back().at == end_) {
        samples_.pop_back();
    }
    if (end_ > Time(0)) {
        take(run.network, end_);
    }
}

void LinkCounters::take(const network::NetworkStatistics& statistics, Time at) {
    Sample& sample = samples_.emplace_back();
    sample.at = at;
    sample.waited.resize(tracks_.tracks.size());
    for (std::size_t i = 0; i < statistics.links.size(); ++i) {
        sample.waited[tracks_.track_of[LinkId(i)]] +=
            statistics.links[LinkId(i)].queue_mean * static_cast<double>(at.count());
    }
}

void LinkCounters::drop_every_other() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples_.size(); i += 2) {
        std::swap(samples_[kept++], samples_[i]);
    }
    samples_.resize(kept);
}

std::vector<std::uint32_t> LinkCounters::busiest() const {
    std::vector<std::uint32_t> tracks(tracks_.tracks.size());
    std::iota(tracks.begin(), tracks.end(), 0U);
    std::erase_if(tracks, [&](std::uint32_t track) { return record_.wire_of(track) == 0; });
    const auto used = [&](std::uint32_t track) {
        return static_cast<double>(record_.wire_of(track)) /
               static_cast<double>(tracks_.tracks[track].rate.count());
    };
    std::stable_sort(tracks.begin(), tracks.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return used(a) > used(b); });
    return tracks;
}

std::vector<const LinkCounters::Sample*> LinkCounters::every(std::size_t step) const {
    std::vector<const Sample*> chosen;
    for (std::size_t i = 0; i + 1 < samples_.size(); i += step) {
        chosen.push_back(&samples_[i]);
    }
    chosen.push_back(&samples_.back());
    return chosen;
}

void LinkCounters::write_track(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                               std::size_t merged) const {
    write_utilization(writer, process, track, merged);
    if (has_queues_) {
        // As many samples as intervals are made one, if there are more of them.
        write_queue(writer, process, track, every(merged));
    }
}

std::size_t LinkCounters::fitting(const std::vector<std::uint32_t>& tracks, std::size_t merged,
                                  TraceProcess process, std::uint64_t bytes) const {
    // A first event is one line's end shorter than it will be.
    constexpr std::uint64_t kLineEnd = 2;
    std::size_t count = 0;
    TraceWriter counting;
    const std::uint64_t begin = counting.written();
    while (count < tracks.size()) {
        write_track(counting, process, tracks[count], merged);
        if (counting.written() - begin + kLineEnd > bytes) {
            break;
        }
        ++count;
    }
    return count;
}

CounterCoverage LinkCounters::write(TraceWriter& writer, TraceProcess process, std::uint64_t bytes,
                                    std::size_t most) const {
    std::vector<std::uint32_t> tracks = busiest();
    CounterCoverage coverage{.busy = tracks.size()};
    tracks.resize(std::min(tracks.size(), most));
    const std::size_t enough = std::min(tracks.size(), kWorthSamples);
    const auto intervals = static_cast<std::size_t>(end_ / record_.interval());
    coverage.shown = fitting(tracks, coverage.merged, process, bytes);
    while (coverage.shown < enough && intervals / coverage.merged >= kFewestIntervals) {
        coverage.merged *= 2;
        coverage.shown = fitting(tracks, coverage.merged, process, bytes);
    }
    for (std::size_t i = 0; i < coverage.shown; ++i) {
        write_track(writer, process, tracks[i], coverage.merged);
    }
    return coverage;
}

void LinkCounters::write_utilization(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                                     std::size_t merged) const {
    const LinkTrack& link = tracks_.tracks[track];
    const std::string name = quoted_json(link.name);
    double last = -1;
    const auto put = [&](Time at, double value) {
        if (value != last) {
            writer.counter(process, at, name, "utilization", value);
            last = value;
        }
    };
    const std::vector<CarriedRecord::Carried> carried = record_.intervals_of(track, reports_);
    const Time length =
        record_.interval() <= Time::max() / merged ? record_.interval() * merged : Time::max();
    Time at;
    double bytes = 0;
    std::size_t next = 0;
    const auto add = [&](std::size_t count) {
        for (const std::size_t end = std::min(next + count, carried.size()); next < end; ++next) {
            bytes += static_cast<double>(carried[next].wire) / IntervalSums::kUnits;
        }
    };
    while (at < end_) {
        const Time duration = std::min(length, end_ - at);
        const double most = room(link.rate, duration);
        add(merged);
        const double flows = std::min(bytes, most);
        put(at, flows / most);
        bytes -= flows;
        at += duration;
    }
    add(carried.size());
    const Time left = Bytes(static_cast<std::int64_t>(bytes + 0.5)) / link.rate;
    if (left > Time(0) && left < Time::max() - at) {
        put(at, 1);
        at += left;
    }
    put(at, 0);
}

void LinkCounters::write_queue(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                               const std::vector<const Sample*>& samples) const {
    if (samples.back()->waited[track] == 0) {
        return;
    }
    const std::string name = quoted_json(tracks_.tracks[track].name);
    double last = -1;
    const auto put = [&](Time at, double value) {
        if (value != last) {
            writer.counter(process, at, name, "waiting_bytes", value);
            last = value;
        }
    };
    // A port finds out late that packets have left, and takes back then what it counted of them before.
    std::vector<double> means(samples.size() - 1);
    double waited = 0;
    for (std::size_t i = means.size(); i-- > 0;) {
        const auto time = static_cast<double>((samples[i + 1]->at - samples[i]->at).count());
        waited += samples[i + 1]->waited[track] - samples[i]->waited[track];
        means[i] = std::max(0.0, std::round(waited / time * kPerByte) / kPerByte);
        waited -= means[i] * time;
    }
    for (std::size_t i = 0; i < means.size(); ++i) {
        put(samples[i]->at, means[i]);
    }
    put(samples.back()->at, 0);
}

}  // namespace astrolabe::experiment
