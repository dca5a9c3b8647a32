#include "rotor_family.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace astrolabe::network::rotor {

namespace {

/// Units of the drawing.
constexpr double kSide = 480.0;   // of the square of matchings
constexpr double kWidth = 760.0;  // of the schedule
constexpr double kRow = 26.0;     // of a rotor in the schedule
constexpr double kMargin = 60.0;

/// Hues around the circle; matchings of a rotor from full to pale.
std::string colour(const RotorSchedule& schedule, Rotor rotor, std::uint32_t index) {
    const double hue = 360.0 * rotor / schedule.uplinks();
    const double light = 42.0 + 38.0 * index / std::max(1U, schedule.matchings_per_rotor());
    return fmt::format("hsl({:.0f},65%,{:.0f}%)", hue, light);
}

void draw_text(fmt::memory_buffer& out, double x, double y, std::string_view anchor, std::string_view text) {
    fmt::format_to(std::back_inserter(out), "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                   x, y, anchor, text);
}

void draw_matchings(fmt::memory_buffer& out, const RotorSchedule& schedule, double left, double top) {
    const double cell = kSide / schedule.racks();
    const auto append = std::back_inserter(out);
    draw_text(out, left, top - 12.0, "start",
              fmt::format("which rotor joins which of {} racks; a paler square is a later matching",
                          schedule.racks()));
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        for (std::uint32_t index = 0; index < schedule.matchings_per_rotor(); ++index) {
            fmt::format_to(append, "<path fill=\"{}\" d=\"", colour(schedule, rotor, index));
            const Matching& matching = schedule.matching(rotor, index);
            for (Rack rack = 0; rack < schedule.racks(); ++rack) {
                fmt::format_to(append, "M{:.2f} {:.2f}h{:.2f}v{:.2f}h-{:.2f}z", left + matching[rack] * cell,
                               top + rack * cell, cell, cell, cell);
            }
            fmt::format_to(append, "\"/>\n");
        }
    }
    fmt::format_to(append,
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" "
                   "stroke=\"#444\"/>\n",
                   left, top, kSide, kSide);
    draw_text(out, left - 6.0, top + 10.0, "end", "0");
    draw_text(out, left - 6.0, top + kSide, "end", fmt::to_string(schedule.racks() - 1));
}

void draw_timing(fmt::memory_buffer& out, const RotorSchedule& schedule, double left, double top) {
    const auto append = std::back_inserter(out);
    const std::uint32_t shown = 2 * schedule.residence();
    const double superslice = kWidth / shown;
    const auto share = [&](Time time) {
        return static_cast<double>(time.count()) /
               static_cast<double>(schedule.timing().superslice().count());
    };
    const double dark = superslice * share(schedule.timing().reconfiguration);
    draw_text(
        out, left, top - 12.0, "start",
        fmt::format("matchings of each rotor over {} superslices of {}, dark for {}", shown,
                    to_string(schedule.timing().superslice()), to_string(schedule.timing().reconfiguration)));
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        const double y = top + rotor * kRow;
        draw_text(out, left - 6.0, y + 16.0, "end", fmt::format("rotor {}", rotor));
        for (std::uint32_t begin = 0; begin < shown;) {
            std::uint32_t end = begin + 1;
            while (end < shown && !schedule.installs(rotor, end)) {
                ++end;
            }
            const bool goes_dark = schedule.goes_dark(rotor, end - 1);
            const double width = superslice * (end - begin) - (goes_dark ? dark : 0.0);
            const std::uint32_t index = schedule.matching_index(rotor, begin);
            fmt::format_to(
                append, "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                left + superslice * begin, y, width, kRow - 6.0, colour(schedule, rotor, index));
            draw_text(out, left + superslice * begin + width / 2, y + 14.0, "middle", fmt::to_string(index));
            begin = end;
        }
    }
    const double bottom = top + schedule.uplinks() * kRow;
    for (std::uint32_t s = 0; s <= shown; ++s) {
        fmt::format_to(append,
                       "<line x1=\"{0:.2f}\" y1=\"{1:.2f}\" x2=\"{0:.2f}\" y2=\"{2:.2f}\" stroke=\"#888\" "
                       "stroke-width=\"0.5\"/>\n",
                       left + superslice * s, top - 4.0, bottom);
    }
    draw_text(out, left, bottom + 16.0, "middle", "0");
    draw_text(out, left + kWidth, bottom + 16.0, "middle", to_string(schedule.timing().superslice() * shown));
}

}  // namespace

std::string draw_schedule(const RotorSchedule& schedule) {
    const double matchings_top = kMargin;
    const double schedule_top = matchings_top + kSide + kMargin;
    fmt::memory_buffer out;
    fmt::format_to(
        std::back_inserter(out),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        kWidth + 2 * kMargin, schedule_top + schedule.uplinks() * kRow + kMargin);
    draw_matchings(out, schedule, kMargin, matchings_top);
    draw_timing(out, schedule, kMargin, schedule_top);
    fmt::format_to(std::back_inserter(out), "</svg>\n");
    return fmt::to_string(out);
}

}  // namespace astrolabe::network::rotor
