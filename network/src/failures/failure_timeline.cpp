#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/failures/failure_timeline.hpp>

namespace astrolabe::network {

namespace {

template <class Change>
void sort_by_time(std::vector<Change>& changes) {
    std::ranges::sort(changes, [](const Change& a, const Change& b) {
        return std::tuple(a.at, a.link) < std::tuple(b.at, b.link);
    });
}

}  // namespace

FailureTimeline::FailureTimeline(std::vector<LinkFailure> failures, Time detection)
    : detection_(detection) {
    ASTROLABE_ASSERT(detection >= Time(0), "what happens is not detected before");
    std::ranges::sort(failures, [](const LinkFailure& a, const LinkFailure& b) {
        return std::tuple(a.link, a.from) < std::tuple(b.link, b.from);
    });
    for (auto first = failures.begin(); first != failures.end();) {
        const auto last = std::find_if(first, failures.end(),
                                       [&](const LinkFailure& each) { return each.link != first->link; });
        change_rates({first, last});
        first = last;
    }
    sort_by_time(rate_changes_);
    sort_by_time(route_changes_);
}

void FailureTimeline::change_rates(std::span<const LinkFailure> of_link) {
    struct Edge {
        Time at;
        bool begins;
        double factor;
    };
    std::vector<Edge> edges;
    for (const LinkFailure& failure : of_link) {
        ASTROLABE_ASSERT(failure.from >= Time(0) && failure.from < failure.until,
                         "a failure holds for a time");
        ASTROLABE_ASSERT(failure.factor >= 0 && failure.factor < 1, "a failure takes something away");
        edges.push_back({failure.from, true, failure.factor});
        if (failure.until < Time::max()) {
            edges.push_back({failure.until, false, failure.factor});
        }
    }
    std::ranges::stable_sort(edges, {}, &Edge::at);
    const std::size_t before = rate_changes_.size();
    std::multiset<double> holding;
    double factor = 1;
    for (std::size_t i = 0; i < edges.size();) {
        const Time at = edges[i].at;
        for (; i < edges.size() && edges[i].at == at; ++i) {
            if (edges[i].begins) {
                holding.insert(edges[i].factor);
            } else {
                holding.erase(holding.find(edges[i].factor));
            }
        }
        const double now = holding.empty() ? 1.0 : *holding.begin();
        if (std::exchange(factor, now) != now) {
            rate_changes_.push_back({at, of_link.front().link, now});
        }
    }
    change_routes(std::span(rate_changes_).subspan(before));
}

void FailureTimeline::change_routes(std::span<const RateChange> of_link) {
    bool is_down = false;
    for (const RateChange& change : of_link) {
        const bool now = change.factor == 0;
        if (std::exchange(is_down, now) == now) {
            continue;
        }
        const Time delay = change.at == Time(0) ? Time(0) : detection_;
        if (delay < Time::max() - change.at) {  // else nobody learns of it
            route_changes_.push_back({change.at + delay, change.link, now});
        }
    }
}

}  // namespace astrolabe::network
