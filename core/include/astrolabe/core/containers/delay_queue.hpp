/// Events at now + delay, where few delays occur often: message deliveries (one delay per path latency) and
/// timers.
///
/// Events with the same delay fall due in the order they were pushed, so each delay has a *lane*, a plain
/// queue. The next event is the earliest of the lane fronts. A lane that runs empty is given to the next new
/// delay; while all kLanes are taken by other delays, events go to a binary heap. Events of equal time leave
/// in the order pushed, whatever holds them.
///
/// Complexity: a push finds the lane of the last one at once and others in O(kLanes), a pop looks at the
/// lanes that are not empty; O(log n) for events in the heap.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <astrolabe/core/containers/ring_queue.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe {

template <class Event>
class DelayQueue {
public:
    struct Entry {
        Time time;
        std::uint64_t sequence = 0;
        Event event;
    };

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Time::max() when empty.
    [[nodiscard]] Time next_time() const { return next_.time; }

    /// now + delay must be representable. `now` seldom falls from call to call: what falls due before the
    /// last of its lane goes to the heap.
    void push(Time now, Time delay, const Event& event) {
        const Entry entry{now + delay, sequence_++, event};
        ++size_;
        std::size_t lane = lane_of(delay);
        if (lane != kHeap && !lanes_[lane].empty() && lanes_[lane].back().time > entry.time) {
            lane = kHeap;
        }
        if (lane == kHeap) {
            heap_.push_back(entry);
            std::push_heap(heap_.begin(), heap_.end(), later);
        } else {
            lanes_[lane].push(entry);
            used_lanes_ |= 1U << lane;
        }
        if (entry.time < next_.time) {
            next_ = {entry.time, entry.sequence, lane};
        }
    }

    /// The event that falls due at now + delay and was pushed last, if none that falls due then can be
    /// between it and one pushed now: the two may be made one. Null otherwise, and always for events in the
    /// heap.
    [[nodiscard]] Event* newest(Time now, Time delay) {
        const std::size_t lane = find_lane(delay);
        if (lane == kHeap || lanes_[lane].empty() || lanes_[lane].back().time != now + delay) {
            return nullptr;
        }
        return &lanes_[lane].back().event;
    }

    /// Removes and returns the next event. Precondition: not empty.
    Event pop() {
        Event event;
        if (next_.lane == kHeap) {
            event = heap_.front().event;
            std::pop_heap(heap_.begin(), heap_.end(), later);
            heap_.pop_back();
        } else {
            event = lanes_[next_.lane].front().event;
            lanes_[next_.lane].pop();
            used_lanes_ &= ~(unsigned{lanes_[next_.lane].empty()} << next_.lane);
        }
        --size_;
        find_next();
        return event;
    }

    /// Calls visit(time, event) for all events, in no particular order.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (const RingQueue<Entry>& lane : lanes_) {
            for (std::size_t i = 0; i < lane.size(); ++i) {
                visit(lane[i].time, lane[i].event);
            }
        }
        for (const Entry& entry : heap_) {
            visit(entry.time, entry.event);
        }
    }

    /// Removes the events of which take(event) holds, and then calls visit(time, event) for them in the order
    /// in which they would have been popped. O(n log n).
    template <class Take, class Visitor>
    void take_out(Take&& take, Visitor&& visit) {
        std::vector<Entry> taken;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            for (std::size_t left = lanes_[lane].size(); left > 0; --left) {
                const Entry entry = lanes_[lane].front();
                lanes_[lane].pop();
                if (take(entry.event)) {
                    taken.push_back(entry);
                } else {
                    lanes_[lane].push(entry);
                }
            }
            used_lanes_ &= ~(unsigned{lanes_[lane].empty()} << lane);
        }
        const auto others = std::partition(heap_.begin(), heap_.end(),
                                           [&](const Entry& entry) { return !take(entry.event); });
        taken.insert(taken.end(), others, heap_.end());
        heap_.erase(others, heap_.end());
        std::make_heap(heap_.begin(), heap_.end(), later);
        size_ -= taken.size();
        find_next();
        std::sort(taken.begin(), taken.end(), [](const Entry& a, const Entry& b) { return later(b, a); });
        for (const Entry& entry : taken) {
            visit(entry.time, entry.event);
        }
    }

private:
    static constexpr std::size_t kLanes = 8;
    static constexpr std::size_t kHeap = kLanes;

    struct Next {
        Time time = Time::max();
        std::uint64_t sequence = 0;
        std::size_t lane = kHeap;
    };

    static bool later(const Entry& a, const Entry& b) {
        return a.time > b.time || (a.time == b.time && a.sequence > b.sequence);
    }

    /// That of the delay; kHeap: it has none.
    [[nodiscard]] std::size_t find_lane(Time delay) const {
        return delays_[last_lane_] == delay
                   ? last_lane_
                   : static_cast<std::size_t>(std::ranges::find(delays_, delay) - delays_.begin());
    }

    [[nodiscard]] std::size_t lane_of(Time delay) {
        std::size_t lane = find_lane(delay);
        if (lane == kHeap) {
            lane = static_cast<std::size_t>(std::countr_one(used_lanes_));
            if (lane >= kLanes) {
                return kHeap;
            }
            delays_[lane] = delay;
        }
        last_lane_ = lane;
        return lane;
    }

    void find_next() {
        next_ = Next{};
        const auto consider = [this](const Entry& entry, std::size_t lane) {
            if (entry.time < next_.time || (entry.time == next_.time && entry.sequence < next_.sequence)) {
                next_ = {entry.time, entry.sequence, lane};
            }
        };
        for (unsigned lanes = used_lanes_; lanes != 0; lanes &= lanes - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
            consider(lanes_[lane].front(), lane);
        }
        if (!heap_.empty()) {
            consider(heap_.front(), kHeap);
        }
    }

    std::array<RingQueue<Entry>, kLanes> lanes_;
    std::array<Time, kLanes> delays_ = filled_with_no_delay();
    unsigned used_lanes_ = 0;    // a bit for each that is not empty
    std::size_t last_lane_ = 0;  // of the last push: most often that of the next
    std::vector<Entry> heap_;
    std::size_t size_ = 0;
    std::uint64_t sequence_ = 0;
    Next next_;

    static std::array<Time, kLanes> filled_with_no_delay() {
        std::array<Time, kLanes> delays;
        delays.fill(Time(-1));
        return delays;
    }
};

}  // namespace astrolabe
