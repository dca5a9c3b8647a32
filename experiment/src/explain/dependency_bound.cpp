#include "dependency_bound.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::experiment {
namespace {

using system::CollectiveOperation;
using system::OperationId;
using system::RankId;

class LongestChain {
public:
    LongestChain(const system::Program& program, const network::Fabric& fabric, const Placement& placement,
                 const IndexedVector<OperationId, CollectiveBound>& collectives, const ScheduleLoads* loads,
                 bool follows_routes)
        : program_(program),
          participants_(program),
          fabric_(fabric),
          placement_(placement),
          bounds_(collectives),
          loads_(loads),
          has_links_(loads != nullptr && follows_routes && loads->omission().empty()),
          latency_(loads == nullptr ? Time(0) : least_latency(fabric, program.ranks, placement)),
          finish_(program.operations.size(), {}),
          latest_(program.operations.size(), Time(0)),
          first_issue_(program.operations.size(), Time(0)),
          last_use_(program.operations.size(), 0),
          before_(program.streams.size(), std::vector<Time>(program.ranks, Time(0))),
          latest_before_(program.streams.size(), Time(0)) {
        for (std::size_t i = 0; i < program.operations.size(); ++i) {
            for (const OperationId dependency : program.operations[OperationId(i)].dependencies) {
                last_use_[dependency] = i;
            }
        }
    }

    [[nodiscard]] Time find() {
        Time end;
        for (std::size_t i = 0; i < program_.operations.size(); ++i) {
            const OperationId id(i);
            const system::Operation& operation = program_.operations[id];
            issue(id);
            if (operation.is_compute()) {
                compute(id, operation.compute());
            } else if (operation.is_receive()) {
                receive(id, operation.receive().send);
            } else {
                first_issue_[id] = *std::min_element(issue_.begin(), issue_.end());
                communicate(id, operation.collective());
            }
            end = std::max(end, latest_[id]);
            for (const OperationId dependency : operation.dependencies) {
                if (last_use_[dependency] == i) {
                    finish_[dependency] = {};
                }
            }
            if (last_use_[id] == 0) {
                finish_[id] = {};
            }
        }
        return std::max(end, released_on_links());
    }

private:
    void issue(OperationId id) {
        const std::vector<OperationId>& dependencies = program_.operations[id].dependencies;
        issue_.clear();
        latest_issue_ = Time(0);
        participants_.for_each(id, [&](RankId rank) {
            Time& own = issue_.emplace_back();
            for (const OperationId dependency : dependencies) {
                if (const std::optional<std::size_t> place = participants_.place(dependency, rank)) {
                    own = std::max(own, finish_[dependency][*place]);
                }
            }
            latest_issue_ = std::max(latest_issue_, own);
        });
        if (participants_.is_spmd()) {
            for (const OperationId dependency : dependencies) {
                latest_issue_ = std::max(latest_issue_, latest_[dependency]);
            }
        }
    }

    void compute(OperationId id, const system::ComputeOperation& work) {
        Time shortest = Time::max();
        Time last;
        std::vector<Time>& before = before_[work.stream];
        Time& latest_before = latest_before_[work.stream];
        if (program_.compute_order == system::ComputeOrder::kFirstCome) {
            // Dependencies alone keep computations in order.
            before.assign(program_.ranks, Time(0));
            latest_before = Time(0);
        }
        std::vector<Time> finish;
        participants_.for_each(id, [&](RankId rank) {
            const Time duration = work.duration[rank];
            shortest = std::min(shortest, duration);
            Time& own = before[rank.index()];
            own = saturating_sum(std::max(issue_[finish.size()], own), duration);
            last = std::max(last, own);
            finish.push_back(own);
        });
        finish_[id] = std::move(finish);
        if (participants_.is_spmd()) {
            last = std::max(last, saturating_sum(std::max(latest_issue_, latest_before), shortest));
            latest_before = last;
        }
        latest_[id] = last;
    }

    /// Of the messages that `send` brought.
    void receive(OperationId id, OperationId send) {
        const std::vector<Time>& arrivals = arrivals_.at(send);
        std::vector<Time> finish = issue_;
        for (std::size_t place = 0; place < finish.size(); ++place) {
            finish[place] = std::max(finish[place], arrivals[place]);
        }
        latest_[id] = *std::max_element(finish.begin(), finish.end());
        finish_[id] = std::move(finish);
    }

    /// On senders it is over when it begins; when it arrives, at the earliest, is kept for the receive.
    void send(OperationId id, const CollectiveOperation& work) {
        std::map<RankId, Time> arrivals;
        for (const std::vector<RankId>& pair : program_.partitions[work.partition].groups) {
            Time arrival = issue_[*participants_.place(id, pair.front())];
            if (loads_ != nullptr && !work.moves_nothing(pair.size())) {
                const Bandwidth rate = fabric_.ingress_rate(placement_[pair.back().index()]);
                arrival = saturating_sum(saturating_sum(arrival, latency_),
                                         carrying_time(static_cast<double>(work.size.count()), rate));
            }
            arrivals.emplace(pair.back(), arrival);
        }
        std::vector<Time>& in_order = arrivals_[id];
        Time last;
        for (const auto& [receiver, arrival] : arrivals) {
            in_order.push_back(arrival);
            last = std::max(last, arrival);
        }
        finish_[id] = issue_;
        for (Time& time : finish_[id]) {
            time = saturating_sum(time, work.completion_delay);
            last = std::max(last, time);
        }
        latest_[id] = last;
    }

    void communicate(OperationId id, const CollectiveOperation& work) {
        if (work.is_one_sided) {
            send(id, work);
            return;
        }
        std::vector<Time> finish = issue_;
        for (const auto& group : program_.partitions[work.partition].groups) {
            if (group.size() > 1) {
                finish_group(id, work, group, finish);
            }
        }
        const auto& groups = program_.partitions[work.partition].groups;
        const auto moves = [&work](const auto& group) { return !work.moves_nothing(group.size()); };
        Time last = std::max(latest_issue_, *std::max_element(finish.begin(), finish.end()));
        if (std::any_of(groups.begin(), groups.end(), moves)) {
            last = std::max(last, saturating_sum(first_issue_[id], bounds_[id].value));
            // The latest rank may be in any group.
            if (needs_all(work) && std::all_of(groups.begin(), groups.end(), moves)) {
                last = std::max(last, saturating_sum(latest_issue_, latency_));
            }
        }
        for (Time& time : finish) {
            time = saturating_sum(time, work.completion_delay);
        }
        finish_[id] = std::move(finish);
        latest_[id] = saturating_sum(last, work.completion_delay);
    }

    /// Whether every rank of a group needs something of every other.
    static bool needs_all(const CollectiveOperation& work) {
        return !work.is_uneven() && !system::has_root(work.kind);
    }

    void finish_group(OperationId id, const CollectiveOperation& work, const std::vector<RankId>& group,
                      std::vector<Time>& finish) {
        Time first = Time::max();
        Time last;
        for (const RankId rank : group) {
            const Time issue = issue_[*participants_.place(id, rank)];
            first = std::min(first, issue);
            last = std::max(last, issue);
        }
        if (work.moves_nothing(group.size())) {
            for (const RankId rank : group) {
                finish[*participants_.place(id, rank)] = last;
            }
            return;
        }
        if (group.size() == participants_.count(id)) {
            last = std::max(last, latest_issue_);
        }
        for (const RankId rank : group) {
            Time& own = finish[*participants_.place(id, rank)];
            if (needs_all(work) || work.begins_together || work.least_duration > Time(0)) {
                own = std::max(own, saturating_sum(last, work.least_duration));
            }
            if (loads_ != nullptr) {
                double received = 0;
                for (const ScheduleLoads::Part& part : loads_->of(id)) {
                    received += part.units * part.load->received[rank.index()];
                }
                if (received > 0) {
                    const network::HostId host = placement_[rank.index()];
                    own = std::max(own, saturating_sum(saturating_sum(first, latency_),
                                                       carrying_time(received, fabric_.ingress_rate(host))));
                }
            }
        }
    }

    [[nodiscard]] Time released_on_links() const {
        if (!has_links_) {
            return Time(0);
        }
        std::vector<OperationId> order;
        for (std::size_t i = 0; i < program_.operations.size(); ++i) {
            if (!loads_->of(OperationId(i)).empty()) {
                order.emplace_back(i);
            }
        }
        std::stable_sort(order.begin(), order.end(),
                         [this](OperationId a, OperationId b) { return first_issue_[a] > first_issue_[b]; });
        std::vector<double> bytes(fabric_.link_count(), 0);
        Time most;
        for (std::size_t i = 0; i < order.size(); ++i) {
            for (const ScheduleLoads::Part& part : loads_->of(order[i])) {
                for (std::size_t link = 0; link < bytes.size(); ++link) {
                    bytes[link] += part.units * part.load->links[network::LinkId(link)];
                }
            }
            const Time head = first_issue_[order[i]];
            if (i + 1 < order.size() && first_issue_[order[i + 1]] == head) {
                continue;
            }
            Time longest;
            for (std::size_t link = 0; link < bytes.size(); ++link) {
                if (bytes[link] > 0) {
                    longest = std::max(longest,
                                       carrying_time(bytes[link], fabric_.link(network::LinkId(link)).rate));
                }
            }
            most = std::max(most, saturating_sum(saturating_sum(head, latency_), longest));
        }
        return most;
    }

    const system::Program& program_;
    const system::Participants participants_;
    const network::Fabric& fabric_;
    const Placement& placement_;
    const IndexedVector<OperationId, CollectiveBound>& bounds_;
    const ScheduleLoads* loads_;
    bool has_links_;
    Time latency_;
    /// By place among those that take part; empty when no longer needed.
    IndexedVector<OperationId, std::vector<Time>> finish_;
    /// Of one-sided messages, by ascending receiver.
    std::map<OperationId, std::vector<Time>> arrivals_;
    IndexedVector<OperationId, Time> latest_;
    IndexedVector<OperationId, Time> first_issue_;
    IndexedVector<OperationId, std::size_t> last_use_;
    std::vector<Time> issue_;                ///< of the operation at hand, by place
    std::vector<std::vector<Time>> before_;  ///< by stream, end of its last computation, by rank
    Time latest_issue_;
    std::vector<Time> latest_before_;  ///< by stream
};

}  // namespace

Time dependency_bound(const system::Program& program, const network::Fabric& fabric,
                      const Placement& placement,
                      const IndexedVector<OperationId, CollectiveBound>& collectives,
                      const ScheduleLoads* loads, bool follows_routes) {
    return LongestChain(program, fabric, placement, collectives, loads, follows_routes).find();
}

}  // namespace astrolabe::experiment
