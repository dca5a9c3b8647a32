/// The fit of measured_collectives.hpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/calibration/measured_collectives.hpp>

namespace astrolabe::experiment {
namespace {

constexpr std::size_t kLeastPoints = 3;
constexpr std::size_t kMostPoints = 64;
constexpr std::size_t kMostPieces = 3;
/// A piece more is worth it where the error of sizes that are left out falls by a twentieth.
constexpr double kWorthAPiece = 0.95;

struct Point {
    double size;     // bytes
    double seconds;  // > 0
};

/// t = latency + size · per_byte.
struct Line {
    double latency = 0;
    double per_byte = 0;
    double squares = 0;  // of relative errors

    [[nodiscard]] double at(double size) const { return latency + size * per_byte; }
};

double squares_of(const Line& line, const Point* first, const Point* end) {
    double sum = 0;
    for (const Point* point = first; point != end; ++point) {
        const double error = line.at(point->size) / point->seconds - 1;
        sum += error * error;
    }
    return sum;
}

/// With u = 1/t and v = S/t the sum of (latency·u + per_byte·v - 1)² is least where
///     latency·Σu² + per_byte·Σuv = Σu,   latency·Σuv + per_byte·Σv² = Σv;
/// where that is negative in one of the two, at zero of it.
Line fit_line(const Point* first, const Point* end) {
    double uu = 0;
    double uv = 0;
    double vv = 0;
    double u_sum = 0;
    double v_sum = 0;
    for (const Point* point = first; point != end; ++point) {
        const double u = 1 / point->seconds;
        const double v = point->size / point->seconds;
        uu += u * u;
        uv += u * v;
        vv += v * v;
        u_sum += u;
        v_sum += v;
    }
    Line line;
    const double determinant = uu * vv - uv * uv;
    if (determinant > 1e-12 * uu * vv) {
        line.latency = (u_sum * vv - v_sum * uv) / determinant;
        line.per_byte = (v_sum * uu - u_sum * uv) / determinant;
    }
    if (determinant <= 1e-12 * uu * vv || line.per_byte < 0) {
        line = {.latency = u_sum / uu, .per_byte = 0};
    } else if (line.latency < 0) {
        line = {.latency = 0, .per_byte = v_sum / vv};
    }
    line.squares = squares_of(line, first, end);
    return line;
}

struct Piece {
    std::size_t end;  // index after its last point
    Line line;
};
using Pieces = std::vector<Piece>;

/// Lines of all runs of points, each fitted once.
class Fits {
public:
    explicit Fits(const std::vector<Point>& points)
        : points_(points),
          lines_(points.size() * (points.size() + 1)) {
        for (std::size_t first = 0; first < points.size(); ++first) {
            for (std::size_t end = first + kLeastPoints; end <= points.size(); ++end) {
                lines_[first * (points.size() + 1) + end] =
                    fit_line(points.data() + first, points.data() + end);
            }
        }
    }

    /// The best cut into `count` pieces; empty where there is none.
    [[nodiscard]] Pieces best(std::size_t count) const {
        Pieces best;
        double least = std::numeric_limits<double>::infinity();
        Pieces chosen;
        search(count, 0, 0, chosen, best, least);
        return best;
    }

private:
    void search(std::size_t left, std::size_t first, double squares, Pieces& chosen, Pieces& best,
                double& least) const {
        const std::size_t count = points_.size();
        if (first + left * kLeastPoints > count) {
            return;
        }
        const std::size_t from = left == 1 ? count : first + kLeastPoints;
        const std::size_t to = left == 1 ? count : count - (left - 1) * kLeastPoints;
        for (std::size_t end = from; end <= to; ++end) {
            const Line& line = lines_[first * (count + 1) + end];
            const bool falls = !chosen.empty() &&
                               line.at(points_[first].size) < chosen.back().line.at(points_[first - 1].size);
            if (falls || squares + line.squares >= least) {
                continue;
            }
            chosen.push_back({end, line});
            if (left == 1) {
                best = chosen;
                least = squares + line.squares;
            } else {
                search(left - 1, end, squares + line.squares, chosen, best, least);
            }
            chosen.pop_back();
        }
    }

    const std::vector<Point>& points_;
    std::vector<Line> lines_;
};

/// Of a size, by pieces of `points`: the first whose last point is not smaller, else the last.
double value_at(const Pieces& pieces, const std::vector<Point>& points, double size) {
    for (const Piece& piece : pieces) {
        if (size <= points[piece.end - 1].size) {
            return piece.line.at(size);
        }
    }
    return pieces.back().line.at(size);
}

double relative_error(double predicted, double measured) {
    return std::abs(predicted / measured - 1);
}

struct LeftOutError {
    double mean = std::numeric_limits<double>::infinity();
    double geometric = std::numeric_limits<double>::infinity();  // of ratios above one, less one
};

/// Over points, each predicted by the best cut of the others; none where the others are too few.
std::optional<LeftOutError> left_out_error(const std::vector<Point>& points, std::size_t pieces) {
    double sum = 0;
    double logarithms = 0;
    for (std::size_t left_out = 0; left_out < points.size(); ++left_out) {
        std::vector<Point> others = points;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
        const Pieces fitted = Fits(others).best(pieces);
        if (fitted.empty()) {
            return std::nullopt;
        }
        const double predicted = value_at(fitted, others, points[left_out].size);
        sum += relative_error(predicted, points[left_out].seconds);
        logarithms += std::abs(std::log(predicted / points[left_out].seconds));
    }
    const auto count = static_cast<double>(points.size());
    return LeftOutError{sum / count, std::exp(logarithms / count) - 1};
}

TimePiece rounded(const Line& line, Bytes up_to) {
    TimePiece piece{.up_to = up_to,
                    .latency = Time(std::llround(line.latency * static_cast<double>(kPicosecondsPerSecond)))};
    if (line.per_byte > 0) {
        const double bits_per_second = 8 / line.per_byte;
        if (bits_per_second < 1e18) {
            piece.rate = Bandwidth(std::max<std::int64_t>(1, std::llround(bits_per_second)));
        }
    }
    return piece;
}

}  // namespace

MeasuredSeries fit_series(system::CollectiveKind kind, std::size_t ranks,
                          const std::vector<MeasuredPoint>& measured) {
    ASTROLABE_ASSERT(measured.size() >= kLeastPoints && measured.size() <= kMostPoints,
                     "a series has 3 to 64 sizes");
    std::vector<Point> points;
    for (const MeasuredPoint& point : measured) {
        ASTROLABE_ASSERT(point.time > Time(0) &&
                             (points.empty() || static_cast<double>(point.size.count()) > points.back().size),
                         "sizes rise and times are positive");
        points.push_back({static_cast<double>(point.size.count()), to_seconds(point.time)});
    }
    Pieces chosen = Fits(points).best(1);
    LeftOutError error = left_out_error(points, 1).value_or(LeftOutError{});
    for (std::size_t count = 2; count <= kMostPieces; ++count) {
        const std::optional<LeftOutError> other = left_out_error(points, count);
        Pieces pieces = Fits(points).best(count);
        if (other && other->mean < kWorthAPiece * error.mean && !pieces.empty()) {
            chosen = std::move(pieces);
            error = *other;
        }
    }
    MeasuredSeries series{.kind = kind, .ranks = ranks, .from = measured.front().size, .pieces = {}};
    for (const Piece& piece : chosen) {
        series.pieces.push_back(rounded(piece.line, measured[piece.end - 1].size));
    }
    for (const MeasuredPoint& point : measured) {
        const double own = relative_error(to_seconds(time_of(series, point.size)), to_seconds(point.time));
        series.mean_error += own / static_cast<double>(measured.size());
        series.largest_error = std::max(series.largest_error, own);
    }
    // Too few sizes to leave one out: their own largest error.
    series.left_out_error = std::isfinite(error.mean) ? error.mean : series.largest_error;
    series.left_out_geometric_error = std::isfinite(error.geometric) ? error.geometric : series.largest_error;
    return series;
}

}  // namespace astrolabe::experiment
