#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/random.hpp>
#include <astrolabe/experiment/file/rank_compute.hpp>

namespace astrolabe {

template <>
struct EnumNames<experiment::JitterDistribution> {
    using Distribution = experiment::JitterDistribution;
    static constexpr std::array<std::pair<std::string_view, Distribution>, 4> kNames{
        {{"uniform", Distribution::kUniform},
         {"normal", Distribution::kNormal},
         {"lognormal", Distribution::kLognormal},
         {"exponential", Distribution::kExponential}}};
};

template <>
struct EnumNames<experiment::JitterDraw> {
    static constexpr std::array<std::pair<std::string_view, experiment::JitterDraw>, 2> kNames{
        {{"operation", experiment::JitterDraw::kOperation},
         {"iteration", experiment::JitterDraw::kIteration}}};
};

}  // namespace astrolabe

namespace astrolabe::experiment {
namespace {

constexpr Range<double> kSlowdowns{1e-6, 1e6};
constexpr double kBillion = 1e9;
constexpr std::size_t kMostRanks = std::size_t{1} << 20;

std::optional<std::size_t> rank_number(std::string_view text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size() && number < kMostRanks;
    return is_number ? std::optional(number) : std::nullopt;
}

/// "9" or "0-7".
void read_range(std::vector<RankRange>& ranks, const ConfigNode& node, ReadContext& context) {
    const std::string_view text = node.is_scalar() ? std::string_view(node.text) : std::string_view();
    const std::size_t dash = text.find('-');
    const auto first = rank_number(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : rank_number(text.substr(dash + 1));
    if (!first || !last) {
        context.error("config.value", node.where,
                      fmt::format("'ranks': {} is no rank and no range of ranks",
                                  node.is_scalar() ? "'" + node.text + "'" : std::string(node.kind_name())),
                      "write ranks: 0-7, or ranks: [0-7, 9]");
        return;
    }
    if (*last < *first) {
        context.error("config.value", node.where, fmt::format("'ranks': {} holds no rank", node.text),
                      fmt::format("the smaller comes first: {}-{}", *last, *first));
        return;
    }
    ranks.push_back({*first, *last});
}

void read_ranges(RankDevice& device, const ConfigNode& node, ReadContext& context) {
    if (!node.is_sequence()) {
        read_range(device.ranks, node, context);
        return;
    }
    if (node.items.empty()) {
        context.error("config.value", node.where, "'ranks' is an empty list",
                      "write ranks: 0-7, or ranks: [0-7, 9]");
    }
    for (const ConfigNode& item : node.items) {
        read_range(device.ranks, item, context);
    }
}

std::string range_name(const RankRange& range) {
    return range.first == range.last ? std::to_string(range.first)
                                     : fmt::format("{}-{}", range.first, range.last);
}

ConfigNode write_ranges(const RankDevice& device) {
    if (device.ranks.size() == 1) {
        return ConfigNode::scalar(range_name(device.ranks.front()));
    }
    std::vector<ConfigNode> items;
    for (const RankRange& range : device.ranks) {
        items.push_back(ConfigNode::scalar(range_name(range)));
    }
    return ConfigNode::sequence(std::move(items));
}

ValidationErrors without_effect(const RankDevice& device) {
    ValidationErrors errors;
    require(errors, device.device || device.slowdown != 1, "", "says nothing of how its ranks compute",
            "give a slowdown, such as 2, or a device");
    return errors;
}

double largest_variation(JitterDistribution distribution) {
    switch (distribution) {
        case JitterDistribution::kUniform:
            return 1 / std::numbers::sqrt3;
        case JitterDistribution::kNormal:
            return 1.0 / 3;
        case JitterDistribution::kLognormal:
            return 10;
        case JitterDistribution::kExponential:
            return 1;
    }
    invariant_failed("distribution is known", "every distribution has a range");
}

ValidationErrors jitter_errors(const Jitter& jitter) {
    ValidationErrors errors;
    const double most = largest_variation(jitter.distribution);
    require(errors, jitter.variation <= most, "variation",
            fmt::format("is {}, expected at most {:.4f}: durations would be negative or lose their mean",
                        jitter.variation, most),
            "take a smaller one, or distribution: lognormal");
    return errors;
}

constexpr Range<double> kShares{0.0, 0.9};

ValidationErrors contention_errors(const Contention& contention) {
    ValidationErrors errors;
    require(errors, contention.compute_share > 0 || contention.memory_bandwidth_share > 0, "",
            "no share is above 0", "give compute_share, memory_bandwidth_share, or both");
    return errors;
}

/// Rounded down, but not to nothing.
template <class Rate>
Rate part_of(Rate rate, double part) {
    return Rate(std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::floor(static_cast<double>(rate.count()) * part))));
}

void divide(std::optional<workload::MeasuredTime>& time, double by) {
    if (!time) {
        return;
    }
    const auto longer = [by](Time each) {
        return Time(static_cast<std::int64_t>(std::ceil(static_cast<double>(each.count()) / by)));
    };
    if (time->is_same()) {
        time = workload::MeasuredTime(longer(time->by_rows().front().second));
        return;
    }
    std::vector<std::pair<std::int64_t, Time>> by_rows = time->by_rows();
    for (auto& [rows, each] : by_rows) {
        each = longer(each);
    }
    time = workload::MeasuredTime(std::move(by_rows));
}

/// Above 0, at most 1, in steps of 2^-53.
double above_zero(RandomStream& random) {
    return std::ldexp(static_cast<double>((random.next() >> 11) + 1), -53);
}

/// Standard normal, by the Box-Muller transform.
double drawn_normal(RandomStream& random) {
    const double radius = std::sqrt(-2 * std::log(above_zero(random)));
    return radius * std::cos(2 * std::numbers::pi * above_zero(random));
}

double drawn_factor(const Jitter& jitter, RandomStream& random) {
    const double c = jitter.variation;
    switch (jitter.distribution) {
        case JitterDistribution::kUniform:
            return 1 + c * std::numbers::sqrt3 * (1 - 2 * above_zero(random));
        case JitterDistribution::kNormal: {
            double z = drawn_normal(random);
            while (std::abs(z) * c > 1) {
                z = drawn_normal(random);
            }
            return 1 + c * z;
        }
        case JitterDistribution::kLognormal: {
            const double variance = std::log1p(c * c);
            return std::exp(std::sqrt(variance) * drawn_normal(random) - variance / 2);
        }
        case JitterDistribution::kExponential:
            return 1 - c - c * std::log(above_zero(random));
    }
    invariant_failed("distribution is known", "every distribution can be drawn from");
}

}  // namespace

Schema<RankDevice> rank_device_schema(const Registry<workload::Device>& devices) {
    Schema<RankDevice> schema("devices", "ranks that compute otherwise than 'device' says");
    schema
        .field({"ranks",
                "rank, range of ranks, or list of them",
                "",
                true,
                {},
                "that the entry is for: 9, 0-7, or [0-7, 9]",
                {}},
               read_ranges, [](const RankDevice& device) { return std::optional(write_ranges(device)); })
        .optional("slowdown", &RankDevice::slowdown, "they take so many times as long", kSlowdowns)
        .field(
            {"device",
             "mapping",
             "unset",
             false,
             {},
             "what they compute on, or the path of a file that holds it; unset: the cluster's",
             {}},
            [&devices](RankDevice& device, const ConfigNode& node, ReadContext& context) {
                device.device = devices.read(node, context);
            },
            [](const RankDevice& device) {
                return device.device ? std::optional(device.device->resolved) : std::nullopt;
            })
        .check(without_effect);
    return schema;
}

Schema<Jitter> jitter_schema() {
    Schema<Jitter> schema("jitter", "computations whose times are drawn, by rank and iteration");
    schema
        .required("distribution", &Jitter::distribution,
                  "of the factor, whose mean is 1 whatever the distribution")
        .required("variation", &Jitter::variation, "standard deviation of the factor", {0.0, 10.0})
        .optional("added", &Jitter::added,
                  "a computation takes so much times the factor longer; unset: it takes the factor times as "
                  "long",
                  {Time(1), Time(1000 * kPicosecondsPerSecond)})
        .optional("each", &Jitter::each,
                  "draw for every operation of a rank and iteration, or once for all of an iteration")
        .optional("seed", &Jitter::seed, "of what is drawn; unset: that of the experiment",
                  {0, std::numeric_limits<std::int64_t>::max()})
        .check(jitter_errors);
    return schema;
}

Schema<Contention> contention_schema() {
    Schema<Contention> schema("contention",
                              "what collectives in flight on a rank take from its computations");
    schema.optional("compute_share", &Contention::compute_share, "of the compute units", kShares)
        .optional("memory_bandwidth_share", &Contention::memory_bandwidth_share, "of the memory's bandwidth",
                  kShares)
        .check(contention_errors);
    return schema;
}

workload::Device beside_collectives(workload::Device device, const Contention& contention) {
    const double compute = 1 - contention.compute_share;
    const double memory = 1 - contention.memory_bandwidth_share;
    const auto reduce = [](auto& rate, double part) {
        if (rate) {
            rate = part_of(*rate, part);
        }
    };
    reduce(device.peak, compute);
    reduce(device.memory_bandwidth, memory);
    for (auto& [precision, rate] : device.peaks) {
        rate = part_of(rate, compute);
    }
    if (device.gemm) {
        for (auto& [precision, rate] : device.gemm->rate) {
            rate = part_of(rate, compute);
        }
    }
    if (device.lookup && device.lookup->bandwidth) {
        std::map<std::int64_t, Bandwidth> listed = device.lookup->bandwidth->listed();
        for (auto& [columns, rate] : listed) {
            rate = part_of(rate, memory);
        }
        device.lookup->bandwidth = workload::ByNumber<Bandwidth>(std::move(listed));
    }
    const double least = std::min(compute, memory);
    for (auto& [name, times] : device.measured) {
        divide(times.forward, least);
        divide(times.input_gradient, least);
        divide(times.weight_gradient, least);
    }
    if (device.tables) {
        for (std::vector<Time>* times : {&device.tables->forward, &device.tables->backward}) {
            for (Time& each : *times) {
                each = Time(static_cast<std::int64_t>(std::ceil(static_cast<double>(each.count()) / least)));
            }
        }
    }
    return device;
}

ValidationErrors rank_device_errors(const std::vector<RankDevice>& devices, std::size_t ranks) {
    ValidationErrors errors;
    std::vector<std::size_t> entry_of(ranks, devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const std::string key = fmt::format("devices.{}.ranks", i);
        for (const RankRange& range : devices[i].ranks) {
            if (range.last >= ranks) {
                add_error(errors, key,
                          fmt::format("rank {} is not one of the cluster's {}", range.last, ranks),
                          fmt::format("ranks are counted from 0 to {}", ranks - 1));
                continue;
            }
            for (std::size_t rank = range.first; rank <= range.last; ++rank) {
                if (entry_of[rank] != devices.size()) {
                    add_error(errors, key,
                              fmt::format("rank {} is in entry {} and in entry {}", rank, entry_of[rank] + 1,
                                          i + 1),
                              "a rank has one device: give both its device and its slowdown in one entry");
                    break;
                }
                entry_of[rank] = i;
            }
        }
    }
    return errors;
}

std::int64_t jitter_factor(const Jitter& jitter, std::uint64_t seed, std::size_t rank, int iteration,
                           std::string_view operation) {
    const std::uint64_t of_rank = RandomStream(seed, fmt::format("cluster.jitter {}", rank)).next();
    RandomStream random(of_rank + static_cast<std::uint64_t>(iteration),
                        jitter.each == JitterDraw::kOperation ? operation : std::string_view());
    const double billionths = drawn_factor(jitter, random) * kBillion;
    return std::max<std::int64_t>(0, std::llround(billionths));
}

}  // namespace astrolabe::experiment
