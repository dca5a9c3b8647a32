/// Times and the file of measured_collectives.hpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/config/section_list.hpp>
#include <astrolabe/experiment/calibration/measured_collectives.hpp>

namespace astrolabe {

template <>
struct EnumNames<system::CollectiveKind> {
    using Kind = system::CollectiveKind;
    static constexpr std::array<std::pair<std::string_view, Kind>, system::kCollectiveKinds> kNames{
        {{"all_reduce", Kind::kAllReduce},
         {"reduce_scatter", Kind::kReduceScatter},
         {"all_gather", Kind::kAllGather},
         {"all_to_all", Kind::kAllToAll},
         {"broadcast", Kind::kBroadcast},
         {"reduce", Kind::kReduce},
         {"point_to_point", Kind::kPointToPoint}}};
};

}  // namespace astrolabe

namespace astrolabe::experiment {
namespace {

using system::CollectiveKind;

Schema<TimePiece> piece_schema() {
    Schema<TimePiece> schema("piece", "sizes that take a latency and their bytes over a rate");
    schema
        .required("up_to", &TimePiece::up_to, "the largest size of the piece, as nccl-tests counts sizes",
                  {Bytes(1), {}})
        .required("latency", &TimePiece::latency, "whatever the size", {Time(0), {}})
        .optional("rate", &TimePiece::rate, "unset: the size makes no difference", {Bandwidth(1), {}});
    return schema;
}

Schema<MeasuredSeries> series_schema() {
    const Range<double> relative{0.0, {}};
    Schema<MeasuredSeries> schema("series", "what one collective took, by size");
    schema.required("collective", &MeasuredSeries::kind, "which")
        .required("ranks", &MeasuredSeries::ranks, "of the group that was measured", {2, 1U << 20})
        .required("from", &MeasuredSeries::from, "the smallest size measured", {Bytes(1), {}});
    add_section_list(schema, "pieces", &MeasuredSeries::pieces, piece_schema(),
                     "of rising sizes; the last goes on beyond its end", true);
    schema.optional("mean_error", &MeasuredSeries::mean_error, "of the fit, relative; for readers", relative)
        .optional("largest_error", &MeasuredSeries::largest_error, "likewise", relative)
        .optional("left_out_error", &MeasuredSeries::left_out_error,
                  "mean over sizes, each predicted by a fit without it; for readers", relative)
        .optional("left_out_geometric_error", &MeasuredSeries::left_out_geometric_error,
                  "the same as a geometric mean of ratios, less one; for readers", relative)
        .optional("launch", &MeasuredSeries::launch,
                  "part of every measured time that was the host's, and is in no piece", {Time(0), {}})
        .optional("source", &MeasuredSeries::source, "of the numbers; for readers")
        .optional("fingerprint", &MeasuredSeries::fingerprint, "of the source's text; for readers");
    schema.check([](const MeasuredSeries& series) {
        ValidationErrors errors;
        Bytes before;
        for (std::size_t i = 0; i < series.pieces.size(); ++i) {
            if (series.pieces[i].up_to <= before) {
                errors.push_back({fmt::format("pieces.{}.up_to", i),
                                  fmt::format("a piece ends at {}, the one before it at {}",
                                              to_string(series.pieces[i].up_to), to_string(before)),
                                  "list pieces by rising sizes"});
            }
            before = series.pieces[i].up_to;
        }
        return errors;
    });
    return schema;
}

const TimePiece& piece_of(const MeasuredSeries& series, Bytes size) {
    for (const TimePiece& piece : series.pieces) {
        if (size <= piece.up_to) {
            return piece;
        }
    }
    return series.pieces.back();
}

Schema<GroupScaling> scaling_schema() {
    Schema<GroupScaling> schema("scaling", "how times of other numbers of ranks follow from those measured");
    schema.required("ranks_per_node", &GroupScaling::ranks_per_node, "of the machine", {1, 1U << 20})
        .optional("inside", &GroupScaling::inside, "a step between ranks of a node", {Time(0), {}})
        .optional("across", &GroupScaling::across, "a step between nodes", {Time(0), {}})
        .optional("nic", &GroupScaling::nic, "rate of a node's interfaces, for each of its ranks",
                  {Bandwidth(1), {}});
    return schema;
}

/// Measured for the kind, and for `ranks` or for the nearest number of them.
const MeasuredSeries* nearest_series(const MeasuredCollectives& measured, CollectiveKind kind,
                                     std::size_t ranks) {
    const auto distance = [ranks](const MeasuredSeries& series) {
        const auto [less, more] = std::minmax(series.ranks, ranks);
        return std::pair(static_cast<double>(more) / static_cast<double>(less), series.ranks);
    };
    const MeasuredSeries* nearest = nullptr;
    for (const MeasuredSeries& series : measured.series) {
        if (series.kind == kind && (nearest == nullptr || distance(series) < distance(*nearest))) {
            nearest = &series;
        }
    }
    return nearest;
}

/// Kinds whose times stand in for those of `kind`, the best first.
std::vector<CollectiveKind> stand_ins(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::kAllReduce:
            return {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter};
        case CollectiveKind::kReduceScatter:
            return {CollectiveKind::kAllGather, CollectiveKind::kAllReduce};
        case CollectiveKind::kAllGather:
            return {CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce};
        case CollectiveKind::kBroadcast:
            return {CollectiveKind::kReduce};
        case CollectiveKind::kReduce:
            return {CollectiveKind::kBroadcast};
        case CollectiveKind::kAllToAll:
        case CollectiveKind::kPointToPoint:
            return {};
    }
    invariant_failed("collective kind", "every kind has its stand-ins");
}

const MeasuredSeries* series_for(const MeasuredCollectives& measured, CollectiveKind kind,
                                 std::size_t ranks) {
    const MeasuredSeries* series = nearest_series(measured, kind, ranks);
    if (series == nullptr && measured.other_kinds) {
        for (const CollectiveKind other : stand_ins(kind)) {
            if (series == nullptr) {
                series = nearest_series(measured, other, ranks);
            }
        }
    }
    return series;
}

std::size_t node_count(std::size_t ranks, std::size_t ranks_per_node) {
    return (ranks + ranks_per_node - 1) / ranks_per_node;
}

struct Steps {
    double inside;
    double across;
};

Steps steps_of(CollectiveKind kind, std::size_t ranks, std::size_t ranks_per_node) {
    const std::size_t nodes = node_count(ranks, ranks_per_node);
    const auto ring = static_cast<double>(ranks - 1);
    const auto between = static_cast<double>(nodes - 1);
    switch (kind) {
        case CollectiveKind::kAllReduce:
            return {2 * (ring - between), 2 * between};
        case CollectiveKind::kReduceScatter:
        case CollectiveKind::kAllGather:
        case CollectiveKind::kAllToAll:
        case CollectiveKind::kBroadcast:
        case CollectiveKind::kReduce:
            return {ring - between, between};
        case CollectiveKind::kPointToPoint:
            return {nodes > 1 ? 0.0 : 1.0, nodes > 1 ? 1.0 : 0.0};
    }
    invariant_failed("collective kind", "every kind has its steps");
}

/// Least time of the bytes of `ranks` over several nodes; 0 where the rate of interfaces is not known.
Time interface_time(const GroupScaling& scaling, CollectiveKind kind, Bytes size, std::size_t ranks) {
    const std::size_t nodes = node_count(ranks, scaling.ranks_per_node);
    if (!scaling.nic || nodes < 2) {
        return Time(0);
    }
    const auto n = static_cast<double>(ranks);
    const auto h = static_cast<double>(scaling.ranks_per_node);
    const double bytes_of_a_nic =
        static_cast<double>(size.count()) *
        (kind == CollectiveKind::kAllToAll ? (n - h) / n : traffic_factor(kind, ranks) / h);
    return Time(std::llround(bytes_of_a_nic / to_bytes_per_second(*scaling.nic) *
                             static_cast<double>(kPicosecondsPerSecond)));
}

/// What `ranks` take, by a series of another kind or another number of ranks.
Time scaled_time(const MeasuredCollectives& measured, const MeasuredSeries& series, CollectiveKind kind,
                 Bytes size, std::size_t ranks) {
    const TimePiece& piece = piece_of(series, size);
    Time latency = piece.latency;
    const double factor = traffic_factor(kind, ranks) / traffic_factor(series.kind, series.ranks);
    Time bytes =
        piece.rate ? Time(std::llround(static_cast<double>((size / *piece.rate).count()) * factor)) : Time(0);
    if (const std::optional<GroupScaling>& scaling = measured.scaling) {
        const Steps here = steps_of(kind, ranks, scaling->ranks_per_node);
        const Steps there = steps_of(series.kind, series.ranks, scaling->ranks_per_node);
        const double more = (here.inside - there.inside) * static_cast<double>(scaling->inside.count()) +
                            (here.across - there.across) * static_cast<double>(scaling->across.count());
        latency = std::max(Time(0), latency + Time(std::llround(more)));
        bytes = std::max(bytes, interface_time(*scaling, kind, size, ranks));
    }
    return latency + bytes;
}

/// As add_section_list, and each knows its place.
void add_series(Schema<MeasuredCollectives>& schema) {
    const Schema<MeasuredSeries> item = series_schema();
    schema.field(
        {"series",
         "mapping, or list of mappings",
         "",
         true,
         {},
         "one for each collective and number of ranks",
         item.parameters()},
        [item](MeasuredCollectives& target, const ConfigNode& node, ReadContext& context) {
            const std::vector<ConfigNode> given = node.is_sequence() ? node.items : std::vector{node};
            for (const ConfigNode& one : given) {
                if (auto series = item.read(one, context)) {
                    series->where = one.where;
                    target.series.push_back(*std::move(series));
                }
            }
        },
        [item](const MeasuredCollectives& source) -> std::optional<ConfigNode> {
            std::vector<ConfigNode> written;
            for (const MeasuredSeries& series : source.series) {
                written.push_back(item.write(series));
            }
            return written.size() == 1 ? written.front() : ConfigNode::sequence(std::move(written));
        });
}

}  // namespace

Schema<MeasuredCollectives> measured_collectives_schema() {
    Schema<MeasuredCollectives> schema(
        "measured_collectives", "what collectives take on a machine, as `astrolabe calibrate` finds it");
    schema.required("machine", &MeasuredCollectives::machine, "that was measured")
        .section("scaling", &MeasuredCollectives::scaling, scaling_schema(),
                 "how times of other numbers of ranks follow; unset: latencies as they were measured")
        .optional("other_kinds", &MeasuredCollectives::other_kinds,
                  "give collectives that were not measured the times of one that was, by their traffic")
        .optional("launches", &MeasuredCollectives::launches,
                  "add what hosts take to launch, for workloads that have no host of their own");
    add_series(schema);
    schema.check([](const MeasuredCollectives& measured) {
        ValidationErrors errors;
        for (std::size_t i = 0; i < measured.series.size(); ++i) {
            const MeasuredSeries& one = measured.series[i];
            const auto is_same = [&one](const MeasuredSeries& other) {
                return other.kind == one.kind && other.ranks == one.ranks;
            };
            if (std::any_of(measured.series.begin(), measured.series.begin() + static_cast<std::ptrdiff_t>(i),
                            is_same)) {
                errors.push_back(
                    {fmt::format("series.{}.collective", i),
                     fmt::format("{} of {} ranks is there twice", system::to_string(one.kind), one.ranks),
                     "keep one of the two series"});
            }
        }
        return errors;
    });
    return schema;
}

Bytes nccl_size(CollectiveKind kind, Bytes size, std::size_t ranks) {
    return kind == CollectiveKind::kAllGather ? size * ranks : size;
}

double traffic_factor(CollectiveKind kind, std::size_t ranks) {
    const auto n = static_cast<double>(ranks);
    switch (kind) {
        case CollectiveKind::kAllReduce:
            return 2 * (n - 1) / n;
        case CollectiveKind::kReduceScatter:
        case CollectiveKind::kAllGather:
        case CollectiveKind::kAllToAll:
            return (n - 1) / n;
        case CollectiveKind::kBroadcast:
        case CollectiveKind::kReduce:
        case CollectiveKind::kPointToPoint:
            return 1;
    }
    invariant_failed("collective kind", "every kind has its traffic");
}

Time time_of(const MeasuredSeries& series, Bytes size) {
    const TimePiece& piece = piece_of(series, size);
    return piece.latency + (piece.rate ? size / *piece.rate : Time(0));
}

std::optional<MeasuredTime> measured_time(const MeasuredCollectives& measured, CollectiveKind kind,
                                          Bytes size, std::size_t ranks) {
    const MeasuredSeries* series = series_for(measured, kind, ranks);
    if (series == nullptr) {
        return std::nullopt;
    }
    const bool is_other = series->ranks != ranks || series->kind != kind;
    MeasuredTime result{
        .time = is_other ? scaled_time(measured, *series, kind, size, ranks) : time_of(*series, size),
        .is_extrapolated = is_other || size < series->from || size > series->pieces.back().up_to,
        .series = series};
    if (measured.launches) {
        result.time += series->launch;
    }
    return result;
}

namespace {

/// Σxy / Σx² over pairs, not below 0; nothing where all x are 0.
std::optional<double> slope(const std::vector<std::pair<double, double>>& pairs) {
    double xx = 0;
    double xy = 0;
    for (const auto& [x, y] : pairs) {
        xx += x * x;
        xy += x * y;
    }
    return xx > 0 ? std::optional(std::max(0.0, xy / xx)) : std::nullopt;
}

}  // namespace

std::optional<GroupScaling> fit_scaling(const std::vector<MeasuredSeries>& series,
                                        std::size_t ranks_per_node) {
    std::vector<std::pair<double, double>> inside;  // steps and picoseconds more than the other of a pair
    std::vector<std::pair<double, double>> across;
    const auto differences = [&](const auto& take) {
        for (std::size_t a = 0; a < series.size(); ++a) {
            for (std::size_t b = a + 1; b < series.size(); ++b) {
                if (series[a].kind == series[b].kind) {
                    const Steps first = steps_of(series[a].kind, series[a].ranks, ranks_per_node);
                    const Steps second = steps_of(series[b].kind, series[b].ranks, ranks_per_node);
                    const Time more = series[b].pieces.front().latency - series[a].pieces.front().latency;
                    take(Steps{second.inside - first.inside, second.across - first.across},
                         static_cast<double>(more.count()));
                }
            }
        }
    };
    differences([&](const Steps& steps, double more) {
        if (steps.across == 0) {
            inside.emplace_back(steps.inside, more);
        }
    });
    const std::optional<double> step_inside = slope(inside);
    differences([&](const Steps& steps, double more) {
        if (steps.across != 0) {
            across.emplace_back(steps.across, more - steps.inside * step_inside.value_or(0));
        }
    });
    const std::optional<double> step_across = slope(across);
    if (!step_inside && !step_across) {
        return std::nullopt;
    }
    return GroupScaling{.ranks_per_node = ranks_per_node,
                        .inside = Time(std::llround(step_inside.value_or(0))),
                        .across = Time(std::llround(step_across.value_or(0)))};
}

}  // namespace astrolabe::experiment
