#include "link_counters.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace astrolabe::experiment {

using network::LinkId;

namespace {

constexpr std::size_t kMostSamples = 2000;
constexpr std::size_t kFewestSamples = 33;
constexpr std::size_t kMostMemory = std::size_t{32} << 20;
/// The busiest links keep their samples rather than that more links are shown.
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

}  // namespace

LinkCounters::LinkCounters(const Experiment& experiment, const LinkTracks& tracks)
    : tracks_(tracks),
      shares_links_(experiment.backend.shares_links),
      has_queues_(experiment.backend.reports_packets),
      pairs_(experiment.fabric->host_count() * (experiment.fabric->host_count() - 1)),
      allowance_(kFirstAllowance) {
    // One host alone has no links.
    const std::size_t of_sample = std::max<std::size_t>(1, tracks_.tracks.size()) * (has_queues_ ? 16 : 8);
    most_samples_ = std::clamp(kMostMemory / of_sample, kFewestSamples, kMostSamples);
    // A run takes at least as long as a rank computes.
    Time compute;
    for (const system::Operation& operation : experiment.program.operations) {
        if (operation.is_compute()) {
            compute += operation.compute().duration[system::RankId(0)];
        }
    }
    interval_ = std::max(Time(1), compute / most_samples_);
    next_ = interval_;
    Sample& first = samples_.emplace_back();
    first.carried.resize(tracks_.tracks.size());
    first.waited.resize(has_queues_ ? tracks_.tracks.size() : 0);
}

void LinkCounters::look(const network::NetworkBackend& backend) {
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

void LinkCounters::end(const network::NetworkStatistics& statistics, Time end) {
    if (samples_.size() > 1 && samples_.back().at == end) {
        samples_.pop_back();
    }
    if (end > Time(0)) {
        take(statistics, end);
    }
}

void LinkCounters::take(const network::NetworkStatistics& statistics, Time at) {
    Sample& sample = samples_.emplace_back();
    sample.at = at;
    sample.carried.resize(tracks_.tracks.size());
    sample.waited.resize(has_queues_ ? tracks_.tracks.size() : 0);
    for (std::size_t i = 0; i < statistics.links.size(); ++i) {
        const network::LinkStatistics& link = statistics.links[LinkId(i)];
        const std::uint32_t track = tracks_.track_of[LinkId(i)];
        sample.carried[track] += link.carried.count();
        if (has_queues_) {
            sample.waited[track] += link.queue_mean * static_cast<double>(at.count());
        }
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
    const std::vector<std::int64_t>& carried = samples_.back().carried;
    std::erase_if(tracks, [&](std::uint32_t track) { return carried[track] == 0; });
    std::stable_sort(tracks.begin(), tracks.end(), [&](std::uint32_t a, std::uint32_t b) {
        // carried / rate, without division
        using detail::Int128;
        return Int128{carried[a]} * tracks_.tracks[b].rate.count() >
               Int128{carried[b]} * tracks_.tracks[a].rate.count();
    });
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
                               const std::vector<const Sample*>& samples) const {
    write_utilization(writer, process, track, samples);
    write_queue(writer, process, track, samples);
}

std::size_t LinkCounters::fitting(const std::vector<std::uint32_t>& tracks,
                                  const std::vector<const Sample*>& samples, TraceProcess process,
                                  std::uint64_t bytes) const {
    // A first event is one line's end shorter than it will be.
    constexpr std::uint64_t kLineEnd = 2;
    std::size_t count = 0;
    TraceWriter counting;
    const std::uint64_t begin = counting.written();
    while (count < tracks.size()) {
        write_track(counting, process, tracks[count], samples);
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
    std::vector<const Sample*> samples = every(1);
    coverage.shown = fitting(tracks, samples, process, bytes);
    while (coverage.shown < enough && samples.size() >= kFewestSamples) {
        coverage.merged *= 2;
        samples = every(coverage.merged);
        coverage.shown = fitting(tracks, samples, process, bytes);
    }
    for (std::size_t i = 0; i < coverage.shown; ++i) {
        write_track(writer, process, tracks[i], samples);
    }
    return coverage;
}

void LinkCounters::write_utilization(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                                     const std::vector<const Sample*>& samples) const {
    const LinkTrack& link = tracks_.tracks[track];
    const std::string name = quoted_json(link.name);
    double last = -1;
    const auto put = [&](Time at, double value) {
        if (value != last) {
            writer.counter(process, at, name, "utilization", value);
            last = value;
        }
    };
    double waiting = 0;
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
        waiting += static_cast<double>(samples[i + 1]->carried[track] - samples[i]->carried[track]);
        const double most = room(link.rate, samples[i + 1]->at - samples[i]->at);
        const double flows = shares_links_ ? std::min(waiting, most) : waiting;
        waiting -= flows;
        put(samples[i]->at, flows / most);
    }
    Time at = samples.back()->at;
    const Time left = Bytes(static_cast<std::int64_t>(waiting + 0.5)) / link.rate;
    if (left > Time(0) && left < Time::max() - at) {
        put(at, 1);
        at += left;
    }
    put(at, 0);
}

void LinkCounters::write_queue(TraceWriter& writer, TraceProcess process, std::uint32_t track,
                               const std::vector<const Sample*>& samples) const {
    if (!has_queues_ || samples.back()->waited[track] == 0) {
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
