/// A process for every rank that is shown, written as the run goes:
///
///     compute       what the rank computes, a slice each
///     waits         where it does not: a slice for what is exposed of an operation, attributed as the
///                   accounting does (system/program/program.hpp), and the drain at its end
///     STREAM, STREAM waits
///                   the same of every stream of the program but the first
///     issued        a slice without length where a collective is issued that sends something, and an arrow
///                   from it to the link that the first of its messages to arrive left by, at the time it was
///                   handed to the network
///     (spans)       every collective from its issue to its end on this rank
///
/// On every rank and stream compute + waits = total, slice by slice.
///
/// Memory: 4 bytes for every operation and rank shown, some 60 bytes for every collective that is under way
/// or of which the rank has sent nothing, 4 bytes for every operation, and each name and iteration once.
#pragma once

#include "link_tracks.hpp"
#include "trace_writer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/message_observer.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::experiment {

class RankTracks {
public:
    /// All must outlive it but `ranks`, those shown, ascending. Begins threads of links in `process`.
    RankTracks(const Experiment& experiment, const LinkTracks& links,
               const std::vector<system::RankId>& ranks, TraceWriter& writer, TraceProcess process);

    void issued(system::OperationId operation, system::RankId rank, Time now);
    void finished(system::OperationId operation, system::RankId rank, Time now);
    void message(const network::MessageRecord& record);
    /// The end of the run.
    void drain(Time total);

    /// What a rank takes in the file at most, whichever it is.
    [[nodiscard]] static std::uint64_t most_bytes(const Experiment& experiment, const LinkTracks& links);

private:
    struct UnderWay {
        system::OperationId operation;
        Time issued;
    };
    struct Stream {
        TraceThread compute;
        TraceThread waits;
        std::size_t next_compute = 0;     ///< into compute_
        std::size_t next_dependency = 0;  ///< of that operation
        Time idle_since;
    };
    struct Shown {
        TraceProcess process;
        std::vector<Stream> streams;
        TraceThread issued;
        std::vector<std::uint32_t>
            finished_as;                  ///< by operation, its number among those finished; 0: not yet
        std::uint32_t finished = 0;       ///< operations
        std::vector<UnderWay> under_way;  ///< collectives
        /// When collectives were issued of which no message has arrived yet.
        std::unordered_map<system::OperationId, Time> silent;
    };
    [[nodiscard]] Shown* shown(std::size_t rank);
    [[nodiscard]] TraceText text(system::OperationId operation, std::string_view category) const;
    [[nodiscard]] Stream& stream_of(Shown& rank, system::OperationId operation) const;
    void charge_waits(const Shown& rank, std::size_t stream, Stream& own, Time now);
    /// In first-come order: the wait before `operation`, which starts now.
    void charge_wait_before(Shown& rank, system::OperationId operation, Time now);
    void write_wait(const Stream& stream, system::OperationId cause, system::OperationId before, Time from,
                    Time to);
    void write_first_message(const Shown& rank, Time issued, const network::MessageRecord& record);
    /// None where the message is split over several, or the engine chooses one by itself.
    [[nodiscard]] std::optional<network::LinkId> first_link(network::HostId from, network::HostId to) const;
    [[nodiscard]] TraceThread thread_of(network::LinkId link);

    const Experiment& experiment_;
    const system::Program& program_;
    TraceWriter& writer_;
    const LinkTracks& links_;
    TraceProcess links_process_;
    std::vector<std::string> names_;                         ///< JSON, each once
    std::vector<std::uint32_t> name_of_;                     ///< by operation, into names_
    std::vector<std::string> iterations_;                    ///< JSON, arguments of operations by iteration
    std::vector<std::vector<system::OperationId>> compute_;  ///< by stream
    std::vector<std::uint32_t> place_;                       ///< by rank, into shown_; kHidden
    std::vector<std::size_t> rank_on_;                       ///< by host, of those with one
    std::vector<Shown> shown_;
    std::unordered_map<network::LinkId, TraceThread> link_threads_;
};

}  // namespace astrolabe::experiment
