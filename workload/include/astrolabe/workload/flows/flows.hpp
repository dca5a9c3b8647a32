/// Flows: traffic of network studies, from a list or drawn at random (docs/models/flows.md).
///
/// Sizes S come from a step distribution: sizes s_1 < s_2 < … with cumulative probabilities p_1 <= … = 1, and
/// P(S = s_i) = p_i - p_{i-1}, mean Σ s_i (p_i - p_{i-1}).
///
/// Arrivals at load x for a duration D: a Poisson process of rate
///     λ = x · N · B / (8 · n · mean)      N hosts, B bit/s the link of a host, n flows of an arrival
/// so that hosts are offered the share x of what their links carry, on average over hosts and over time.
/// n is `senders` of an incast and 1 of all other patterns. Without a load one round starts at time 0.
/// With `sizes.below` flows of that size and more are drawn and not sent: those that are sent are the same
/// flows, at the same times, as without it.
///
/// Patterns, with groups of g = `group` hosts, group of host i = ⌊i / g⌋ (racks):
///   uniform      any host to any other                       a round: a flow of every host
///   permutation  every host to one partner of its own        a round: a flow of every host
///   incast       n hosts to one other, all at once           a round: one incast
///   shuffle      every host to every other, once             a round: all of it
///   hot_rack     the share `hot_share` of flows into group 0 from outside it, others uniform
///                                                            a round: one into it from every host outside
/// `intra_group: false` leaves out pairs of one group.
///
/// Gaps between arrivals are exponential, by von Neumann's method of comparisons (Various techniques used in
/// connection with random digits, 1951), which takes no logarithm: the same seed gives the same flows on
/// every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/flows/flow.hpp>
#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload {

class SizeDistribution {
public:
    struct Step {
        Bytes size;
        double cumulative = 0;  ///< P(S <= size)
    };

    /// One size.
    explicit SizeDistribution(Bytes size)
        : SizeDistribution(std::vector<Step>{{size, 1.0}}) {}
    /// Ascending sizes >= 1 B, ascending probabilities, the last one 1.
    explicit SizeDistribution(std::vector<Step> steps);
    /// Lines "bytes,cumulative probability" with ascending sizes and probabilities, the last one 1; lines
    /// that begin with # and a first line of names are passed over.
    [[nodiscard]] static Result<SizeDistribution> read(std::string text, std::string name);

    [[nodiscard]] double mean() const { return mean_; }  ///< bytes
    [[nodiscard]] Bytes largest() const { return steps_.back().size; }
    [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
    [[nodiscard]] Bytes draw(RandomStream& random) const;
    /// P(S < size).
    [[nodiscard]] double share_below(Bytes size) const;
    /// Σ s_i (p_i - p_(i-1)) over sizes s_i < size: what such flows add to the mean.
    [[nodiscard]] double mean_below(Bytes size) const;

private:
    std::vector<Step> steps_;
    double mean_ = 0;
};

enum class FlowPattern : std::uint8_t { kUniform, kPermutation, kIncast, kShuffle, kHotRack };

/// Flows that are listed, in order of their starts.
struct FlowList {
    std::vector<system::Flow> flows;
    std::vector<system::FlowTrigger> triggers;
    std::vector<system::Flow> waiting;  ///< for triggers
    std::uint32_t hosts = 0;            ///< largest number of a host, and one more
    std::string largest_at;             ///< where that one is named: "flows.csv:17"
};

struct ListedFlow {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    Bytes bytes;
    Time start;
};

/// Distributions of published studies that the program knows by name; inputs/flows has their files.
enum class PublishedSizes : std::uint8_t { kDataMining, kWebSearch, kHadoop };
[[nodiscard]] SizeDistribution published_sizes(PublishedSizes which);

struct FlowSizes {
    std::optional<Bytes> fixed;
    std::optional<PublishedSizes> published;
    std::string file;                              ///< absolute
    std::optional<Bytes> below;                    ///< larger ones are drawn and not sent
    std::optional<SizeDistribution> distribution;  ///< whichever of the first three was given
};

/// The keys of a section of flows.
struct FlowKeys {
    std::string file;  ///< of a list; absolute
    std::vector<ListedFlow> listed;
    std::shared_ptr<const FlowList> list;  ///< of `file` or `listed`
    std::optional<FlowPattern> pattern;
    std::optional<FlowSizes> sizes;
    std::optional<double> load;
    std::optional<Time> duration;
    std::uint32_t group = 1;
    bool intra_group = true;
    std::optional<std::uint32_t> senders;
    std::optional<double> hot_share;
    std::uint64_t seed = 1;
    std::optional<Time> time_limit;
    std::vector<Bytes> size_classes{Bytes(10'000), Bytes(100'000), Bytes(1'000'000), Bytes(15'000'000)};
    std::uint32_t traffic_class = 0;
};

/// `is_background`: beside a job, with whose end they end, so that there is no limit of time. Arrivals have a
/// duration all the same: a job that never ends does not keep them coming for ever.
[[nodiscard]] Schema<FlowKeys> flow_schema(std::string name, std::string help, bool is_background);
/// On that many hosts, by key.
[[nodiscard]] ValidationErrors validation_errors(const FlowKeys& keys, std::size_t hosts);
/// Precondition: no validation errors. `stream_name` is that of the random numbers.
[[nodiscard]] system::FlowTraffic make_traffic(const FlowKeys& keys, const FlowSetting& setting,
                                               const std::string& stream_name);

/// Reads a list by the end of its name: .csv, .cm (htsim's connection matrices), .htsim (a flow a line).
[[nodiscard]] Result<FlowList> read_flow_list(std::string text, std::string name);

}  // namespace astrolabe::workload
