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

const TimePiece& piece_of(const MeasuredSeries& series, Bytes size) {
    for (const TimePiece& piece : series.pieces) {
        if (size <= piece.up_to) {
            return piece;
        }
    }
    return series.pieces.back();
}

}  // namespace

Schema<MeasuredCollectives> measured_collectives_schema() {
    Schema<MeasuredCollectives> schema(
        "measured_collectives", "what collectives take on a machine, as `astrolabe calibrate` finds it");
    schema.required("machine", &MeasuredCollectives::machine, "that was measured");
    add_section_list(schema, "series", &MeasuredCollectives::series, series_schema(),
                     "one for each collective and number of ranks", true);
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
    const MeasuredSeries* series = nearest_series(measured, kind, ranks);
    if (series == nullptr) {
        return std::nullopt;
    }
    MeasuredTime result{.time = time_of(*series, size),
                        .is_extrapolated = size < series->from || size > series->pieces.back().up_to ||
                                           series->ranks != ranks};
    if (series->ranks != ranks) {
        const Time latency = piece_of(*series, size).latency;
        const double factor = traffic_factor(kind, ranks) / traffic_factor(kind, series->ranks);
        result.time =
            latency + Time(std::llround(static_cast<double>((result.time - latency).count()) * factor));
    }
    return result;
}

}  // namespace astrolabe::experiment
