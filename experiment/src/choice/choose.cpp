#include "choose.hpp"

#include "../run/engine.hpp"
#include "candidates.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/experiment/choice/slow_methods.hpp>
#include <astrolabe/experiment/explain/lower_bound.hpp>
#include <astrolabe/experiment/results/fingerprint.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/system/executor/circuit_order.hpp>

namespace astrolabe::experiment {
namespace {

using system::CollectiveOperation;
using system::Partition;

constexpr std::size_t kMostTrials = 12;
constexpr double kMostWork = 1 << 29;    // of a trial
constexpr double kTrialsWork = 1 << 26;  // of all, once two algorithms are known
constexpr double kDoubtful = 1.5;        // an estimate without a trial is that much too low
constexpr double kAlike = 1.02;          // no difference worth choosing by
constexpr double kLighter = 1.1;         // nor, where others are in flight, by which one is not light
constexpr double kWorthTrying = 1.05;    // other chunks than a named algorithm's default
constexpr double kSlow = 2;              // what a warning is worth

double ratio(Time a, Time b) {
    return b > Time(0) ? to_seconds(a) / to_seconds(b) : 1;
}

/// `time` times `factor`, at most Time::max().
Time scaled(Time time, double factor) {
    const double picoseconds = static_cast<double>(time.count()) * factor;
    return picoseconds < 9.2e18 ? Time(static_cast<std::int64_t>(picoseconds)) : Time::max();
}

/// Hashes of partitions and sizes, each found once.
class CollectiveKeyHash {
public:
    explicit CollectiveKeyHash(const Experiment& experiment)
        : experiment_(experiment) {
        Fingerprint print;
        const system::SystemOptions& options = experiment.cluster.options;
        print.add(experiment.setting);
        print.add(static_cast<std::uint64_t>(experiment.program.ranks));
        print.add(options.dimensions ? options.dimensions->text() : "");
        print.add(static_cast<std::uint64_t>(options.scheduling));
        print.add(std::uint64_t{options.active_chunks});
        print.add(std::uint64_t{options.active_chunks_per_dimension.value_or(0)});
        print.add(static_cast<std::uint64_t>(options.stage_order));
        print.add(static_cast<std::uint64_t>(options.start_order));
        print.add(options.minimum_chunk.count());
        const system::EndPoint& end_point = options.end_point;
        print.add(end_point.injection_latency.count());
        print.add(static_cast<std::uint64_t>(end_point.copy_engine));
        print.add(end_point.reduction_bandwidth.value_or(Bandwidth(0)).count());
        print.add(end_point.rendezvous_threshold.value_or(Bytes(0)).count());
        print.add(static_cast<std::uint64_t>(end_point.timing));
        const network::Fabric& fabric = *experiment.fabric;
        for (std::size_t i = 0; i < fabric.link_count(); ++i) {
            const network::LinkId id(i);
            print.add(static_cast<std::uint64_t>(fabric.source(id).index()));
            print.add(static_cast<std::uint64_t>(fabric.target(id).index()));
            print.add(fabric.link(id).rate.count());
            print.add(fabric.link(id).latency.count());
        }
        if (!experiment.placement.is_linear()) {
            for (const network::HostId host : experiment.placement.hosts_of(experiment.program.ranks)) {
                print.add(static_cast<std::uint64_t>(host.index()));
            }
        }
        has_others_ = std::ranges::count_if(experiment.program.operations, [](const system::Operation& one) {
                          return one.is_collective() && one.iteration == 0;
                      }) > 1;
        print.add(std::uint64_t{has_others_});
        setting_ = print.text();
    }

    /// Whether a collective of the program may have to share links with others.
    [[nodiscard]] bool has_others() const { return has_others_; }

    [[nodiscard]] std::string of(const CollectiveOperation& work) {
        const auto kind = static_cast<std::size_t>(work.kind);
        const Cluster& cluster = experiment_.cluster;
        Fingerprint print;
        print.add(setting_);
        print.add(static_cast<std::uint64_t>(work.kind));
        print.add(work.size.count());
        print.add(partition(work.partition));
        print.add(pair_sizes(work.pair_sizes.get()));
        print.add(
            std::uint64_t{work.traffic_class.value_or(cluster.options.collectives[kind].traffic_class)});
        print.add(cluster.algorithm_given[kind] ? to_yaml(cluster.named[kind]) : "auto");
        print.add(std::uint64_t{cluster.chunks_given[kind] ? cluster.options.collectives[kind].chunks : 0});
        return print.text();
    }

private:
    const std::string& partition(system::PartitionId id) {
        std::string& known = partitions_[id];
        if (known.empty()) {
            Fingerprint print;
            for (const std::vector<system::RankId>& group : experiment_.program.partitions[id].groups) {
                print.add(static_cast<std::uint64_t>(group.size()));
                for (const system::RankId rank : group) {
                    print.add(static_cast<std::uint64_t>(rank.index()));
                }
            }
            known = print.text();
        }
        return known;
    }

    const std::string& pair_sizes(const std::vector<system::PairSizes>* groups) {
        std::string& known = pair_sizes_[groups];
        if (known.empty()) {
            Fingerprint print;
            for (std::size_t group = 0; groups != nullptr && group < groups->size(); ++group) {
                const system::PairSizes& sizes = (*groups)[group];
                for (std::size_t source = 0; source < sizes.positions(); ++source) {
                    for (std::size_t destination = 0; destination < sizes.positions(); ++destination) {
                        print.add(sizes(source, destination).count());
                    }
                }
            }
            known = print.text();
        }
        return known;
    }

    const Experiment& experiment_;
    bool has_others_ = false;
    std::string setting_;
    std::map<system::PartitionId, std::string> partitions_;
    std::map<const std::vector<system::PairSizes>*, std::string> pair_sizes_;
};

/// The experiment with no program, on the engine that collectives are tried on.
Experiment setting_of(const Experiment& experiment, const Components& components) {
    Experiment alone;
    alone.seed = experiment.seed;
    alone.cluster = experiment.cluster;
    alone.fabric = experiment.fabric;
    alone.placement = experiment.placement;
    alone.backend = trial_engine(experiment, components);
    alone.program.ranks = experiment.program.ranks;
    return alone;
}

/// Trials of the candidates of one collective.
class Trials {
public:
    Trials(Experiment& alone, const CollectiveOperation& work, const Partition& partition,
           std::vector<Candidate> candidates, bool has_others)
        : alone_(alone),
          work_(work),
          partition_(partition),
          candidates_(std::move(candidates)),
          has_others_(has_others),
          times_(candidates_.size()) {
        estimate(candidates_, alone, work, partition);
    }

    [[nodiscard]] const Candidate& candidate(std::size_t index) const { return candidates_[index]; }
    [[nodiscard]] std::optional<Time> time(std::size_t index) const { return times_[index]; }

    /// Candidates, the best estimate first.
    [[nodiscard]] std::vector<std::size_t> order() const {
        std::vector<std::size_t> order(candidates_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [this](std::size_t index) { return rank_of(index); });
        return order;
    }

    /// Simulates candidates as the head of the file says; returns the best.
    [[nodiscard]] std::size_t run(bool algorithm_is_open) {
        const std::vector<std::size_t> sorted = order();
        std::set<std::string> tried;
        std::size_t trials = 0;
        double work = 0;
        std::optional<std::size_t> untried;  // the best estimate of those that are too large
        for (const std::size_t index : sorted) {
            const Candidate& one = candidates_[index];
            const bool may_stop = best_ && (tried.size() > 1 || !algorithm_is_open);
            const bool is_beaten = best_ && cannot_win(one);
            const bool is_new = !tried.contains(one.method.name());
            const double own_work = work_of(index);
            if (own_work > kMostWork) {
                untried = untried.value_or(index);
                continue;
            }
            const bool is_hopeless =
                untried && to_seconds(one.bound) > kDoubtful * to_seconds(candidates_[*untried].estimate);
            if (is_hopeless || (may_stop && is_beaten) || trials >= kMostTrials ||
                (may_stop && work + own_work > kTrialsWork) || (best_ && !may_stop && is_beaten && !is_new)) {
                continue;
            }
            static_cast<void>(simulate(index, best_ ? scaled(*best_, kSlow) : Time::max()));
            tried.insert(one.method.name());
            ++trials;
            work += own_work;
        }
        if (untried &&
            (!best_ || to_seconds(candidates_[*untried].estimate) * kDoubtful < to_seconds(*best_))) {
            return *untried;
        }
        return best_ ? winner() : sorted.front();
    }

    /// Messages, each times those that are in flight with it; of the representatives where ranks fold.
    [[nodiscard]] double work_of(std::size_t index) {
        const Candidate& one = candidates_[index];
        const auto messages = static_cast<double>(one.messages);
        const double work = messages * messages / static_cast<double>(std::max<std::uint64_t>(one.steps, 1));
        if (work <= kMostWork || !alone_.backend.folds()) {
            return work;
        }
        put(index);
        const auto alike =
            static_cast<double>(make_engine(alone_, place_ranks(alone_), false).folding.class_size());
        return work / (alike * alike);
    }

    std::optional<Time> simulate(std::size_t index, Time most) {
        put(index);
        times_[index] = time_of(alone_, most);
        was_tried_.insert(index);
        if (times_[index] && (!best_ || *times_[index] < *best_)) {
            best_ = times_[index];
        }
        return times_[index];
    }

    /// The fastest other than `best`: of another algorithm where there is one, else of other chunks.
    [[nodiscard]] std::optional<TimedMethod> runner_up(std::size_t best, bool algorithm_is_open) const {
        std::optional<std::size_t> second;
        for (const std::size_t index : was_tried_) {
            const bool counts = algorithm_is_open
                                    ? candidates_[index].method.name() != candidates_[best].method.name()
                                    : index != best;
            if (counts && (!second || time_or_never(index) < time_or_never(*second))) {
                second = index;
            }
        }
        return second ? std::optional(TimedMethod{candidates_[*second].method, times_[*second]})
                      : std::nullopt;
    }

private:
    /// By its bound: too slow, or no better than the winner so far and no lighter.
    [[nodiscard]] bool cannot_win(const Candidate& one) const {
        const std::size_t best = winner();
        return ratio(one.bound, *best_) > tolerance() ||
               (ratio(one.bound, *times_[best]) * kAlike >= 1 && one.load >= candidates_[best].load);
    }

    /// Makes it the program.
    void put(std::size_t index) {
        alone_.program = program_of(alone_, work_, partition_, {candidates_[index].how});
        system::order_by_circuits(alone_.program, alone_.cluster.options, place_ranks(alone_));
    }

    [[nodiscard]] std::tuple<Time, Time, std::uint32_t> rank_of(std::size_t index) const {
        const Candidate& one = candidates_[index];
        return {one.estimate, one.load, one.method.chunks};
    }
    [[nodiscard]] Time time_or_never(std::size_t index) const { return times_[index].value_or(Time::max()); }

    [[nodiscard]] double tolerance() const { return has_others_ ? kLighter : kAlike; }

    /// Of those that are fast enough the light ones, of these the fastest algorithm, of its numbers of chunks
    /// the one of fewest messages.
    [[nodiscard]] std::size_t winner() const {
        std::vector<std::size_t> left(was_tried_.begin(), was_tried_.end());
        const auto keep = [&left](const auto& value, double within) {
            double least = std::numeric_limits<double>::infinity();
            for (const std::size_t index : left) {
                least = std::min(least, value(index));
            }
            std::erase_if(left, [&](std::size_t index) { return value(index) > least * within; });
        };
        const auto time = [this](std::size_t index) { return to_seconds(time_or_never(index)); };
        keep(time, tolerance());
        keep([this](std::size_t index) { return to_seconds(candidates_[index].load); }, kLighter);
        const std::size_t fastest = *std::ranges::min_element(left, {}, time);
        std::erase_if(left, [&](std::size_t index) {
            return candidates_[index].how->algorithm != candidates_[fastest].how->algorithm;
        });
        return *std::ranges::min_element(
            left, {}, [this](std::size_t index) { return std::pair(candidates_[index].messages, index); });
    }

    Experiment& alone_;
    const CollectiveOperation& work_;
    const Partition& partition_;
    std::vector<Candidate> candidates_;
    bool has_others_;
    std::vector<std::optional<Time>> times_;
    std::set<std::size_t> was_tried_;
    std::optional<Time> best_;
};

bool moves_something(const CollectiveOperation& work, const Partition& partition) {
    return std::ranges::any_of(partition.groups,
                               [&](const auto& group) { return !work.moves_nothing(group.size()); });
}

MethodChoice describe(const Experiment& experiment, const system::Operation& operation, std::string key) {
    const CollectiveOperation& work = operation.collective();
    const auto& groups = experiment.program.partitions[work.partition].groups;
    return {.key = std::move(key),
            .operation = operation.name,
            .operations = 0,
            .collective = std::string(system::to_string(work.kind)),
            .size = work.size,
            .ranks = std::ranges::max_element(groups, {}, &std::vector<system::RankId>::size)->size(),
            .groups = groups.size(),
            .chosen = {},
            .runner_up = {}};
}

/// Of named algorithms whose chunks are open: whether other chunks may gain what is worth trying.
bool may_gain(const std::vector<Candidate>& candidates) {
    return std::ranges::any_of(candidates, [&](const Candidate& one) {
        return ratio(candidates.front().bound, one.bound) > kWorthTrying;
    });
}

class Chooser {
public:
    Chooser(Experiment& experiment, const std::vector<MethodChoice>& recorded, const Components& components)
        : experiment_(experiment),
          components_(components),
          hash_(experiment),
          alone_(setting_of(experiment, components)) {
        for (const MethodChoice& choice : recorded) {
            recorded_.emplace(choice.key, &choice);
        }
    }

    void choose(system::Operation& operation) {
        auto& work = std::get<CollectiveOperation>(operation.work);
        const auto kind = static_cast<std::size_t>(work.kind);
        const OpenMethod open{!experiment_.cluster.algorithm_given[kind],
                              !experiment_.cluster.chunks_given[kind]};
        const Partition& partition = experiment_.program.partitions[work.partition];
        // A network that was built of rings has one for each chunk.
        const bool has_rings = experiment_.cluster.options.collectives[kind].algorithm->needs_rings();
        if ((!open.algorithm && (!open.chunks || has_rings)) || !moves_something(work, partition)) {
            return;
        }
        const auto [entry, is_new] = chosen_.try_emplace(hash_.of(work));
        Chosen& chosen = entry->second;
        if (is_new) {
            find(chosen, operation, entry->first, open);
        }
        work.method = chosen.how;
        if (chosen.place) {
            ++experiment_.choices[*chosen.place].operations;
        }
    }

private:
    struct Chosen {
        MethodPointer how;
        std::optional<std::size_t> place;  // in the choices; none: a named algorithm keeps its default
    };

    void find(Chosen& chosen, const system::Operation& operation, const std::string& key, OpenMethod open) {
        std::optional<MethodChoice> known = components_.choices->find(key);
        if (const auto given = recorded_.find(key); !known && given != recorded_.end()) {
            known = *given->second;
        }
        const CollectiveOperation& work = operation.collective();
        const Partition& partition = experiment_.program.partitions[work.partition];
        MethodChoice choice = describe(experiment_, operation, key);
        if (known) {
            chosen.how = make_method(experiment_, work, partition, known->chosen.method, components_);
        }
        if (chosen.how != nullptr) {
            choice.chosen = known->chosen;
            choice.runner_up = known->runner_up;
        } else if (!search(chosen, choice, work, partition, open)) {
            return;
        }
        components_.choices->add(choice);
        chosen.place = experiment_.choices.size();
        experiment_.choices.push_back(std::move(choice));
    }

    /// Whether there is a choice to report.
    bool search(Chosen& chosen, MethodChoice& choice, const CollectiveOperation& work,
                const Partition& partition, OpenMethod open) {
        std::vector<Candidate> candidates = candidates_for(experiment_, work, partition, open, components_);
        if (candidates.empty() || (!open.algorithm && candidates.size() == 1)) {
            return false;
        }
        if (!open.algorithm) {
            estimate(candidates, alone_, work, partition);
            if (!may_gain(candidates)) {
                return false;
            }
        }
        Trials trials(alone_, work, partition, std::move(candidates), hash_.has_others());
        const std::size_t best = trials.run(open.algorithm);
        const Candidate& found = trials.candidate(best);
        chosen.how = found.how;
        choice.chosen = {found.method, trials.time(best)};
        choice.runner_up = trials.runner_up(best, open.algorithm);
        return true;
    }

    Experiment& experiment_;
    const Components& components_;
    CollectiveKeyHash hash_;
    Experiment alone_;
    std::map<std::string, const MethodChoice*> recorded_;
    std::map<std::string, Chosen> chosen_;
};

/// What reports call the algorithm of a kind: those that were chosen.
void name_algorithms(Experiment& experiment) {
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        if (experiment.cluster.algorithm_given[kind]) {
            continue;
        }
        std::vector<std::string> names;
        for (const MethodChoice& choice : experiment.choices) {
            const std::string& name = choice.chosen.method.name();
            if (choice.collective == system::to_string(static_cast<system::CollectiveKind>(kind)) &&
                std::ranges::find(names, name) == names.end()) {
                names.push_back(name);
            }
        }
        if (!names.empty()) {
            experiment.cluster.algorithms[kind] = fmt::format("{}", fmt::join(names, " or "));
        }
    }
}

/// The fastest of what the estimates put first, of which there may be none.
constexpr std::size_t kBetterTrials = 2;

/// Whether nothing can be kSlow times as fast as it is estimated to be: its own estimate, at the cost of one
/// algorithm instead of all.
bool is_near_bound(const Experiment& alone, const CollectiveOperation& work, const Partition& partition,
                   const Candidate& named) {
    std::vector<Candidate> itself{named};
    estimate(itself, alone, work, partition);
    const system::Program program = program_of(alone, work, partition, {named.how});
    const Time bound = lower_bound(program, alone.cluster.options, *alone.fabric, alone.placement).value();
    return bound > Time(0) && ratio(itself.front().estimate, bound) < kSlow;
}

std::optional<SlowMethod> slow_method(const Experiment& experiment, Experiment& alone,
                                      const system::Operation& operation, const Components& components,
                                      double most_work) {
    const CollectiveOperation& work = operation.collective();
    const auto kind = static_cast<std::size_t>(work.kind);
    const Partition& partition = experiment.program.partitions[work.partition];
    Candidate named;
    named.method = {experiment.cluster.named[kind], system::chosen_chunks(work, experiment.cluster.options)};
    named.how = std::make_shared<const system::CollectiveMethod>(
        system::CollectiveMethod{system::chosen_algorithm(work, experiment.cluster.options),
                                 named.method.chunks, named.method.name()});
    if (is_near_bound(alone, work, partition, named)) {
        return std::nullopt;
    }
    std::vector<Candidate> candidates = candidates_for(experiment, work, partition, {true, true}, components);
    candidates.push_back(std::move(named));
    const std::size_t own = candidates.size() - 1;
    Trials trials(alone, work, partition, std::move(candidates), false);
    std::vector<std::size_t> order = trials.order();
    if (order.front() == own || trials.work_of(own) > most_work ||
        ratio(trials.candidate(own).estimate, trials.candidate(order.front()).estimate) < kSlow) {
        return std::nullopt;
    }
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < std::min(order.size(), kBetterTrials); ++i) {
        const std::size_t index = order[i];
        if (index == own || trials.work_of(index) > most_work) {
            continue;
        }
        const std::optional<Time> time = trials.simulate(index, best ? *trials.time(*best) : Time::max());
        if (time && (!best || *time < *trials.time(*best))) {
            best = index;
        }
    }
    if (!best) {
        return std::nullopt;
    }
    constexpr double kLookedAt = 50;
    const Time most = scaled(*trials.time(*best), kLookedAt);
    const std::optional<Time> time = trials.simulate(own, most);
    if (time && ratio(*time, *trials.time(*best)) <= kSlow) {
        return std::nullopt;
    }
    return SlowMethod{.operation = operation.name,
                      .collective = std::string(system::to_string(work.kind)),
                      .size = work.size,
                      .named = trials.candidate(own).method,
                      .time = time.value_or(most),
                      .is_at_least = !time,
                      .better = {trials.candidate(*best).method, trials.time(*best)}};
}

}  // namespace

void choose_methods(Experiment& experiment, const std::vector<MethodChoice>& recorded,
                    const Components& components) {
    experiment.choices.clear();
    const Cluster& cluster = experiment.cluster;
    if (cluster.algorithm_given.all() && cluster.chunks_given.all()) {
        return;
    }
    Chooser chooser(experiment, recorded, components);
    for (system::Operation& operation : experiment.program.operations) {
        if (operation.is_collective()) {
            chooser.choose(operation);
        }
    }
    name_algorithms(experiment);
}

std::vector<SlowMethod> slow_methods(const Experiment& experiment, const Components& components,
                                     SlowMethodsCost cost) {
    std::vector<SlowMethod> slow;
    Experiment alone = setting_of(experiment, components);
    CollectiveKeyHash hash(experiment);
    const auto known = components.choices->slow();
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        // The largest speaks for its kind.
        const system::Operation* largest = nullptr;
        for (const system::Operation& operation : experiment.program.operations) {
            if (operation.is_collective() && static_cast<std::size_t>(operation.collective().kind) == kind &&
                moves_something(operation.collective(),
                                experiment.program.partitions[operation.collective().partition]) &&
                (largest == nullptr || operation.collective().size > largest->collective().size)) {
                largest = &operation;
            }
        }
        if (largest == nullptr || !experiment.cluster.algorithm_given[kind]) {
            continue;
        }
        const std::string key =
            (cost == SlowMethodsCost::kSeconds ? "" : "tenths ") + hash.of(largest->collective());
        const auto before = known.find(key);
        std::optional<SlowMethod> found =
            before != known.end() ? before->second
                                  : slow_method(experiment, alone, *largest, components,
                                                cost == SlowMethodsCost::kSeconds ? kMostWork : kTrialsWork);
        components.choices->add_slow(key, found);
        if (found) {
            found->operation = largest->name;
            slow.push_back(*std::move(found));
        }
    }
    return slow;
}

}  // namespace astrolabe::experiment
