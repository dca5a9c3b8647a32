/// Events by time, for many that fall due within the next few days: a calendar.
///
/// Time is cut into days of equal length. Events of the next `days` days are written down under their day,
/// and put in order when it comes. Those of the day that is open and those beyond all days wait in a heap.
/// Events of one time leave in the order pushed.
///
/// Complexity: push O(1), or O(log heap) for an event in the heap; pop amortised O(log events of its day).
/// Looking for the next event passes over days without any, `days` at most. Memory: the event and 32 bytes.
///
/// Source: Brown, Calendar queues, CACM 31 (1988), with the length of a day given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe {

template <class Event>
class CalendarQueue {
public:
    /// Precondition: both positive.
    CalendarQueue(Time day, std::uint64_t days)
        : length_(day),
          days_(days) {}

    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] std::size_t size() const { return open_.size() + in_days_ + heap_.size(); }

    /// Of the next event; Time::max() if there is none.
    [[nodiscard]] Time next_time() {
        if (open_.empty() && in_days_ > 0) {
            open_next_day();
        }
        const Time open = open_.empty() ? Time::max() : open_.back().time;
        return heap_.empty() ? open : std::min(open, heap_.top().time);
    }

    /// `time` is no earlier than that of the event popped last.
    void push(Time time, const Event& event) {
        const auto day = static_cast<std::uint64_t>(time / length_);
        if (day > today_ && day - today_ <= days_.size()) {
            days_[day % days_.size()].push_back({time, pushed_++, event});
            ++in_days_;
        } else {
            heap_.push({time, pushed_++, event});
        }
    }

    /// Removes and returns the next event. Precondition: `next_time` was asked for since the last change.
    [[nodiscard]] Event pop() {
        if (is_next_open()) {
            constexpr std::size_t kAhead = 8;
            if (open_.size() > kAhead) {
                __builtin_prefetch(&today_events_[open_[open_.size() - 1 - kAhead].number].event);
            }
            const Event event = today_events_[open_.back().number].event;
            open_.pop_back();
            return event;
        }
        const Entry entry = heap_.top();
        heap_.pop();
        if (open_.empty() && in_days_ == 0) {
            // After a pause longer than all days what follows is written down again.
            today_ = std::max(today_, static_cast<std::uint64_t>(entry.time / length_));
        }
        return entry.event;
    }

    /// `look(event)` for each, in no order.
    template <class Look>
    void for_each(Look&& look) const {
        for (const Key& key : open_) {
            look(today_events_[key.number].event);
        }
        for (const std::vector<Entry>& day : days_) {
            for (const Entry& entry : day) {
                look(entry.event);
            }
        }
        for (auto left = heap_; !left.empty(); left.pop()) {
            look(left.top().event);
        }
    }

private:
    struct Entry {
        Time time;
        std::uint64_t pushed = 0;  ///< before it, since the start
        Event event;

        bool operator>(const Entry& other) const {
            return time > other.time || (time == other.time && pushed > other.pushed);
        }
    };
    struct Key {
        Time time;
        std::uint32_t number = 0;  ///< in today_events_, where they are in the order pushed

        bool operator>(const Key& other) const {
            return time > other.time || (time == other.time && number > other.number);
        }
    };

    [[nodiscard]] bool is_next_open() const {
        return !open_.empty() && (heap_.empty() || heap_.top() > today_events_[open_.back().number]);
    }

    /// Precondition: nothing is left of today, and something is written down.
    void open_next_day() {
        do {
            ++today_;
        } while (days_[today_ % days_.size()].empty());
        today_events_.clear();
        today_events_.swap(days_[today_ % days_.size()]);
        in_days_ -= today_events_.size();
        for (const Entry& entry : today_events_) {
            open_.push_back({entry.time, static_cast<std::uint32_t>(open_.size())});
        }
        std::sort(open_.begin(), open_.end(), std::greater<>());
    }

    Time length_;
    std::vector<std::vector<Entry>> days_;  // after today, round and round
    std::uint64_t in_days_ = 0;
    std::uint64_t today_ = 0;
    std::vector<Entry> today_events_;
    std::vector<Key> open_;  // left of today; the next one last
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
    std::uint64_t pushed_ = 0;
};

}  // namespace astrolabe
