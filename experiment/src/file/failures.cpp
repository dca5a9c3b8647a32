#include "failures.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/failures/failing_parts.hpp>
#include <astrolabe/network/failures/failure_timeline.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/system/executor/compute_speeds.hpp>

namespace astrolabe::experiment {
namespace {

using network::FailingPart;
using network::PartKind;

/// Of single links, in all.
constexpr std::size_t kMostFailures = 1'000'000;
/// A hundred days, so that sums of a few are times.
constexpr Range<Time> kFailureTimes{Time(0), Time(8'640'000 * kPicosecondsPerSecond)};
constexpr Range<Time> kFailureMeans{Time(1), kFailureTimes.max};
constexpr Range<double> kFailureFactors{0.0, 0.999999};

ValidationErrors event_errors(const FailureEvent& event) {
    ValidationErrors errors;
    const int named =
        (event.link ? 1 : 0) + (event.of_switch ? 1 : 0) + (event.host ? 1 : 0) + (event.rank ? 1 : 0);
    require(errors, named == 1, "", fmt::format("names {} parts, expected one", named),
            "give one of link, switch, host and rank");
    require(errors, !event.until || *event.until > event.at, "until",
            fmt::format("is {}, expected later than 'at', {}", to_string(event.until.value_or(Time(0))),
                        to_string(event.at)),
            "leave it out for what never ends");
    if (event.rank) {
        require(errors, event.speed.has_value(), "rank", "needs 'speed'",
                "a part of the rank's speed, such as 0.5");
        require(errors, !event.rate, "rate", "is of links", "a rank has a 'speed'");
        require(errors, !event.number, "number", "is of links, switches and hosts", "leave it out");
        require(errors, event.speed != 0.0 || event.until, "speed", "is 0 for ever, and no run would end",
                "give 'until', or a speed above 0");
    } else {
        require(errors, !event.speed, "speed", "is of ranks", "links have a 'rate'");
    }
    return errors;
}

ValidationErrors random_errors(const RandomFailures& random) {
    ValidationErrors errors;
    const int named = (random.links ? 1 : 0) + (random.switches ? 1 : 0) + (random.hosts ? 1 : 0);
    require(errors, named == 1, "", fmt::format("names {} kinds of parts, expected one", named),
            "give one of links, switches and hosts");
    require(errors, random.number.has_value() != random.mean_time_between.has_value(), "",
            "fails so many once, or every part again and again", "give one of number and mean_time_between");
    require(errors, !random.mean_time_between || random.until, "mean_time_between", "needs 'until'",
            "the time up to which failures are drawn, beyond the end of the run");
    require(errors, !random.mean_time_to_repair || random.mean_time_between, "mean_time_to_repair",
            "has no effect", "it goes with mean_time_between; a number of parts fails until 'until'");
    require(errors, !random.mean_time_between || random.mean_time_to_repair, "mean_time_between",
            "needs 'mean_time_to_repair'", "the mean time in which a part has failed");
    require(errors, !random.until || *random.until > random.at, "until",
            fmt::format("is {}, expected later than 'at', {}", to_string(random.until.value_or(Time(0))),
                        to_string(random.at)));
    return errors;
}

Schema<FailureEvent> event_schema() {
    Schema<FailureEvent> schema("event", "what fails or slows down, and when");
    schema
        .optional("link", &FailureEvent::link,
                  "a cable, 'leaf 0 - spine 1', or a class of cables, 'leaf-spine'; 'leaf 0 to spine 1' is "
                  "one direction")
        .optional("switch", &FailureEvent::of_switch, "all cables of a switch, 'spine 0'")
        .optional("host", &FailureEvent::host, "all cables of a host, 'host 3'; its rank goes on computing")
        .optional("rank", &FailureEvent::rank, "the computation of a rank")
        .optional("number", &FailureEvent::number,
                  "one of those that the name fits, from 0 in the order of the network; unset: all")
        .optional("rate", &FailureEvent::rate, "of the links, times their rate; unset: 0, they are down",
                  kFailureFactors)
        .optional("speed", &FailureEvent::speed, "of the rank, times its speed", {0.0, 1.0})
        .optional("at", &FailureEvent::at, "from when on", kFailureTimes)
        .optional("until", &FailureEvent::until, "before when; unset: for ever", kFailureTimes)
        .check(event_errors);
    return schema;
}

Schema<RandomFailures> random_schema() {
    Schema<RandomFailures> schema("random", "what fails at random");
    schema.optional("links", &RandomFailures::links, "cables, by names or class as in events")
        .optional("switches", &RandomFailures::switches, "switches, by names")
        .optional("hosts", &RandomFailures::hosts, "hosts, by names")
        .optional("number", &RandomFailures::number, "so many of them, drawn once, fail at 'at'")
        .optional("mean_time_between", &RandomFailures::mean_time_between,
                  "of each of them, from a repair to the next failure, exponential", kFailureMeans)
        .optional("mean_time_to_repair", &RandomFailures::mean_time_to_repair, "of each failure, exponential",
                  kFailureMeans)
        .optional("rate", &RandomFailures::rate, "of the links, times their rate; unset: 0, they are down",
                  kFailureFactors)
        .optional("at", &RandomFailures::at, "from when on", kFailureTimes)
        .optional("until", &RandomFailures::until,
                  "before when a number has failed, or failures begin; unset: for ever", kFailureTimes)
        .optional("seed", &RandomFailures::seed, "of what is drawn; unset: that of the experiment",
                  {0, std::numeric_limits<std::int64_t>::max()})
        .check(random_errors);
    return schema;
}

/// Collects what fails, and reports what cannot.
class Collector {
public:
    Collector(Experiment& experiment, ValidationErrors& errors)
        : experiment_(experiment),
          errors_(errors),
          parts_(*experiment.fabric) {}

    void add(const FailureEvent& event, const std::string& key) {
        if (is_full_) {
            return;
        }
        const Time until = event.until.value_or(Time::max());
        if (event.rank) {
            require(errors_, *event.rank < experiment_.cluster.ranks, key + ".rank",
                    fmt::format("is {}, expected 0 to {}", *event.rank, experiment_.cluster.ranks - 1),
                    "ranks are counted from 0");
            slow_.push_back({system::RankId(*event.rank), event.at, until, *event.speed});
            experiment_.failures.push_back(
                {fmt::format("rank {} at {} of its speed", *event.rank, *event.speed), event.at, until});
            return;
        }
        const auto [kind, name, own] = event.link ? Named{PartKind::kCable, *event.link, "link"}
                                       : event.of_switch
                                           ? Named{PartKind::kSwitch, *event.of_switch, "switch"}
                                           : Named{PartKind::kHost, *event.host, "host"};
        std::vector<FailingPart> found = find(kind, name, key + "." + own);
        if (event.number && !found.empty()) {
            if (*event.number >= found.size()) {
                add_error(errors_, key + ".number",
                          fmt::format("is {}, and '{}' fits {}: expected 0 to {}", *event.number, name,
                                      found.size(), found.size() - 1));
                return;
            }
            found = {found[*event.number]};
        }
        for (const FailingPart& part : found) {
            fail(part, {event.at, until}, event.rate.value_or(0.0), key);
            if (are_too_many(key + "." + own, "name fewer parts, or a number of them")) {
                return;
            }
        }
    }

    void add(const RandomFailures& random, std::size_t index, const std::string& key) {
        if (is_full_) {
            return;
        }
        const auto [kind, name, own] = random.links ? Named{PartKind::kCable, *random.links, "links"}
                                       : random.switches
                                           ? Named{PartKind::kSwitch, *random.switches, "switches"}
                                           : Named{PartKind::kHost, *random.hosts, "hosts"};
        std::vector<FailingPart> found = find(kind, name, key + "." + own);
        RandomStream stream(random.seed.value_or(experiment_.seed), fmt::format("failures {}", index));
        experiment_.failures_follow_seed = experiment_.failures_follow_seed || !random.seed;
        const double factor = random.rate.value_or(0.0);
        if (random.number) {
            if (*random.number > found.size()) {
                add_error(errors_, key + ".number",
                          fmt::format("is {}, and '{}' fits {}", *random.number, name, found.size()),
                          "name more, or take fewer");
                return;
            }
            stream.shuffle(found);
            found.resize(*random.number);
            for (const FailingPart& part : found) {
                fail(part, {random.at, random.until.value_or(Time::max())}, factor, key);
                if (are_too_many(key + ".number", "take a smaller number")) {
                    return;
                }
            }
            return;
        }
        for (const FailingPart& part : found) {
            const auto outages =
                network::draw_outages({*random.mean_time_between, *random.mean_time_to_repair}, random.at,
                                      *random.until, kMostFailures + 1, stream);
            for (const network::Outage& outage : outages) {
                fail(part, outage, factor, key);
                if (are_too_many(key + ".mean_time_between",
                                 "take a longer mean time, fewer parts, or an earlier 'until'")) {
                    return;
                }
            }
        }
    }

    /// Gives network and ranks what fails of them, or reports why that cannot be.
    void finish(Time detection) {
        if (!parts_that_fail_.empty()) {
            break_parts(detection);
        }
        if (!links_.empty()) {
            experiment_.fabric = experiment_.fabric->with_failures(
                std::make_shared<const network::FailureTimeline>(std::move(links_), detection));
        }
        if (!slow_.empty() && experiment_.cluster.contention) {
            add_error(errors_, "events",
                      "ranks slow down for a time, and collectives slow down what computes",
                      "one of both at a time: leave out the events of ranks, or 'cluster.contention'; a rank "
                      "that is slow all the time is a 'slowdown' of 'cluster.devices'");
            return;
        }
        if (!slow_.empty()) {
            experiment_.cluster.options.compute_speeds = std::make_shared<const system::ComputeSpeeds>(slow_);
        }
    }

private:
    struct Named {
        PartKind kind;
        std::string name;
        std::string key;
    };

    std::vector<FailingPart> find(PartKind kind, const std::string& name, const std::string& key) {
        std::vector<FailingPart> found = parts_.find(kind, name);
        if (found.empty()) {
            add_error(errors_, key,
                      fmt::format("'{}' fits nothing of network '{}'", name, experiment_.network_kind),
                      parts_.examples(kind));
        }
        return found;
    }

    void break_parts(Time detection) {
        const network::NetworkFamily& family = experiment_.fabric->family();
        if (const std::string reason = family.undetected(); detection > Time(0) && !reason.empty()) {
            add_error(errors_, "detection", "has no effect in network '" + experiment_.network_kind + "'",
                      reason);
        }
        network::BrokenFabric broken = family.broken(parts_that_fail_);
        if (auto* fabric = std::get_if<std::shared_ptr<const network::Fabric>>(&broken)) {
            experiment_.fabric = std::move(*fabric);
            return;
        }
        std::string last;
        for (const network::PartProblem& problem : std::get<std::vector<network::PartProblem>>(broken)) {
            const std::string& key = keys_of_parts_[problem.failure];
            if (std::exchange(last, key + problem.message) != key + problem.message) {
                add_error(errors_, key, problem.message, problem.hint);
            }
        }
    }

    /// Reported at the entry that makes them too many; no later one is looked at.
    bool are_too_many(const std::string& key, const std::string& hint) {
        is_full_ = links_.size() + parts_that_fail_.size() > kMostFailures;
        if (is_full_) {
            add_error(errors_, key, fmt::format("makes more than {} failures of links", kMostFailures), hint);
        }
        return is_full_;
    }

    void fail(const FailingPart& part, const network::Outage& outage, double factor, const std::string& key) {
        if (part.named) {
            parts_that_fail_.push_back({*part.named, outage.from, outage.until, factor});
            keys_of_parts_.push_back(key);
        }
        for (const network::LinkId link : part.links) {
            links_.push_back({link, outage.from, outage.until, factor});
        }
        experiment_.failures.push_back(
            {factor == 0 ? part.name + " down" : fmt::format("{} at {} of its rate", part.name, factor),
             outage.from, outage.until});
    }

    Experiment& experiment_;
    ValidationErrors& errors_;
    network::FailingParts parts_;
    std::vector<network::LinkFailure> links_;
    std::vector<network::PartFailure> parts_that_fail_;
    std::vector<std::string> keys_of_parts_;  // of the entries that made them
    std::vector<system::SlowRank> slow_;
    bool is_full_ = false;  // more fails than can be
};

}  // namespace

Schema<FailureKeys> failures_schema() {
    Schema<FailureKeys> schema("failures", "what fails or slows down of network and ranks, and when");
    schema
        .optional("detection", &FailureKeys::detection,
                  "from when a link goes down, or is up again, until routes change", kFailureTimes)
        .list("events", &FailureKeys::events, event_schema(), "failures at given times",
              "[{link: leaf 0 - spine 1, at: 2ms, until: 5ms}]")
        .list("random", &FailureKeys::random, random_schema(), "failures at random",
              "[{links: leaf-spine, mean_time_between: 10ms, mean_time_to_repair: 1ms, until: 1s}]");
    return schema;
}

void add_failures(Experiment& experiment, const FailureKeys& keys, const ConfigNode& section,
                  ReadContext& context) {
    ValidationErrors errors;
    Collector collector(experiment, errors);
    for (std::size_t i = 0; i < keys.events.size(); ++i) {
        collector.add(keys.events[i], fmt::format("events.{}", i));
    }
    for (std::size_t i = 0; i < keys.random.size(); ++i) {
        collector.add(keys.random[i], i, fmt::format("random.{}", i));
    }
    if (!errors.empty()) {
        report_validation_errors(section, errors, context);
        return;
    }
    std::ranges::stable_sort(experiment.failures, {}, &FailureSpan::from);
    collector.finish(keys.detection);
    report_validation_errors(section, errors, context);
}

}  // namespace astrolabe::experiment
