#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/xml_text.hpp>
#include <astrolabe/network/analysis/graph_drawing.hpp>

namespace astrolabe::network {

namespace {

constexpr double kWide = 960.0;
constexpr double kRowHeight = 150.0;
constexpr double kCircle = 720.0;
constexpr double kEdge = 60.0;
constexpr double kLegendLine = 20.0;
constexpr double kArch = 100.0;         // above a row whose nodes are joined to one another
constexpr std::size_t kMostNames = 24;  // in a row

/// Okabe and Ito's colours, told apart by everybody; beyond them rates share one.
constexpr std::array<std::string_view, 7> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                   "#E69F00", "#56B4E9", "#444444"};

struct Point {
    double x = 0;
    double y = 0;
};

class GraphDrawing {
public:
    explicit GraphDrawing(const Fabric& fabric)
        : fabric_(fabric),
          places_(fabric.node_count()) {
        has_switches_ = fabric.node_count() > fabric.host_count();
        if (has_switches_) {
            place_rows();
        } else {
            place_circle();
        }
        count_cables();
        if (std::ranges::any_of(cables_,
                                [this](const auto& entry) { return is_arched(entry.first.first); })) {
            height_ += kArch;
            for (Point& place : places_) {
                place.y += kArch;
            }
        }
    }

    [[nodiscard]] std::string svg() && {
        const double legend = kLegendLine * static_cast<double>(rates_.size() + 1);
        append(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
            "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            width_ + 2 * kEdge, height_ + 2 * kEdge + legend);
        draw_cables();
        draw_nodes();
        draw_legend(kEdge + height_ + kEdge / 2 + kLegendLine);
        append("</svg>\n");
        return fmt::to_string(out_);
    }

private:
    template <class... Values>
    void append(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
    }

    [[nodiscard]] bool is_switch(NodeId node) const { return fabric_.node(node).kind == NodeKind::kSwitch; }

    /// Row of each node, 0 at the bottom.
    [[nodiscard]] std::vector<std::size_t> rows_of_nodes() const {
        constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
        std::vector<std::size_t> rows(fabric_.node_count(), kUnknown);
        std::deque<NodeId> waiting;
        for (NodeId host; host.index() < fabric_.host_count(); ++host) {
            rows[host.index()] = 0;
            waiting.push_back(host);
        }
        while (!waiting.empty()) {
            const NodeId at = waiting.front();
            waiting.pop_front();
            for (std::size_t i = 0; i < fabric_.out_degree(at); ++i) {
                const NodeId next = fabric_.target(LinkId(fabric_.first_link(at).index() + i));
                if (rows[next.index()] == kUnknown) {
                    rows[next.index()] = rows[at.index()] + 1;
                    waiting.push_back(next);
                }
            }
        }
        for (NodeId node; node.index() < fabric_.node_count(); ++node) {
            const std::uint16_t tier = fabric_.node(node).tier;
            rows[node.index()] = tier > 0 ? tier : rows[node.index()] == kUnknown ? 1 : rows[node.index()];
        }
        return rows;
    }

    void place_rows() {
        const std::vector<std::size_t> row_of = rows_of_nodes();
        std::map<std::size_t, std::vector<NodeId>> rows;
        for (NodeId node; node.index() < fabric_.node_count(); ++node) {
            rows[row_of[node.index()]].push_back(node);
        }
        width_ = kWide;
        height_ = kRowHeight * static_cast<double>(rows.size() - 1);
        double y = kEdge + height_;
        for (auto& [row, nodes] : rows) {
            std::ranges::stable_sort(nodes, {}, [&, row = row](NodeId node) {
                double sum = 0;
                double count = 0;
                for (std::size_t i = 0; i < fabric_.out_degree(node); ++i) {
                    const NodeId next = fabric_.target(LinkId(fabric_.first_link(node).index() + i));
                    if (row_of[next.index()] < row) {
                        sum += places_[next.index()].x;
                        count += 1;
                    }
                }
                return count > 0 ? sum / count : 0.0;
            });
            const double step = kWide / static_cast<double>(nodes.size());
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                places_[nodes[i].index()] = {kEdge + step * (static_cast<double>(i) + 0.5), y};
                names_shown_.resize(fabric_.node_count());
                names_shown_[nodes[i].index()] = nodes.size() <= kMostNames;
            }
            y -= kRowHeight;
        }
    }

    void place_circle() {
        width_ = height_ = kCircle;
        const double centre = kEdge + kCircle / 2;
        names_shown_.assign(fabric_.node_count(), fabric_.node_count() <= 2 * kMostNames);
        for (std::size_t i = 0; i < fabric_.node_count(); ++i) {
            const double angle =
                2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(fabric_.node_count());
            places_[i] = {centre + kCircle / 2 * std::sin(angle), centre - kCircle / 2 * std::cos(angle)};
        }
    }

    void count_cables() {
        for (LinkId link; link.index() < fabric_.link_count(); ++link) {
            const Link& one = fabric_.link(link);
            if (one.reverse && *one.reverse < link) {
                continue;
            }
            const auto [low, high] =
                std::minmax({fabric_.source(link).index(), fabric_.target(link).index()});
            ++cables_[{{low, high}, one.rate.count()}];
            ++rates_[one.rate.count()];
        }
    }

    [[nodiscard]] std::string_view colour(std::int64_t rate) const {
        const auto behind = static_cast<std::size_t>(std::distance(rates_.find(rate), rates_.end())) - 1;
        return kColours[std::min(behind, kColours.size() - 1)];
    }

    /// Cables of a row would lie on one another.
    [[nodiscard]] bool is_arched(const std::pair<std::uint32_t, std::uint32_t>& ends) const {
        return has_switches_ && places_[ends.first].y == places_[ends.second].y;
    }

    void draw_cables() {
        const double thin = std::clamp(400.0 / static_cast<double>(cables_.size() + 1), 0.3, 1.5);
        for (const auto& [cable, count] : cables_) {
            const Point& a = places_[cable.first.first];
            const Point& b = places_[cable.first.second];
            const double wide = thin * std::min(static_cast<double>(count), 8.0);
            if (is_arched(cable.first)) {
                // The middle of the curve is half as far from the row as its control point.
                const double rise = 2 * kArch * std::min(1.0, 0.1 + 2 * std::abs(b.x - a.x) / kWide);
                append(
                    "<path d=\"M {:.1f} {:.1f} Q {:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" stroke=\"{}\" "
                    "stroke-width=\"{:.2f}\" stroke-opacity=\"0.7\"/>\n",
                    a.x, a.y, (a.x + b.x) / 2, a.y - rise, b.x, b.y, colour(cable.second), wide);
                continue;
            }
            append(
                "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                "stroke-width=\"{:.2f}\" stroke-opacity=\"0.7\"/>\n",
                a.x, a.y, b.x, b.y, colour(cable.second), wide);
        }
    }

    void draw_nodes() {
        const double row = static_cast<double>(std::max(fabric_.host_count(), std::size_t{1}));
        const double size = std::clamp(kWide / row * 0.6, 2.0, 12.0);
        for (NodeId node; node.index() < fabric_.node_count(); ++node) {
            const Point& at = places_[node.index()];
            if (is_switch(node)) {
                const double wide = std::max(size, 10.0);
                append(
                    "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" "
                    "fill=\"#222\"/>\n",
                    at.x - wide / 2, at.y - 5.0, wide, 10.0);
            } else {
                append("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"white\" stroke=\"#222\"/>\n",
                       at.x, at.y, size / 2);
            }
            if (names_shown_[node.index()]) {
                const bool is_below = !has_switches_ || !is_switch(node);
                append(
                    "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"10\" "
                    "paint-order=\"stroke\" stroke=\"white\" stroke-width=\"3\">{}</text>\n",
                    at.x, at.y + (is_below ? 20.0 : -10.0), xml_text(fabric_.node(node).name));
            }
        }
    }

    void draw_legend(double top) {
        append("<text x=\"{:.0f}\" y=\"{:.0f}\">{}: {} hosts, {} switches, {} cables</text>\n", kEdge, top,
               fabric_.kind(), fabric_.host_count(), fabric_.node_count() - fabric_.host_count(),
               (fabric_.link_count() + fabric_.one_way_link_count()) / 2);
        for (auto rate = rates_.rbegin(); rate != rates_.rend(); ++rate) {
            top += kLegendLine;
            append(
                "<line x1=\"{0:.0f}\" y1=\"{2:.0f}\" x2=\"{1:.0f}\" y2=\"{2:.0f}\" stroke=\"{3}\" "
                "stroke-width=\"3\"/>\n<text x=\"{4:.0f}\" y=\"{5:.0f}\">{6}, {7} cables</text>\n",
                kEdge, kEdge + 30.0, top - 4.0, colour(rate->first), kEdge + 40.0, top,
                to_string(Bandwidth(rate->first)), rate->second);
        }
    }

    const Fabric& fabric_;
    bool has_switches_ = false;
    double width_ = 0;
    double height_ = 0;
    std::vector<Point> places_;
    std::vector<bool> names_shown_;
    /// Parallel cables by the numbers of their ends and their rate.
    std::map<std::pair<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>, std::size_t> cables_;
    std::map<std::int64_t, std::size_t> rates_;  // to the number of cables
    fmt::memory_buffer out_;
};

}  // namespace

std::string draw_graph(const Fabric& fabric) {
    return GraphDrawing(fabric).svg();
}

}  // namespace astrolabe::network
