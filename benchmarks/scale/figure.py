"""The figure of the scale study: processor time and memory over ranks, a panel for each network, as SVG."""

import math

WIDTH, HEIGHT = 900, 600
LEFT, TOP, GAP = 64, 66, 22
BOTTOM = 46
COLOURS = ("#1b6ca8", "#c4501b", "#2f7d4f", "#7a4fa0")
MARKS = ("circle", "square", "triangle", "diamond")
QUANTITIES = (("cpu_s", "processor time", (0.01, 100.0), "s"), ("peak_bytes", "memory", (1e7, 1e10), "B"))


class Panel:
    """A rectangle with logarithmic axes."""

    def __init__(self, x, y, width, height, ranks, values):
        self.x, self.y, self.width, self.height = x, y, width, height
        self.ranks, self.values = ranks, values

    def across(self, ranks):
        low, high = map(math.log, self.ranks)
        return self.x + self.width * (0.05 + 0.90 * (math.log(ranks) - low) / max(high - low, 1e-9))

    def up(self, value):
        low, high = map(math.log, self.values)
        clamped = min(max(math.log(max(value, 1e-12)), low), high)
        return self.y + self.height * (1 - (clamped - low) / (high - low))


def text(x, y, words, anchor="middle", size=12, colour="#333", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}" '
            f'font-weight="{weight}">{words}</text>')


def mark(kind, x, y, colour):
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    corners = {"square": ((-4, -4), (4, -4), (4, 4), (-4, 4)), "triangle": ((0, -5), (5, 4), (-5, 4)),
               "diamond": ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0))}[kind]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


def amount(value, unit):
    """1e7, "B" -> "10 MB"; 0.01, "s" -> "0.01 s"."""
    if unit == "s":
        return f"{value:g} s"
    for scale, prefix in ((1e9, "G"), (1e6, "M")):
        if value >= scale:
            return f"{value / scale:g} {prefix}B"
    return f"{value:g} B"


def axes(panel, unit, is_left, is_bottom, all_ranks):
    parts = []
    low, high = (round(math.log10(value)) for value in panel.values)
    for power in range(low, high + 1):
        y = panel.up(10.0 ** power)
        parts.append(f'<line x1="{panel.x:.1f}" x2="{panel.x + panel.width:.1f}" y1="{y:.1f}" y2="{y:.1f}" '
                     'stroke="#e4e4e4"/>')
        if is_left:
            parts.append(text(panel.x - 6, y + 4, amount(10.0 ** power, unit), "end"))
    for ranks in all_ranks[::2]:
        x = panel.across(ranks)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{panel.y:.1f}" y2="{panel.y + panel.height:.1f}" '
                     'stroke="#f0f0f0"/>')
        if is_bottom:
            parts.append(text(x, panel.y + panel.height + 17, f"{ranks:,}", size=11))
    parts.append(f'<rect x="{panel.x:.1f}" y="{panel.y:.1f}" width="{panel.width:.1f}" '
                 f'height="{panel.height:.1f}" fill="none" stroke="#999"/>')
    return parts


def curve(panel, rows, column, index):
    points = [(panel.across(row["ranks"]), panel.up(row[column])) for row in rows if row["outcome"] == "done"]
    if not points:
        return []
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    colour = COLOURS[index]
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
            *(mark(MARKS[index], x, y, colour) for x, y in points)]


def draw(rows, networks, workloads):
    all_ranks = sorted({row["ranks"] for row in rows})
    width = (WIDTH - LEFT - GAP * len(networks)) / len(networks)
    height = (HEIGHT - TOP - BOTTOM - GAP) / 2
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="Helvetica, Arial, sans-serif">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for index, workload in enumerate(workloads):
        x = LEFT + 8 + index * 205
        parts += [mark(MARKS[index], x, 20, COLOURS[index]), text(x + 12, 24, workload, "start", 13)]
    for column, network in enumerate(networks):
        x = LEFT + column * (width + GAP)
        parts.append(text(x + width / 2, TOP - 10, network, weight="bold", size=13))
        for line, (quantity, name, values, unit) in enumerate(QUANTITIES):
            panel = Panel(x, TOP + line * (height + GAP), width, height, (all_ranks[0], all_ranks[-1]),
                          values)
            parts += axes(panel, unit, column == 0, line == 1, all_ranks)
            parts.append(text(x + 8, panel.y + 17, name, "start", colour="#777"))
            for index, workload in enumerate(workloads):
                series = [row for row in rows
                          if (row["network"], row["workload"]) == (network, workload)]
                parts += curve(panel, series, quantity, index)
    parts.append(text(LEFT + (WIDTH - LEFT - GAP) / 2, HEIGHT - 8, "ranks"))
    return "\n".join(parts + ["</svg>"]) + "\n"
