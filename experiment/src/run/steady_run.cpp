#include "steady_run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/state_hash.hpp>

namespace astrolabe::experiment {

namespace {

/// Adds `times` what has been counted from one instant to another.
class Repeated {
public:
    explicit Repeated(int times)
        : times_(times) {}

    void operator()(std::uint64_t& count, std::uint64_t from, std::uint64_t to) const {
        count += (to - from) * static_cast<std::uint64_t>(times_);
    }
    template <class Quantity>
    void operator()(Quantity& sum, Quantity from, Quantity to) const {
        sum += (to - from) * times_;
    }

private:
    int times_;
};

void repeat(network::LinkStatistics& link, const network::LinkStatistics& from,
            const network::LinkStatistics& to, const Repeated& add) {
    add(link.carried, from.carried, to.carried);
    add(link.drops, from.drops, to.drops);
    add(link.marks, from.marks, to.marks);
    add(link.trims, from.trims, to.trims);
    add(link.pauses, from.pauses, to.pauses);
    add(link.paused, from.paused, to.paused);
}

void repeat(network::NetworkStatistics& statistics, const network::NetworkStatistics& from,
            const network::NetworkStatistics& to, const Repeated& add) {
    add(statistics.messages, from.messages, to.messages);
    add(statistics.packets, from.packets, to.packets);
    add(statistics.packet_hops, from.packet_hops, to.packet_hops);
    add(statistics.drops, from.drops, to.drops);
    add(statistics.retransmissions, from.retransmissions, to.retransmissions);
    add(statistics.timeouts, from.timeouts, to.timeouts);
    add(statistics.ecn_marks, from.ecn_marks, to.ecn_marks);
    add(statistics.trims, from.trims, to.trims);
    add(statistics.pauses, from.pauses, to.pauses);
    add(statistics.paused, from.paused, to.paused);
    if (statistics.reconfiguration) {
        add(statistics.reconfiguration->control_epochs, from.reconfiguration->control_epochs,
            to.reconfiguration->control_epochs);
        add(statistics.reconfiguration->changes, from.reconfiguration->changes, to.reconfiguration->changes);
        add(statistics.reconfiguration->dark, from.reconfiguration->dark, to.reconfiguration->dark);
    }
    if (statistics.rate_interval) {
        add(statistics.rate_interval->updates, from.rate_interval->updates, to.rate_interval->updates);
        add(statistics.rate_interval->starts, from.rate_interval->starts, to.rate_interval->starts);
        add(statistics.rate_interval->waits, from.rate_interval->waits, to.rate_interval->waits);
        add(statistics.rate_interval->withheld, from.rate_interval->withheld, to.rate_interval->withheld);
    }
}

/// Of all operations.
Bytes payload_and_requests(const system::ExecutionReport& report) {
    Bytes sent = report.request_bytes;
    for (const system::OperationRecord& operation : report.operations) {
        sent += operation.bytes_sent;
    }
    return sent;
}

}  // namespace

SteadyRun::SteadyRun(const Experiment& experiment, system::Executor& executor,
                     const network::NetworkBackend& backend)
    : experiment_(experiment),
      rule_(*experiment.steady_state),
      executor_(executor),
      backend_(backend),
      rest_(dynamic_cast<const network::RestState*>(&backend)),
      alike_from_(system::alike_from(experiment.program)) {
    summary_.iterations = experiment.program.iterations;
    summary_.tolerance = rule_.tolerance.part();
    if (alike_from_ && *alike_from_ + 1 < experiment.program.iterations) {
        executor.observe_iterations(*this);
    }
}

SteadyRun::Instant SteadyRun::instant(int iterations, system::StateAtRest state) const {
    return {iterations, state, executor_.so_far(), backend_.statistics()};
}

void SteadyRun::iterations_ended(int ended) {
    // The first iteration begins with nothing in flight, so it is never in the window. In first-come order
    // nobody knows what a wait that has not ended is for.
    if (skipped_ || rule_.tolerance.percent == 0 || ended < std::max(1, *alike_from_) ||
        experiment_.program.compute_order == system::ComputeOrder::kFirstCome) {
        return;
    }
    const auto window = static_cast<std::size_t>(rule_.window);
    ends_.push_back(instant(ended, {}));
    if (ends_.size() > window + 1) {
        ends_.pop_front();
    }
    if (ends_.size() == window + 1 && is_steady()) {
        skip(ends_.front(), ends_.back(), How::kMeasured);
    }
}

bool SteadyRun::is_steady() const {
    Time shortest = Time::max();
    Time longest;
    for (std::size_t i = 1; i < ends_.size(); ++i) {
        const Time interval = ends_[i].accounts.at - ends_[i - 1].accounts.at;
        shortest = std::min(shortest, interval);
        longest = std::max(longest, interval);
    }
    return shortest > Time(0) &&
           to_seconds(longest - shortest) <= rule_.tolerance.part() * to_seconds(shortest);
}

bool SteadyRun::at_rest(int finished) {
    if (skipped_ || rest_ == nullptr || finished < *alike_from_) {
        return true;
    }
    const std::optional<std::uint64_t> of_network = rest_->state_at_rest();
    if (!of_network) {
        return false;
    }
    std::optional<system::StateAtRest> state = executor_.state_at_rest();
    if (!state) {
        return true;
    }
    has_rested_ = true;
    StateHash both;
    both.add(*of_network);
    both.add(state->state);
    state->state = both.value();
    rests_.push_back(instant(finished, *state));
    const Instant& now = rests_.back();
    const auto same = [&](const Instant& earlier) {
        return earlier.iterations < finished && earlier.state.state == state->state &&
               (rule_.tolerance.percent > 0 || earlier.state.order == state->order);
    };
    const auto earlier = std::ranges::find_if(rests_, same);
    if (earlier != rests_.end() &&
        skip(*earlier, now, earlier->state == now.state ? How::kExact : How::kButOrder)) {
        return true;
    }
    if (rests_.size() > kRests) {
        rests_.pop_front();
    }
    return true;
}

bool SteadyRun::skip(const Instant& from, const Instant& to, How how) {
    const int length = to.iterations - from.iterations;
    const int begun = executor_.begun_iterations();
    const int periods = (experiment_.program.iterations - begun) / length;
    if (periods == 0) {
        if (late_.empty()) {
            late_ = fmt::format("{} iterations repeat, as was seen when {} had begun: {} or more would be "
                                "worth it",
                                length, begun, begun + length);
        }
        return false;
    }
    summary_.how = how;
    summary_.skipped = periods * length;
    summary_.period = length;
    summary_.period_time = to.accounts.at - from.accounts.at;
    if (how == How::kMeasured) {
        summary_.shortest = Time::max();
        for (std::size_t i = 1; i < ends_.size(); ++i) {
            const Time interval = ends_[i].accounts.at - ends_[i - 1].accounts.at;
            summary_.shortest = std::min(summary_.shortest, interval);
            summary_.longest = std::max(summary_.longest, interval);
        }
    }
    skipped_ = system::SkippedPeriods{from.iterations, to.iterations, periods, from.accounts, to.accounts};
    network_from_ = from.network;
    network_to_ = to.network;
    executor_.end_before(experiment_.program.iterations - summary_.skipped);
    return true;
}

void SteadyRun::complete(system::ExecutionReport& report, network::NetworkStatistics& statistics) const {
    if (!skipped_ || !report.finished) {
        return;
    }
    const Time end = report.total;
    const Bytes sent = payload_and_requests(report);
    report = system::with_skipped(experiment_.program, report, *skipped_);
    const Repeated add(skipped_->periods);
    repeat(statistics, network_from_, network_to_, add);
    // Known, whatever is in flight from one period to the next.
    statistics.bytes_delivered += payload_and_requests(report) - sent;
    for (std::size_t i = 0; i < statistics.links.size(); ++i) {
        const network::LinkId id(i);
        network::LinkStatistics& link = statistics.links[id];
        const network::LinkStatistics& from = network_from_.links[id];
        const network::LinkStatistics& to = network_to_.links[id];
        repeat(link, from, to, add);
        const double waited = link.queue_mean * to_seconds(end) +
                              skipped_->periods * (to.queue_mean * to_seconds(skipped_->at_to.at) -
                                                   from.queue_mean * to_seconds(skipped_->at_from.at));
        link.queue_mean = std::max(waited / to_seconds(report.total), 0.0);
    }
}

std::string SteadyRun::reason() const {
    if (!alike_from_) {
        return "the operations of its iterations are interleaved";
    }
    if (*alike_from_ + 1 >= experiment_.program.iterations) {
        return summary_.iterations < 3 ? "there are too few iterations"
                                       : "no two of its iterations are alike";
    }
    if (!late_.empty()) {
        return late_;
    }
    const std::string measured = rule_.tolerance.percent > 0
                                     ? fmt::format("; no {} iterations in a row agreed within {:g} %",
                                                   rule_.window, rule_.tolerance.percent)
                                     : "; with a tolerance, iterations that take as long would do";
    if (rest_ == nullptr) {
        return "this engine does not tell its state" + measured;
    }
    if (const auto unknown = system::unknown_state(experiment_.program, experiment_.cluster.options)) {
        return *unknown + measured;
    }
    return (has_rested_ ? "no state was that of an earlier iteration"
                        : "no iteration ended with nothing in flight in a network whose state is known") +
           measured;
}

SkippedIterations SteadyRun::summary(bool finished) const {
    SkippedIterations summary = summary_;
    if (!skipped_) {
        summary.reason = reason();
    } else if (!finished) {
        summary = {};
        summary.iterations = summary_.iterations;
        summary.tolerance = summary_.tolerance;
        summary.reason = "the run did not end";
    }
    return summary;
}

}  // namespace astrolabe::experiment
