/// Constants and times of nccl_tuning.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/calibration/nccl_tuning.hpp>

namespace astrolabe {

template <>
struct EnumNames<experiment::GpuGeneration> {
    using E = experiment::GpuGeneration;
    static constexpr std::array<std::pair<std::string_view, E>, 4> kNames{
        {{"volta", E::kVolta}, {"ampere", E::kAmpere}, {"hopper", E::kHopper}, {"blackwell", E::kBlackwell}}};
};
template <>
struct EnumNames<experiment::NcclInside> {
    using E = experiment::NcclInside;
    static constexpr std::array<std::pair<std::string_view, E>, 2> kNames{
        {{"nvlink", E::kNvlink}, {"pcie", E::kPcie}}};
};
template <>
struct EnumNames<experiment::NcclHost> {
    using E = experiment::NcclHost;
    static constexpr std::array<std::pair<std::string_view, E>, 2> kNames{
        {{"intel", E::kIntel}, {"amd", E::kAmd}}};
};
template <>
struct EnumNames<experiment::NcclAlgorithm> {
    using E = experiment::NcclAlgorithm;
    static constexpr std::array<std::pair<std::string_view, E>, 2> kNames{
        {{"ring", E::kRing}, {"tree", E::kTree}}};
};
template <>
struct EnumNames<experiment::NcclProtocol> {
    using E = experiment::NcclProtocol;
    static constexpr std::array<std::pair<std::string_view, E>, 3> kNames{
        {{"ll", E::kLl}, {"ll128", E::kLl128}, {"simple", E::kSimple}}};
};

}  // namespace astrolabe

namespace astrolabe::experiment {
namespace {

using system::CollectiveKind;

/// By protocol: LL, LL128, Simple; microseconds.
using ByProtocol = std::array<double, 3>;
struct AlgorithmLatencies {
    ByProtocol base;
    ByProtocol nvlink;
    ByProtocol pcie;
    ByProtocol network;
};
constexpr std::array<AlgorithmLatencies, 2> kLatencies{
    {{{6.6, 14, 8.4}, {0.6, 1.9, 3.4}, {1, 2.5, 5.7}, {2.7, 4, 14}},
     {{6.8, 14, 8.4}, {0.6, 1.25, 4}, {1, 1.9, 4}, {5, 8.5, 14}}}};

/// Of rings, by generation; GB/s.
constexpr std::array<double, 4> kLlCapInside{39, 87.7, 141, 282};
constexpr std::array<double, 4> kLl128OfChannel{20, 20, 36.7, 40};
/// On two nodes and on more, by host.
constexpr std::array<std::array<double, 2>, 2> kLlCapAcross{{{39, 20.4}, {22.5, 19}}};

struct RingSteps {
    double all;
    double across;
};

std::optional<RingSteps> ring_steps(CollectiveKind kind, double ranks, double nodes) {
    switch (kind) {
        case CollectiveKind::kAllReduce:
            return RingSteps{2 * (ranks - 1), 2 * (nodes - 1)};
        case CollectiveKind::kReduceScatter:
        case CollectiveKind::kAllGather:
            return RingSteps{ranks - 1, nodes - 1};
        case CollectiveKind::kBroadcast:
        case CollectiveKind::kReduce:
            return RingSteps{ranks, nodes > 1 ? nodes : 0};
        case CollectiveKind::kAllToAll:
        case CollectiveKind::kPointToPoint:
            return std::nullopt;
    }
    invariant_failed("collective kind", "every kind has its ring, or none");
}

class NcclTimes {
public:
    NcclTimes(const NcclTuning& tuning, CollectiveKind kind, std::size_t ranks)
        : tuning_(tuning),
          kind_(kind),
          ranks_(static_cast<double>(ranks)),
          nodes_(static_cast<double>((ranks + tuning.ranks_per_node - 1) / tuning.ranks_per_node)),
          generation_(static_cast<std::size_t>(tuning.generation)) {
        rate_ = static_cast<double>(tuning.channels) * to_bytes_per_second(tuning.channel_rate) / 1e9;
        if (nodes_ > 1 && tuning.across) {
            rate_ = std::min(rate_, to_bytes_per_second(*tuning.across) / 1e9);
        }
    }

    /// Microseconds; nothing where the algorithm does not carry the kind out.
    [[nodiscard]] std::optional<double> time(NcclAlgorithm algorithm, NcclProtocol protocol,
                                             double bytes) const {
        return algorithm == NcclAlgorithm::kRing ? ring(protocol, bytes) : tree(protocol, bytes);
    }

private:
    [[nodiscard]] double inside(NcclAlgorithm algorithm, NcclProtocol protocol) const {
        const AlgorithmLatencies& latencies = kLatencies[static_cast<std::size_t>(algorithm)];
        const ByProtocol& steps = tuning_.inside == NcclInside::kNvlink ? latencies.nvlink : latencies.pcie;
        const double step = steps[static_cast<std::size_t>(protocol)];
        if (nodes_ == 1) {
            return step;
        }
        const double least = tuning_.host == NcclHost::kIntel ? 1 : 2;
        return std::max(step, protocol == NcclProtocol::kSimple ? 3 * least : least);
    }

    [[nodiscard]] std::optional<double> ring(NcclProtocol protocol, double bytes) const {
        const std::optional<RingSteps> steps = ring_steps(kind_, ranks_, nodes_);
        if (!steps) {
            return std::nullopt;
        }
        const auto index = static_cast<std::size_t>(protocol);
        const AlgorithmLatencies& latencies = kLatencies[static_cast<std::size_t>(NcclAlgorithm::kRing)];
        double latency = latencies.base[index] +
                         (steps->all - steps->across) * inside(NcclAlgorithm::kRing, protocol) +
                         steps->across * latencies.network[index];
        double busbw = rate_;
        if (protocol == NcclProtocol::kLl) {
            const double cap =
                nodes_ == 1 ? kLlCapInside[generation_]
                            : kLlCapAcross[static_cast<std::size_t>(tuning_.host)][nodes_ == 2 ? 0 : 1];
            busbw = std::min(rate_ / 2, cap);
        } else if (protocol == NcclProtocol::kLl128) {
            busbw =
                std::min(0.92 * rate_, static_cast<double>(tuning_.channels) * kLl128OfChannel[generation_]);
        } else if (nodes_ > 1) {
            latency *= tuning_.generation == GpuGeneration::kVolta ? 1.9 : 1.4;
        }
        return latency + bytes / 1e3 / (busbw * ranks_ / steps->all);
    }

    [[nodiscard]] std::optional<double> tree(NcclProtocol protocol, double bytes) const {
        if (kind_ != CollectiveKind::kAllReduce) {
            return std::nullopt;
        }
        const auto index = static_cast<std::size_t>(protocol);
        const AlgorithmLatencies& latencies = kLatencies[static_cast<std::size_t>(NcclAlgorithm::kTree)];
        const double latency =
            latencies.base[index] + 2 * ((ranks_ / nodes_ - 1) * inside(NcclAlgorithm::kTree, protocol) +
                                         std::log2(nodes_) * latencies.network[index]);
        double busbw = 0.92 * rate_;
        if (protocol == NcclProtocol::kLl) {
            busbw /= 3.8;
        } else if (protocol == NcclProtocol::kLl128 && nodes_ == 1) {
            busbw *= 7.0 / 9.0;
        }
        return latency + bytes / 1e3 / (busbw / 2);
    }

    const NcclTuning& tuning_;
    CollectiveKind kind_;
    double ranks_;
    double nodes_;
    std::size_t generation_;
    double rate_;  // B, GB/s
};

}  // namespace

Schema<NcclTuning> nccl_tuning_schema() {
    Schema<NcclTuning> schema("nccl_tuning", "what NCCL expects a collective to take, by its own model");
    schema.required("generation", &NcclTuning::generation, "of the devices")
        .optional("ranks_per_node", &NcclTuning::ranks_per_node, "devices of a node", {1, 1U << 20})
        .optional("inside", &NcclTuning::inside, "what connects the devices of a node")
        .optional("host", &NcclTuning::host, "processor of a node")
        .optional("channels", &NcclTuning::channels, "that NCCL found", {1, 64})
        .optional("channel_rate", &NcclTuning::channel_rate, "of one of them", {Bandwidth(1), {}})
        .optional("across", &NcclTuning::across, "bus bandwidth over several nodes, at most",
                  {Bandwidth(1), {}})
        .list("algorithms", &NcclTuning::algorithms, "that it may take, as NCCL_ALGO", false)
        .list("protocols", &NcclTuning::protocols, "that it may take, as NCCL_PROTO", false);
    schema.check([](const NcclTuning& tuning) {
        ValidationErrors errors;
        if (tuning.algorithms.empty()) {
            errors.push_back({"algorithms", "no algorithm is left", "write [ring, tree]"});
        }
        if (tuning.protocols.empty()) {
            errors.push_back({"protocols", "no protocol is left", "write [ll, ll128, simple]"});
        }
        return errors;
    });
    return schema;
}

std::optional<NcclChoice> nccl_choice(const NcclTuning& tuning, CollectiveKind kind, Bytes size,
                                      std::size_t ranks) {
    const NcclTimes times(tuning, kind, ranks);
    std::optional<NcclChoice> best;
    for (const NcclAlgorithm algorithm : tuning.algorithms) {
        for (const NcclProtocol protocol : tuning.protocols) {
            const std::optional<double> us =
                times.time(algorithm, protocol, static_cast<double>(size.count()));
            if (!us) {
                continue;
            }
            const Time time(std::llround(*us * 1e6));
            if (!best || time < best->time) {
                best = {algorithm, protocol, time};
            }
        }
    }
    return best;
}

}  // namespace astrolabe::experiment
