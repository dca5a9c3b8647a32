/// What figures of single runs are drawn from: kept beside the result of a point where its study asks for
/// such a figure.
///
/// Every kind is a JSON object with its rows in `rows`. Of many the first and then every k-th is kept, with
/// the least k that leaves no more than the limit: the same ones on any machine. `all` says how many there
/// were, `step` is k.
///
///     ranks    [rank, compute, exposed, drain], in seconds of the whole run; 256 ranks
///     links    [link, source, destination, utilization], nodes by place in `nodes`; 2048 links, and the 256
///              busiest
///     tasks    [operation, iteration, issue, start, finish, kind], kinds by place in `kinds`; names in
///              `names`, by row; 3000 operations
///     gantt    [rank, operation, begin, end], operations by place in `names` with their kinds in `kinds` and
///     their
///              iterations in `of`; 16 ranks, 3000 operations. Of the run's `iterations` those in `kept`: the
///              last and as many before it as the limit allows, whole, and the first if there is still room.
///              A computation from its start; a collective from its issue on the rank. Of a folded run the
///              first ranks of those that were simulated. `ranks` of the run, `simulated` of them, `drawn` of
///              these: every `rank_step`-th
///     exchanges  [rank, sent, received], bytes of all-to-alls in an iteration on average, without what ranks
///              have for themselves; 256 ranks. Of the program: the network makes no difference to it
#pragma once

#include <string>
#include <vector>

#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::study {

/// Kinds of details that figures are drawn from, each once; a kind has the name of its figure.
[[nodiscard]] std::vector<std::string> wanted_details(const std::vector<std::string>& report);

/// When the ranks of a figure did what, in the iterations that are kept.
class SpanRecorder final : public experiment::ExecutionObserver {
public:
    /// The experiment must outlive it.
    explicit SpanRecorder(const experiment::Experiment& experiment);

    void begin(system::Executor& executor, const network::NetworkBackend& backend) override;
    [[nodiscard]] bool hears_images() const override { return true; }

    /// As JSON; `simulated` ranks stood for all.
    [[nodiscard]] std::string text(std::size_t simulated) const;

private:
    struct Span {
        Time begin{};
        Time end{};
        bool is_whole = false;
    };
    [[nodiscard]] bool wants(system::OperationId operation, system::RankId rank) const;
    void issued(system::OperationId operation, system::RankId rank, Time time);
    void finished(system::OperationId operation, system::RankId rank, Time time);

    const experiment::Experiment& experiment_;
    std::size_t rank_step_;
    std::vector<std::size_t> places_;  ///< of operations in a rank's spans; none: not kept
    std::size_t kept_ = 0;             ///< operations
    std::size_t operation_step_ = 1;
    std::size_t operations_ = 0;            ///< of the iterations that are kept
    std::vector<std::size_t> iterations_;   ///< that are kept
    std::vector<std::vector<Span>> spans_;  ///< by rank; empty where none was seen
};

/// Of a finished run; `spans` observed it where "gantt" is among the kinds, and may be null elsewhere.
[[nodiscard]] RunDetails details_of(const std::vector<std::string>& kinds,
                                    const experiment::Experiment& experiment, const experiment::Run& run,
                                    const SpanRecorder* spans);

}  // namespace astrolabe::study
