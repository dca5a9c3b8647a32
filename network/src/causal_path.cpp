#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/analysis/link_utilization.hpp>
#include <astrolabe/network/causal_path.hpp>

namespace astrolabe::network {

namespace {

constexpr std::uint32_t kNobody = 0xffffffffU;

}  // namespace

/// Steps, each caused by another, in chains that share their beginnings. A step lives while something refers
/// to it: a later step, a message in flight, a timer, or the notification that is being made.
class CauseTracker::Chains {
public:
    explicit Chains(std::size_t resources)
        : resources_(resources) {}

    /// Takes over the caller's reference to `cause`; the new step has one reference, the caller's.
    [[nodiscard]] std::uint32_t add(std::uint32_t cause, std::uint32_t label, Time from, Time to,
                                    std::span<const Time> times) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(steps_.size()));
            steps_.emplace_back();
            times_.resize(times_.size() + resources_);
        }
        const std::uint32_t number = free_.back();
        free_.pop_back();
        steps_[number] = {.cause = cause, .references = 1, .label = label, .from = from, .to = to};
        std::copy(times.begin(), times.end(), times_of(number).begin());
        absorb_cause(number);
        return number;
    }

    void refer(std::uint32_t number) {
        if (number != kNobody) {
            ++steps_[number].references;
        }
    }
    void drop(std::uint32_t number) {
        while (number != kNobody && --steps_[number].references == 0) {
            free_.push_back(number);
            number = steps_[number].cause;
        }
    }
    [[nodiscard]] std::size_t kept() const { return steps_.size() - free_.size(); }
    [[nodiscard]] Time end(std::uint32_t number) const { return steps_[number].to; }

    [[nodiscard]] std::vector<CausalSegment> path_to(std::uint32_t number) const {
        std::vector<CausalSegment> path;
        for (; number != kNobody; number = steps_[number].cause) {
            const Step& step = steps_[number];
            const std::span<const Time> times(times_.data() + number * resources_, resources_);
            if (path.empty() || (path.back().label != step.label && step.label != TimerPurpose::kNoLabel)) {
                path.push_back({step.label, step.from, step.to, {times.begin(), times.end()}});
            } else {
                CausalSegment& later = path.back();
                later.from = step.from;
                std::transform(times.begin(), times.end(), later.times.begin(), later.times.begin(),
                               std::plus<>());
            }
        }
        std::reverse(path.begin(), path.end());
        return path;
    }

private:
    struct Step {
        std::uint32_t cause = kNobody;
        std::uint32_t references = 0;
        std::uint32_t label = 0;
        Time from;
        Time to;
    };

    [[nodiscard]] std::span<Time> times_of(std::uint32_t number) {
        return {times_.data() + number * resources_, resources_};
    }
    /// Makes one step of two of one label where nothing else follows from the first.
    void absorb_cause(std::uint32_t number) {
        Step& step = steps_[number];
        if (step.cause == kNobody || steps_[step.cause].references > 1 ||
            steps_[step.cause].label != step.label) {
            return;
        }
        const std::uint32_t absorbed = step.cause;
        step.from = steps_[absorbed].from;
        step.cause = steps_[absorbed].cause;  // with its reference
        const std::span<Time> times = times_of(number);
        const std::span<const Time> earlier = times_of(absorbed);
        std::transform(times.begin(), times.end(), earlier.begin(), times.begin(), std::plus<>());
        free_.push_back(absorbed);
    }

    std::size_t resources_;
    std::vector<Step> steps_;
    std::vector<Time> times_;  // by step and resource
    std::vector<std::uint32_t> free_;
};

/// How full the links of a message's path were while it was first of its pair, as the engine counts what
/// links carry.
class CauseTracker::PathLinks {
public:
    PathLinks(const NetworkBackend& backend, std::shared_ptr<const Fabric> fabric, const Resources& resources)
        : backend_(backend),
          fabric_(std::move(fabric)),
          resources_(resources) {
        if (fabric_->is_static()) {
            classes_.emplace(fabric_);
        }
    }

    /// Pairs are numbered 0, 1, ….
    void add_pair(HostId source, HostId destination) {
        PairPath path;
        if (classes_) {
            classes_->find_route(source, destination, route_);
            std::sort(route_.legs.begin(), route_.legs.end(),
                      [this](const ClassLeg& a, const ClassLeg& b) { return use_of(a) > use_of(b); });
            for (const ClassLeg& leg : route_.legs) {
                if (path.links < kMostLinks) {
                    path.link[path.links++] = classes_->example(leg.link_class);
                }
            }
            path.latency = route_.latency;
        } else {
            const LinkId up = fabric_->first_link(fabric_->node_of(source));
            const LinkId into = fabric_->first_link(fabric_->node_of(destination));
            const LinkId down = fabric_->link(into).reverse.value_or(into);
            path.link = {up, down};
            path.links = 2;
            path.latency = fabric_->link(up).latency + fabric_->link(down).latency + circuit_latency();
        }
        paths_.push_back(path);
    }

    /// `message` is first of its pair from now on.
    void start(std::uint32_t pair, std::uint32_t message) {
        if (message >= counts_.size()) {
            counts_.resize(message + 1);
        }
        Counts& counts = counts_[message];
        counts.since = backend_.now();
        const PairPath& path = paths_[pair];
        for (std::size_t i = 0; i < path.links; ++i) {
            const auto carried = backend_.carried(path.link[i]);
            counts.is_known = carried.has_value();
            counts.carried[i] = carried.value_or(Bytes(0));
        }
    }

    [[nodiscard]] Time latency(std::uint32_t pair) const { return paths_[pair].latency; }

    /// Shares `rest`, which ends now, among what `message` of so many bytes waited for.
    void share(std::uint32_t pair, std::uint32_t message, Bytes size, Time rest, std::span<Time> times) {
        const Counts& counts = counts_[message];
        const Time elapsed = backend_.now() - counts.since;
        if (rest == Time(0)) {
            return;
        }
        if (!counts.is_known || elapsed == Time(0)) {
            times[Resources::kNetwork.index()] += rest;
            return;
        }
        const PairPath& path = paths_[pair];
        std::array<std::pair<double, LinkId>, kMostLinks> fullness;
        for (std::size_t i = 0; i < path.links; ++i) {
            const Bytes carried = backend_.carried(path.link[i]).value_or(Bytes(0)) - counts.carried[i];
            const double full = utilization(fabric_->link(path.link[i]).rate, carried, elapsed);
            const double own = utilization(fabric_->link(path.link[i]).rate, size, elapsed);
            // What others sent while this one waited for its circuit did not hold it up.
            fullness[i] = {classes_ || full >= kFull ? std::min(full, 1.0) : std::min(full, own),
                           path.link[i]};
        }
        std::sort(fullness.begin(), fullness.begin() + path.links, std::greater<>());
        Time left = rest;
        for (std::size_t i = 0; i < path.links && left > Time(0); ++i) {
            const auto [part, link] = fullness[i];
            const Time taken = std::min(left, Time(std::llround(part * static_cast<double>(rest.count()))));
            times[resources_.of(link).index()] += taken;
            left -= taken;
        }
        times[(classes_ ? Resources::kTransport : Resources::kCircuits).index()] += left;
    }

private:
    static constexpr std::uint32_t kMostLinks = 8;
    /// Where links come and go, one that carried this much of what it could had no time left: slots end, and
    /// guard times pass.
    static constexpr double kFull = 0.9;

    struct PairPath {
        std::array<LinkId, kMostLinks> link;  ///< those that it uses most, for their rate
        std::uint32_t links = 0;
        Time latency;
    };
    struct Counts {
        Time since;
        std::array<Bytes, kMostLinks> carried;
        bool is_known = false;
    };

    [[nodiscard]] double use_of(const ClassLeg& leg) const {
        return leg.load / static_cast<double>(fabric_->link(classes_->example(leg.link_class)).rate.count());
    }
    [[nodiscard]] Time circuit_latency() const {
        for (const auto& interval : fabric_->circuits().intervals()) {
            if (!interval.links.empty()) {
                return fabric_->link(interval.links.front()).latency;
            }
        }
        return Time(0);
    }

    const NetworkBackend& backend_;
    std::shared_ptr<const Fabric> fabric_;
    const Resources& resources_;
    std::optional<LinkClasses> classes_;  // nothing where links come and go
    ClassRoute route_;
    std::vector<PairPath> paths_;
    std::vector<Counts> counts_;  // by message in flight
};

CauseTracker::CauseTracker(NetworkBackend& backend, std::shared_ptr<const Fabric> fabric,
                           const Resources& resources)
    : backend_(backend),
      fabric_(std::move(fabric)),
      is_accounted_(backend.account_delays(resources)),
      chains_(std::make_unique<Chains>(resources.size())),
      times_(resources.size()),
      current_(kNobody) {
    if (!is_accounted_) {
        links_ = std::make_unique<PathLinks>(backend_, fabric_, resources);
    }
}

CauseTracker::~CauseTracker() = default;

std::vector<CausalSegment> CauseTracker::path() const {
    return chains_->path_to(current_);
}

std::size_t CauseTracker::kept() const {
    return chains_->kept();
}

Message CauseTracker::noted(const Message& message) {
    if (free_messages_.empty()) {
        free_messages_.push_back(static_cast<std::uint32_t>(in_flight_.size()));
        in_flight_.emplace_back();
    }
    const std::uint32_t number = free_messages_.back();
    free_messages_.pop_back();
    std::uint32_t pair = pairs_.find(message.source, message.destination);
    if (pair == PairIndex::kNone) {
        pair = static_cast<std::uint32_t>(newest_.size());
        newest_.push_back(kNobody);
        pairs_.insert(message.source, message.destination, pair);
        if (links_ != nullptr) {
            links_->add_pair(message.source, message.destination);
        }
    }
    in_flight_[number] = {.message = message,
                          .sent = backend_.now(),
                          .cause = current_,
                          .pair = pair,
                          .ahead = newest_[pair],
                          .behind = kNobody,
                          .served = kNobody,
                          .head = backend_.now()};
    chains_->refer(current_);
    if (newest_[pair] != kNobody) {
        in_flight_[newest_[pair]].behind = number;
    }
    newest_[pair] = number;
    if (links_ != nullptr) {
        links_->start(pair, number);
    }
    Message passed = message;
    passed.on_delivered = &deliveries_;
    passed.token = number;
    return passed;
}

void CauseTracker::send(const Message& message) {
    backend_.send(noted(message));
}

void CauseTracker::send_batch(std::span<const Message> messages) {
    batch_.clear();
    for (const Message& message : messages) {
        batch_.push_back(noted(message));
    }
    backend_.send_batch(batch_);
}

void CauseTracker::schedule(Time delay, NotificationHandler& handler, std::uint64_t token) {
    if (free_timers_.empty()) {
        free_timers_.push_back(static_cast<std::uint32_t>(timers_.size()));
        timers_.emplace_back();
    }
    const std::uint32_t number = free_timers_.back();
    free_timers_.pop_back();
    timers_[number] = {&handler, token, current_, backend_.now(), handler.purpose(token)};
    chains_->refer(current_);
    backend_.schedule(delay, expirations_, number);
}

Time CauseTracker::explain(const InFlight& message, std::uint32_t number, Time head) {
    std::fill(times_.begin(), times_.end(), Time(0));
    const Time whole = backend_.now() - head;
    if (is_accounted_) {
        const Time tail = backend_.add_delays(times_);
        Time known;
        for (const Time time : times_) {
            known += time;
        }
        // Before its service a message is held back by what connections do first, or has no route yet.
        ASTROLABE_ASSERT(known <= whole, "a message is served after it was sent");
        times_[(fabric_->is_static() ? Resources::kTransport : Resources::kCircuits).index()] +=
            whole - known;
        return tail;
    }
    const Time tail = std::min(links_->latency(message.pair), whole);
    times_[Resources::kLatency.index()] = tail;
    links_->share(message.pair, number, message.message.size, whole - tail, times_);
    return tail;
}

void CauseTracker::deliver(std::uint32_t number) {
    const InFlight message = in_flight_[number];
    const bool has_waited = message.served != kNobody && message.head > message.sent;
    const Time head = has_waited ? message.head : message.sent;
    const Time end = backend_.now();
    const Time tail = explain(message, number, head);
    chains_->drop(has_waited ? message.cause : message.served);
    std::uint32_t step = has_waited ? message.served : message.cause;
    const std::uint32_t label = message.message.label;
    if (message.ahead != kNobody) {  // of a greater class, it has overtaken that one
        in_flight_[message.ahead].behind = kNobody;
    }
    if (message.behind != kNobody) {
        InFlight& next = in_flight_[message.behind];
        // The next one is served from the last bit of this one on, not from when all of that is there.
        Time& latency = times_[Resources::kLatency.index()];
        Time& transport = times_[Resources::kTransport.index()];
        const Time of_latency = std::min(tail, latency);
        const Time of_transport = tail - of_latency;
        latency -= of_latency;
        transport -= of_transport;
        step = chains_->add(step, label, head, end - tail, times_);
        chains_->refer(step);
        next.ahead = kNobody;
        next.served = step;
        next.head = end - tail;
        if (links_ != nullptr && next.head > next.sent) {
            links_->start(message.pair, message.behind);
        }
        std::fill(times_.begin(), times_.end(), Time(0));
        latency = of_latency;
        transport = of_transport;
        step = chains_->add(step, label, end - tail, end, times_);
    } else {
        if (newest_[message.pair] == number) {
            newest_[message.pair] = kNobody;
        }
        step = chains_->add(step, label, head, end, times_);
    }
    free_messages_.push_back(number);
    notify(step, *message.message.on_delivered, message.message.token);
}

void CauseTracker::expire(std::uint32_t number) {
    const Timer timer = timers_[number];
    free_timers_.push_back(number);
    std::fill(times_.begin(), times_.end(), Time(0));
    times_[timer.purpose.resource.index()] = backend_.now() - timer.set;
    const std::uint32_t step =
        chains_->add(timer.cause, timer.purpose.label, timer.set, backend_.now(), times_);
    notify(step, *timer.handler, timer.token);
}

void CauseTracker::notify(std::uint32_t step, NotificationHandler& handler, std::uint64_t token) {
    chains_->drop(current_);
    current_ = step;
    handler.notify(token);
}

}  // namespace astrolabe::network
