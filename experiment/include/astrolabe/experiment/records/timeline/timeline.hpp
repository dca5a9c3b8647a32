/// timeline.json.gz: what happened when, as a trace that Perfetto and Chrome open (docs/timeline.md).
///
/// Limits first. A trace has a size that it does not exceed; what has no room is left out by classes, never
/// cut off: ranks, phases, cycles of the network, links, intervals. What links carry is a mean over intervals
/// (carried_record.hpp), what waits in queues is sampled. All ranks are simulated, also where they could be
/// folded.
///
/// What is written when. Ranks are written as the run goes: how many have room is known before, from the
/// program. All else is written when it has ended, into the room that is left. Sizes are bounded by counting
/// what would be written with the longest numbers, so the trace is never larger than asked for. It is meant
/// for a viewer, which unpacks all of it, so its size is that before it is packed.
///
/// Memory: 64 KiB of text, 32 MiB of samples at most, and what rank_tracks.hpp and link_counters.hpp say.
/// Time: a constant for every event of a rank that is shown, and a bounded share for samples.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

class Timeline final : public ExecutionObserver {
public:
    /// What a trace of this run takes that shows one rank, its collectives and nothing else.
    [[nodiscard]] static Bytes least_size(const Experiment& experiment);

    /// The experiment must outlive it; `most` >= least_size is that of the trace.
    Timeline(const Experiment& experiment, Bytes most, OutputFile file);
    ~Timeline();

    void begin(system::Executor& executor, const network::NetworkBackend& backend) override;
    void message(const network::MessageRecord& record);
    /// Who is told of links.
    [[nodiscard]] network::LinkObserver& links();

    /// Gives the file its name; nothing, or why it could not be written. `run` has finished.
    [[nodiscard]] std::optional<Diagnostic> finish(const Run& run);

    /// What the trace does not show for want of room, for people; after `finish`. Empty where there is none.
    [[nodiscard]] const std::vector<std::string>& left_out() const;

private:
    class Implementation;  // src/timeline/
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace astrolabe::experiment
