/// Several jobs on one network: the section `jobs` of an experiment, in place of `workload`.
///
/// Model. A job is a Program with ranks of its own, each on a host that no other job has at the time. What is
/// written beside `jobs` (cluster, network, backend) is common to all; a job may differ in its cluster. So
/// every job is an experiment by itself, on the same fabric: `Job::experiment`, which runs alone as any
/// other. Jobs meet in the network and nowhere else.
///
/// Hosts. Without a queue every job has its hosts from the start, whenever it begins: listed, or taken in
/// the order of the list from those that are free, by a policy over the groups of placement.hpp:
///     packed   the first free hosts, group by group
///     by_rack  in as few groups as possible: the one with the fewest free hosts that suffice; if there is
///              none, the groups with the most free hosts first
///     spread   one free host of every group in turn
///     random   free hosts drawn without repetition, in random order (stream "jobs.placement")
/// With a queue a job gets hosts when it starts: first come, first served, and with `backfill` a later one
/// that fits starts before an earlier one that does not.
///
/// Drawn jobs. Of a `mix` jobs are drawn independently, each kind with a probability proportional to its
/// share (stream "jobs.mix"): `count` of them, or as long as the ranks of all are at most `load` times the
/// hosts; the first that would not fit ends the drawing. Times between arrivals are exponential (stream
/// "jobs.arrivals").
///
/// Networks that are built for their job. Each job has a network of its own, fitted to it, as servers of one
/// optical switch that are wired into disjoint parts: nothing is shared, and one job's times are those it has
/// alone. `hosts` says how many there are in all.
///
/// Complexity: that of reading every job, and O(H log H) a job for its hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::experiment {

enum class JobPlacement : std::uint8_t { kPacked, kSpread, kRandom, kByRack };

struct JobOnNetwork {
    std::string name;
    std::string kind;        ///< of a drawn one its entry of the mix; else the name
    Experiment experiment;   ///< of it alone, on its hosts
    Time start;              ///< when it arrives
    std::uint32_t repeat = 1;
    JobPlacement placement = JobPlacement::kPacked;
};

struct JobSet {
    std::vector<JobOnNetwork> jobs;
    /// What they share; null where every job has a network of its own.
    std::shared_ptr<const network::Fabric> fabric;
    std::size_t hosts = 0;
    std::size_t ranks = 0;  ///< of all jobs
    std::uint64_t seed = 1;  ///< of random placements
    std::vector<std::string> streams;  ///< that jobs, arrivals and hosts were or are drawn with
    bool queue = false;
    bool backfill = false;
    bool until_all_finished_once = false;
    bool slowdown = false;
    bool interference = false;

    [[nodiscard]] bool shares_network() const { return fabric != nullptr; }
};

/// Hosts that are free, and who gets which.
class FreeHosts {
public:
    FreeHosts(const network::Fabric& fabric, std::uint64_t seed);

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] bool is_free(network::HostId host) const { return free_[host.index()]; }
    /// Precondition: it is free.
    void take(network::HostId host);
    void release(network::HostId host);
    /// Takes hosts for `ranks` ranks, by rank. `job` tells random placements apart. Precondition: so many are
    /// free.
    [[nodiscard]] std::vector<network::HostId> take(std::size_t ranks, JobPlacement placement,
                                                    std::size_t job);

private:
    /// By group, those that are free.
    [[nodiscard]] std::vector<std::vector<network::HostId>> groups() const;

    std::vector<std::vector<network::HostId>> groups_;
    std::vector<bool> free_;
    std::size_t count_;
    std::uint64_t seed_;
};

}  // namespace astrolabe::experiment
