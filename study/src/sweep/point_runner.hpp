/// Points that run, each in a process of its own: longest first, as many at a time as there are jobs, only
/// what fits into memory (sweep.hpp says how that is known). Where results go, and which other process
/// computes them, is the business of a sink.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::study {

struct PlannedPoint {
    const StudyPoint* point = nullptr;
    Resolution resolution;
};

/// Takes what points give.
class PointSink {
public:
    PointSink() = default;
    PointSink(const PointSink&) = delete;
    PointSink& operator=(const PointSink&) = delete;
    virtual ~PointSink() = default;

    /// False: another process computes the point now. What was taken is released.
    [[nodiscard]] virtual bool take(const std::string& key) = 0;
    virtual void release(const std::string& key) = 0;
    /// Of what is known by now, asked after `take`.
    [[nodiscard]] virtual PointStatus status(const std::string& key) = 0;
    /// A result that is put stays, whatever happens then.
    [[nodiscard]] virtual std::optional<Diagnostic> put(const StoredResult& result) = 0;
};

/// Runs points and adds to `outcome`, which counts those that need not be run. Errors: what the sink says,
/// and a point that has become another experiment than the one planned, its files having changed; both end
/// the sweep.
[[nodiscard]] Result<SweepOutcome> run_points(const Study& study, const experiment::Components& components,
                                              std::vector<PlannedPoint> points, PointSink& sink,
                                              const SweepOptions& options, SweepOutcome outcome);

/// What a study lacks in a store.
struct OpenPoints {
    std::vector<PlannedPoint> points;  ///< without a result, or failed and to be tried again
    SweepOutcome outcome;              ///< counts the others, or says that planning was interrupted
};

/// Plans a study, puts it in the store with the points that could not be read, which fail, and looks which of
/// those that are `wanted` have no result.
[[nodiscard]] Result<OpenPoints> find_open_points(const Study& study,
                                                  const experiment::Components& components,
                                                  ResultStore& store, const SweepOptions& options,
                                                  const std::function<bool(const StudyPoint&)>& wanted);

/// Of a point of a study: missing, too, where details that figures of the study are drawn from are.
[[nodiscard]] PointStatus status_for(const Study& study, const ResultStore& store, const std::string& key);

/// Whether a sweep computes a point of this status.
[[nodiscard]] bool is_to_be_run(PointStatus status, const SweepOptions& options);

/// One more point that has a result.
void count(SweepOutcome& outcome, PointStatus status);

/// Of a point that gave no result.
[[nodiscard]] StoredResult failed_result(std::string key, std::string error);

}  // namespace astrolabe::study
