#!/usr/bin/env python3
"""The figure of the shuffle, as SVG: how many messages have arrived, and payload that arrives, over time.

    figure.py RUN=FOLDER... > shuffle.svg       FOLDER as written by run --flows --throughput
"""

import csv
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 900, 360
LEFT, RIGHT, TOP, BOTTOM, GAP = 60, 20, 40, 50, 80
COLOURS = ("#1b6ca8", "#c4501b", "#2f7d4f", "#7a4fa0")


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def arrived(folder):
    """(ms, share of messages), of 200 points."""
    times = sorted(float(row["delivered_s"]) * 1e3 for row in rows(f"{folder}/flows.csv"))
    return [(times[max(0, i * len(times) // 200 - 1)], i / 200) for i in range(1, 201)]


def payload(folder):
    """(ms, delivered payload as a share of the rate of all hosts), at both ends of each interval."""
    table = [{name: float(value) for name, value in row.items()} for row in rows(f"{folder}/throughput.csv")]
    busiest = max(table, key=lambda row: row["wire_bytes"])
    bytes_a_second = busiest["wire_bytes"] / busiest["share"] / (busiest["to_s"] - busiest["from_s"])
    points = []
    for row in table:
        share = row["delivered_bytes"] / (row["to_s"] - row["from_s"]) / bytes_a_second
        points += [(row["from_s"] * 1e3, share), (row["to_s"] * 1e3, share)]
    return points


def text(x, y, words, anchor="middle", colour="#333"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def panel(x, width, title, end, series):
    height = HEIGHT - TOP - BOTTOM

    def at(ms, share):
        return f"{x + width * ms / end:.1f},{TOP + height * (1 - share):.1f}"

    parts = [text(x + width / 2, TOP - 14, title)]
    for tenth in range(0, 11, 2):
        y = TOP + height * (1 - tenth / 10)
        parts.append(f'<line x1="{x}" x2="{x + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e4e4e4"/>')
        parts.append(text(x - 8, y + 4, f"{tenth / 10:g}", "end"))
    for ms in range(0, int(end) + 1, 10):
        parts.append(text(x + width * ms / end, TOP + height + 18, str(ms)))
    parts.append(text(x + width / 2, HEIGHT - 10, "ms"))
    for points, colour in zip(series, COLOURS):
        line = " ".join(at(*point) for point in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    return parts


def main():
    runs = [argument.split("=", 1) for argument in sys.argv[1:]]
    if not runs or any(len(run) != 2 for run in runs) or len(runs) > len(COLOURS):
        sys.exit(__doc__)
    arrivals = [arrived(folder) for _, folder in runs]
    payloads = [payload(folder) for _, folder in runs]
    end = 1.05 * max(points[-1][0] for points in arrivals)
    width = (WIDTH - LEFT - RIGHT - GAP) / 2
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    parts += panel(LEFT, width, "messages that have arrived", end, arrivals)
    parts += panel(LEFT + width + GAP, width, "payload that arrives, of the rate of all hosts", end, payloads)
    for number, ((name, _), colour) in enumerate(zip(runs, COLOURS)):
        parts.append(text(LEFT + 12, TOP + 20 + 16 * number, name, "start", colour))
    print("\n".join(parts + ["</svg>"]))


if __name__ == "__main__":
    main()
