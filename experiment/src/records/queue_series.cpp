#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/records/queue_series.hpp>
#include <astrolabe/experiment/results/csv.hpp>

namespace astrolabe::experiment {

using network::LinkId;
using network::PacketEvent;
using network::PacketEventKind;

QueueSeries::QueueSeries(const network::Fabric& fabric, Time interval, OutputFile file)
    : fabric_(fabric),
      interval_(interval),
      file_(std::move(file)),
      next_(interval),
      queues_(fabric.link_count()) {
    ASTROLABE_ASSERT(interval > Time(0), "samples are apart");
    file_.append("time_s,link,source,destination,waiting_bytes,peak_bytes\n");
}

bool QueueSeries::wants(const PacketEvent& event) const {
    return event.what == PacketEventKind::kEnqueued || event.what == PacketEventKind::kStarted;
}

void QueueSeries::take(const PacketEvent& event) {
    sample_until(event.time);
    Queue& queue = queues_[event.link.index()];
    if (event.time > queue.since) {
        queue.peak = std::max(queue.peak, queue.waiting);
        queue.since = event.time;
    }
    queue.waiting = event.waiting;
    if (!queue.is_active && queue.waiting > Bytes(0)) {
        queue.is_active = true;
        active_.push_back(event.link);
    }
}

void QueueSeries::sample_until(Time time) {
    while (next_ < time) {
        if (active_.empty()) {
            next_ += interval_ * ((time - next_).count() / interval_.count());
            if (next_ >= time) {
                return;
            }
        }
        write_sample();
        if (interval_ > Time::max() - next_) {
            next_ = Time::max();
            return;
        }
        next_ += interval_;
    }
}

void QueueSeries::write_sample() {
    std::sort(active_.begin(), active_.end());
    std::size_t kept = 0;
    for (const LinkId link : active_) {
        Queue& queue = queues_[link.index()];
        if (queue.since < next_) {
            queue.peak = std::max(queue.peak, queue.waiting);
        }
        if (queue.waiting > Bytes(0) || queue.peak > Bytes(0)) {
            file_.append(fmt::format("{},{},{},{},{},{}\n", exact_seconds(next_), link.index(),
                                     csv_field(fabric_.node(fabric_.source(link)).name),
                                     csv_field(fabric_.node(fabric_.target(link)).name),
                                     queue.waiting.count(), queue.peak.count()));
        }
        queue.peak = Bytes(0);
        queue.is_active = queue.waiting > Bytes(0);
        if (queue.is_active) {
            active_[kept++] = link;
        }
    }
    active_.resize(kept);
}

std::optional<Diagnostic> QueueSeries::finish(Time end) {
    sample_until(end < Time::max() ? end + Time(1) : end);
    return file_.finish();
}

}  // namespace astrolabe::experiment
