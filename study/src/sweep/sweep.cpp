#include "point_claims.hpp"
#include "point_runner.hpp"
#include "run_details.hpp"

#include <utility>

namespace astrolabe::study {
namespace {

/// Results go into a store, which other sweeps may use too.
class StoreSink : public PointSink {
public:
    StoreSink(const Study& study, ResultStore& store, const std::filesystem::path& folder)
        : study_(study),
          store_(store),
          claims_(folder / kLockName) {}

    bool take(const std::string& key) override { return claims_.take(key); }
    void release(const std::string& key) override { claims_.release(key); }
    PointStatus status(const std::string& key) override { return status_for(study_, store_, key); }
    std::optional<Diagnostic> put(const StoredResult& result) override { return store_.put(result); }

private:
    const Study& study_;
    ResultStore& store_;
    PointClaims claims_;
};

std::optional<Diagnostic> put_study(const Study& study, const StudyPlan& plan, ResultStore& store) {
    StudyRecord record{study.name, study.report, {}};
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
        const Resolution& point = plan.points[i];
        record.points.push_back({study.points[i].number, study.points[i].parameters, point.key,
                                 point.predicted_wall_seconds, point.predicted_memory_bytes});
    }
    return store.put(record);
}

}  // namespace

PointStatus status_for(const Study& study, const ResultStore& store, const std::string& key) {
    const PointStatus status = store.status(key);
    return status == PointStatus::kDone && !store.has_details(key, wanted_details(study.report))
               ? PointStatus::kMissing
               : status;
}

std::set<std::string> open_keys(const Study& study, const ResultStore* store,
                                const std::vector<StudyRow>& rows) {
    std::set<std::string> keys;
    for (const StudyRow& row : rows) {
        const std::string& key = row.point.key;
        if (!key.empty() && (store == nullptr || status_for(study, *store, key) == PointStatus::kMissing)) {
            keys.insert(key);
        }
    }
    return keys;
}

Result<OpenPoints> find_open_points(const Study& study, const experiment::Components& components,
                                    ResultStore& store, const SweepOptions& options,
                                    const std::function<bool(const StudyPoint&)>& wanted) {
    const Result<StudyPlan> plan =
        plan_study(study, components, &store, {options.jobs, wanted, options.stop, options.plan_observer});
    if (!plan) {
        return plan.error();
    }
    OpenPoints open;
    open.outcome.interrupted = plan->interrupted;
    if (plan->interrupted) {
        return open;
    }
    if (std::optional<Diagnostic> error = put_study(study, *plan, store)) {
        return *std::move(error);
    }
    for (std::size_t i = 0; i < plan->points.size(); ++i) {
        if (!wanted(study.points[i])) {
            continue;
        }
        ++open.outcome.points;
        const std::string& key = plan->points[i].key;
        if (const auto crash = plan->crashes.find(i); crash != plan->crashes.end()) {
            if (std::optional<Diagnostic> error = store.put(failed_result(key, crash->second))) {
                return *std::move(error);
            }
            ++open.outcome.failed;
            ++open.outcome.computed;
            continue;
        }
        const PointStatus status = status_for(study, store, key);
        if (is_to_be_run(status, options)) {
            open.points.push_back({&study.points[i], plan->points[i]});
        } else {
            count(open.outcome, status);
        }
    }
    return open;
}

Result<SweepOutcome> run_sweep(const Study& study, const experiment::Components& components,
                               ResultStore& store, const std::filesystem::path& folder,
                               const SweepOptions& options) {
    const auto is_ours = [&](const StudyPoint& point) {
        return point.number % options.shards == options.shard % options.shards;
    };
    Result<OpenPoints> open = find_open_points(study, components, store, options, is_ours);
    if (!open) {
        return open.error();
    }
    if (open->outcome.interrupted) {
        return open->outcome;
    }
    StoreSink sink(study, store, folder);
    return run_points(study, components, std::move(open->points), sink, options, open->outcome);
}

}  // namespace astrolabe::study
