#!/usr/bin/env python3
"""Mean hops of the networks that the released code builds, over their size, as SVG with logarithmic axes.

    hops.py PROGRAM EXPERIMENT > hops.svg       EXPERIMENT: any that takes every number of ranks drawn
"""

import json
import math
import subprocess
import sys

WIDTH, HEIGHT = 640, 420
LEFT, RIGHT, TOP, BOTTOM = 60, 130, 30, 50
COLOURS = {2: "#1b6ca8", 4: "#c4501b", 6: "#2f7d4f", 8: "#7a4fa0"}
NODES = [2**power for power in range(4, 11)]
HOPS = [2**power for power in range(9)]


def mean_hops(program, experiment, nodes, degree):
    network = f"{{kind: topoopt, degree: {degree}, mode: released}}"
    result = subprocess.run([program, "validate", experiment, "--json", "--set", f"cluster.ranks={nodes}",
                             "--set", f"network={network}"], check=True, capture_output=True, text=True)
    return json.loads(result.stdout)["topology"]["mean_hops"]


def place(nodes, hops):
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    return (LEFT + width * math.log(nodes / NODES[0]) / math.log(NODES[-1] / NODES[0]),
            TOP + height * (1 - math.log(hops / HOPS[0]) / math.log(HOPS[-1] / HOPS[0])))


def text(x, y, words, anchor="middle", colour="#333"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def line(points, colour, dashes=""):
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.6"{dashes}/>'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for hops in HOPS:
        x, y = place(NODES[0], hops)
        parts.append(line([(x, y), place(NODES[-1], hops)], "#e4e4e4"))
        parts.append(text(x - 8, y + 4, hops, "end"))
    for nodes in NODES:
        parts.append(text(place(nodes, HOPS[0])[0], HEIGHT - BOTTOM + 18, nodes))
    parts.append(text(LEFT, TOP - 12, "mean hops", "start"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "nodes"))
    for degree, colour in COLOURS.items():
        rings = degree // 2
        measured = [place(nodes, mean_hops(*sys.argv[1:], nodes, degree)) for nodes in NODES]
        # A torus of as many dimensions as rings: a quarter of its side in each.
        torus = [(nodes, rings * nodes ** (1 / rings) / 4) for nodes in NODES]
        parts.append(line([place(*point) for point in torus if point[1] >= 1], colour,
                          ' stroke-dasharray="4 4" opacity="0.6"'))
        parts.append(line(measured, colour))
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in measured]
        parts.append(text(measured[-1][0] + 10, measured[-1][1] + 4, f"degree {degree}", "start", colour))
    parts.append(text(WIDTH - 4, HEIGHT - 8, "dashed: R·n^(1/R)/4", "end"))
    print("\n".join(parts + ["</svg>"]))


if __name__ == "__main__":
    main()
