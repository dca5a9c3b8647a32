/// Reads a timeline as Perfetto does, and is as strict: slices of a thread nest or are apart, every end has a
/// begin, arrows begin and end in slices, ids are not used twice, and whatever has events has a name.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/units.hpp>

namespace astrolabe::testing {

struct TraceSlice {
    Time from;
    Time to;
    std::string category;
    std::string name;
    nlohmann::json arguments;
};

struct TraceArrow {
    Time from;
    Time to;
    std::string from_process;
    std::string to_thread;
    std::string name;
};

struct Trace {
    using Place = std::pair<std::string, std::string>;     ///< process and thread, or process and counter
    std::map<Place, std::vector<TraceSlice>> slices;       ///< by begin
    std::map<std::string, std::vector<TraceSlice>> spans;  ///< by process
    std::map<Place, std::vector<std::pair<Time, double>>> counters;
    std::vector<TraceArrow> arrows;
    std::vector<std::pair<Time, std::string>> instants;
    nlohmann::json facts;

    [[nodiscard]] std::set<std::string> processes() const {
        std::set<std::string> names;
        for (const auto& [place, list] : slices) {
            names.insert(place.first);
        }
        return names;
    }
};

class TraceReader {
public:
    explicit TraceReader(const std::string& text)
        : file_(nlohmann::json::parse(text)) {}

    Trace read() {
        trace_.facts = file_.at("otherData");
        std::vector<const nlohmann::json*> events;
        for (const nlohmann::json& event : file_.at("traceEvents")) {
            if (event.at("ph") == "M") {
                name(event);
            } else {
                events.push_back(&event);
            }
        }
        // By time in nanoseconds, rounded down, and as they stand in the file.
        std::stable_sort(events.begin(), events.end(), [](const nlohmann::json* a, const nlohmann::json* b) {
            return rounded(*a) < rounded(*b);
        });
        for (const nlohmann::json* event : events) {
            take(*event);
        }
        for (const auto& [thread, open] : open_) {
            EXPECT_TRUE(open.empty()) << "a slice of thread " << thread << " has no end";
        }
        EXPECT_TRUE(spans_.empty()) << "a span has no end";
        EXPECT_TRUE(arrows_.empty()) << "an arrow has no end";
        for (auto& [place, list] : trace_.slices) {
            check_apart(place, list);
        }
        return trace_;
    }

private:
    static std::int64_t rounded(const nlohmann::json& event) {
        return static_cast<std::int64_t>(event.at("ts").get<double>() * 1000);
    }
    static Time time(const nlohmann::json& event) {
        return Time(std::llround(event.at("ts").get<double>() * 1e6));
    }

    void name(const nlohmann::json& event) {
        const std::string what = event.at("name");
        if (what == "process_name" || what == "thread_name") {
            const std::string name = event.at("args").at("name");
            const std::int64_t id = event.at(what == "process_name" ? "pid" : "tid");
            EXPECT_TRUE((what == "process_name" ? processes_ : threads_).emplace(id, name).second) << name;
        }
    }

    [[nodiscard]] std::string process(const nlohmann::json& event) const {
        return processes_.at(event.at("pid"));
    }
    [[nodiscard]] Trace::Place thread(const nlohmann::json& event) const {
        return {process(event), threads_.at(event.at("tid"))};
    }

    void take(const nlohmann::json& event) {
        const std::string phase = event.at("ph");
        if (phase == "B") {
            open_[event.at("tid")].push_back(&event);
        } else if (phase == "E") {
            auto& open = open_[event.at("tid")];
            ASSERT_FALSE(open.empty()) << "an end without a begin: " << event;
            const nlohmann::json& begin = *open.back();
            open.pop_back();
            trace_.slices[thread(begin)].push_back(
                {time(begin), time(event), begin.at("cat"), begin.at("name"), begin.at("args")});
        } else if (phase == "b" || phase == "e") {
            take_span(phase == "b", event);
        } else if (phase == "s" || phase == "f") {
            take_arrow(phase == "s", event);
        } else if (phase == "C") {
            for (const auto& [key, value] : event.at("args").items()) {
                auto& list =
                    trace_.counters[{process(event), event.at("name").get<std::string>() + " " + key}];
                EXPECT_TRUE(list.empty() || list.back().first < time(event)) << event;
                list.emplace_back(time(event), value.get<double>());
            }
        } else {
            ASSERT_EQ(phase, "i");
            trace_.instants.emplace_back(time(event), event.at("name"));
        }
    }

    void take_span(bool is_begin, const nlohmann::json& event) {
        const std::tuple<std::string, std::string, std::string> key{event.at("id"), event.at("cat"),
                                                                    event.at("name")};
        if (is_begin) {
            EXPECT_TRUE(ids_.insert(event.at("id")).second) << "an id is used twice: " << event;
            spans_.emplace(key, &event);
            return;
        }
        const auto begin = spans_.find(key);
        ASSERT_NE(begin, spans_.end()) << "an end without a begin: " << event;
        trace_.spans[process(event)].push_back({time(*begin->second), time(event), event.at("cat"),
                                                event.at("name"), begin->second->at("args")});
        spans_.erase(begin);
    }

    void take_arrow(bool is_begin, const nlohmann::json& event) {
        EXPECT_FALSE(open_[event.at("tid")].empty()) << "an arrow stands in a slice: " << event;
        const std::string id = event.at("id");
        if (is_begin) {
            EXPECT_TRUE(ids_.insert(id).second) << "an id is used twice: " << event;
            arrows_.emplace(id, &event);
            return;
        }
        const auto begin = arrows_.find(id);
        ASSERT_NE(begin, arrows_.end()) << "an arrow without a begin: " << event;
        trace_.arrows.push_back({time(*begin->second), time(event), process(*begin->second),
                                 thread(event).second, event.at("name")});
        arrows_.erase(begin);
    }

    static void check_apart(const Trace::Place& place, std::vector<TraceSlice>& list) {
        std::stable_sort(list.begin(), list.end(), [](const TraceSlice& a, const TraceSlice& b) {
            return std::pair(a.from, a.to) < std::pair(b.from, b.to);
        });
        for (std::size_t i = 0; i + 1 < list.size(); ++i) {
            EXPECT_LE(list[i].to, list[i + 1].from) << place.first << ", " << place.second;
        }
    }

    nlohmann::json file_;
    Trace trace_;
    std::map<std::int64_t, std::string> processes_;
    std::map<std::int64_t, std::string> threads_;
    std::map<std::int64_t, std::vector<const nlohmann::json*>> open_;  ///< by thread
    std::map<std::tuple<std::string, std::string, std::string>, const nlohmann::json*> spans_;
    std::map<std::string, const nlohmann::json*> arrows_;
    std::set<std::string> ids_;
};

}  // namespace astrolabe::testing
