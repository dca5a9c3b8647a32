#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/xml_text.hpp>
#include <astrolabe/experiment/calibration/fit_plot.hpp>
#include <astrolabe/experiment/calibration/kernel_table.hpp>

namespace astrolabe::experiment {
namespace {

constexpr double kPanelWidth = 420;
constexpr double kTimeHeight = 190;
constexpr double kErrorHeight = 80;
constexpr double kLeft = 64;
constexpr double kTop = 44;
constexpr double kGap = 26;
constexpr double kBottom = 46;
constexpr double kPairHeight = kTop + kTimeHeight + kGap + kErrorHeight + kBottom;
constexpr int kColumns = 2;

/// One axis, linear in what it is given: logarithms for a logarithmic one.
struct Axis {
    double low;
    double high;
    double from;  // pixel of low
    double to;

    [[nodiscard]] double at(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

std::string label(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                       xml_text(text));
}

std::string stroke(double x1, double y1, double x2, double y2, const char* style) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1,
                       y1, x2, y2, style);
}

std::string size_text(double log2_bytes) {
    static constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
    const auto unit = static_cast<std::size_t>(std::clamp(std::floor(log2_bytes / 10), 0.0, 4.0));
    return fmt::format("{:.0f} {}", std::exp2(log2_bytes - 10 * static_cast<double>(unit)), kUnits[unit]);
}

std::string time_text(double log10_seconds) {
    const double seconds = std::pow(10, log10_seconds);
    return seconds < 0.9e-3 ? fmt::format("{:.0f} us", seconds * 1e6)
           : seconds < 0.9  ? fmt::format("{:.0f} ms", seconds * 1e3)
                            : fmt::format("{:.0f} s", seconds);
}

double error_of(const FittedSeries& fit, const MeasuredPoint& point) {
    return 100 * (to_seconds(time_of(fit.series, point.size)) / to_seconds(point.time) - 1);
}

/// The element's begin, with styles and a white ground.
std::string svg_head(double width, double height) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<style>.title{{font-size:13px;font-weight:bold}} .grid{{stroke:#ddd}} "
        ".fit{{fill:none;stroke:#d55e00;stroke-width:1.5}} .point{{fill:#0072b2}} "
        ".error{{stroke:#0072b2;stroke-width:3}}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width, height);
}

class PairOfPanels {
public:
    PairOfPanels(const FittedSeries& fit, double x, double y)
        : fit_(fit),
          left_(x + kLeft),
          top_(y + kTop) {
        const double first = std::log2(static_cast<double>(fit.points.front().size.count()));
        const double last = std::log2(static_cast<double>(fit.points.back().size.count()));
        sizes_ = {first, std::max(last, first + 1), left_, left_ + kPanelWidth - kLeft - 16};
        double low = 1e300;
        double high = -1e300;
        double largest = 1;
        for (const MeasuredPoint& point : fit.points) {
            for (const Time time : {point.time, time_of(fit.series, point.size)}) {
                const double log = std::log10(std::max(to_seconds(time), 1e-12));
                low = std::min(low, log);
                high = std::max(high, log);
            }
            largest = std::max(largest, std::abs(error_of(fit, point)));
        }
        times_ = {std::floor(low), std::ceil(std::max(high, std::floor(low) + 0.01)), top_ + kTimeHeight,
                  top_};
        const double bottom = top_ + kTimeHeight + kGap + kErrorHeight;
        const double limit = std::ceil(largest);
        errors_ = {-limit, limit, bottom, bottom - kErrorHeight};
    }

    [[nodiscard]] std::string svg() const {
        std::string text =
            label(left_, top_ - 12, "start",
                  fmt::format("{}, {} ranks", system::to_string(fit_.series.kind), fit_.series.ranks),
                  " class=\"title\"");
        text += axes() + fitted() + points();
        return text;
    }

private:
    [[nodiscard]] std::string axes() const {
        std::string text;
        for (double decade = times_.low; decade <= times_.high; ++decade) {
            text += stroke(sizes_.from, times_.at(decade), sizes_.to, times_.at(decade), "grid");
            text += label(sizes_.from - 6, times_.at(decade) + 4, "end", time_text(decade));
        }
        for (const double error : {errors_.low, 0.0, errors_.high}) {
            text += stroke(sizes_.from, errors_.at(error), sizes_.to, errors_.at(error), "grid");
            text += label(sizes_.from - 6, errors_.at(error) + 4, "end",
                          error == 0 ? "0 %" : fmt::format("{:+.0f} %", error));
        }
        const double step = std::max(2.0, std::ceil((sizes_.high - sizes_.low) / 6));
        for (double size = std::ceil(sizes_.low); size <= sizes_.high; size += step) {
            text += label(sizes_.at(size), errors_.from + 16, "middle", size_text(size));
        }
        text += label((sizes_.from + sizes_.to) / 2, errors_.from + 34, "middle",
                      "size, and below the time the error of the fit");
        return text;
    }

    /// The line of each piece between the sizes that it holds.
    [[nodiscard]] std::string fitted() const {
        std::string text;
        double from = sizes_.low;
        for (const TimePiece& piece : fit_.series.pieces) {
            const double to = std::log2(static_cast<double>(piece.up_to.count()));
            constexpr int kSteps = 40;
            std::string places;
            for (int i = 0; i <= kSteps; ++i) {
                const double size = from + (to - from) * i / kSteps;
                const Time time = piece.latency +
                                  (piece.rate ? Bytes(std::llround(std::exp2(size))) / *piece.rate : Time(0));
                places += fmt::format("{:.1f},{:.1f} ", sizes_.at(size),
                                      times_.at(std::log10(std::max(to_seconds(time), 1e-12))));
            }
            text += fmt::format("<polyline points=\"{}\" class=\"fit\"/>\n", places);
            from = to;
        }
        return text;
    }

    [[nodiscard]] std::string points() const {
        std::string text;
        for (const MeasuredPoint& point : fit_.points) {
            const double x = sizes_.at(std::log2(static_cast<double>(point.size.count())));
            text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" class=\"point\"/>\n", x,
                                times_.at(std::log10(to_seconds(point.time))));
            text += stroke(x, errors_.at(0), x, errors_.at(error_of(fit_, point)), "error");
        }
        return text;
    }

    const FittedSeries& fit_;
    double left_;
    double top_;
    Axis sizes_{};
    Axis times_{};
    Axis errors_{};
};

}  // namespace

std::string fit_plot(const std::string& machine, const std::vector<FittedSeries>& fits) {
    ASTROLABE_ASSERT(!fits.empty(), "there is a series to draw");
    constexpr double kHead = 34;
    const auto columns = std::min<std::size_t>(fits.size(), kColumns);
    const std::size_t rows = (fits.size() + kColumns - 1) / kColumns;
    const double width = kPanelWidth * static_cast<double>(columns) + 16;
    const double height = kHead + kPairHeight * static_cast<double>(rows);
    std::string text = svg_head(width, height);
    text += label(16, 22, "start", machine + ": measured (points) and fitted (lines)", " class=\"title\"");
    for (std::size_t i = 0; i < fits.size(); ++i) {
        const double x = kPanelWidth * static_cast<double>(i % kColumns);
        const double y = kHead + kPairHeight * static_cast<double>(i / kColumns);
        text += PairOfPanels(fits[i], x, y).svg();
    }
    return text + "</svg>\n";
}

namespace {

/// Fitted over measured times, both logarithmic; the diagonal is a fit without error.
std::string residual_panel(const std::vector<const KernelResidual*>& residuals, const std::string& title,
                           double x, double y) {
    double low = 1e300;
    double high = -1e300;
    for (const KernelResidual* residual : residuals) {
        for (const Time time : {residual->measured, residual->fitted}) {
            const double log = std::log10(std::max(to_seconds(time), 1e-12));
            low = std::min(low, std::floor(log));
            high = std::max(high, std::ceil(log));
        }
    }
    high = std::max(high, low + 1);
    const double side = kTimeHeight + kGap + kErrorHeight;
    const Axis across{low, high, x + kLeft, x + kLeft + side};
    const Axis up{low, high, y + kTop + side, y + kTop};
    std::string text = label(across.from, up.to - 12, "start", title, " class=\"title\"");
    for (double decade = low; decade <= high; ++decade) {
        text += stroke(across.from, up.at(decade), across.to, up.at(decade), "grid");
        text += label(across.from - 6, up.at(decade) + 4, "end", time_text(decade));
        text += label(across.at(decade), up.from + 16, "middle", time_text(decade));
    }
    text += stroke(across.from, up.from, across.to, up.to, "fit");
    text += label((across.from + across.to) / 2, up.from + 34, "middle", "measured; upwards: fitted");
    for (const KernelResidual* residual : residuals) {
        text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" class=\"point\"/>\n",
                            across.at(std::log10(to_seconds(residual->measured))),
                            up.at(std::log10(std::max(to_seconds(residual->fitted), 1e-12))));
    }
    return text;
}

}  // namespace

std::string kernel_plot(const std::string& title, const KernelFit& fit) {
    ASTROLABE_ASSERT(!fit.residuals.empty(), "there is a point to draw");
    std::vector<std::pair<std::string, std::vector<const KernelResidual*>>> panels{{"matrix products", {}},
                                                                                   {"lookups", {}}};
    for (const KernelResidual& residual : fit.residuals) {
        panels[residual.point->kind == KernelKind::kDense ? 0 : 1].second.push_back(&residual);
    }
    std::erase_if(panels, [](const auto& panel) { return panel.second.empty(); });
    constexpr double kHead = 34;
    std::string text = svg_head(kPanelWidth * static_cast<double>(panels.size()) + 16, kHead + kPairHeight) +
                       label(16, 22, "start", title + ": fitted over measured", " class=\"title\"");
    for (std::size_t i = 0; i < panels.size(); ++i) {
        text +=
            residual_panel(panels[i].second, panels[i].first, kPanelWidth * static_cast<double>(i), kHead);
    }
    return text + "</svg>\n";
}

}  // namespace astrolabe::experiment
