#!/usr/bin/env python3
"""Time, events and memory of runs of 16 to 16,384 ranks: see README.md beside this file."""

import argparse
import csv
import json
import math
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import figure

ROOT = Path(__file__).resolve().parents[2]
RANKS = tuple(2 ** power for power in range(4, 15))
LINK = "link: {rate: 100Gbps, latency: 500ns}"
COLUMNS = ("workload", "network", "ranks", "outcome", "cpu_s", "wall_s", "events", "peak_bytes",
           "simulated_s")

# Three tiers at full bisection: pods, edge switches a pod, hosts an edge switch and as many aggregation
# switches a pod.
FAT_TREES = {16: (4, 2, 2), 32: (4, 4, 2), 64: (4, 4, 4), 128: (8, 4, 4), 256: (8, 8, 4), 512: (8, 8, 8),
             1024: (16, 8, 8), 2048: (16, 16, 8), 4096: (16, 16, 16), 8192: (32, 16, 16), 16384: (32, 32, 16)}
TORI = {16: (4, 4), 32: (4, 8), 64: (4, 4, 4), 128: (4, 4, 8), 256: (4, 8, 8), 512: (8, 8, 8),
        1024: (8, 8, 16), 2048: (8, 16, 16), 4096: (16, 16, 16), 8192: (16, 16, 32), 16384: (16, 32, 32)}


def flat(ranks):
    return f"{{kind: flat, hosts: {ranks}, {LINK}}}"


def fat_tree(ranks):
    pods, edges, hosts = FAT_TREES[ranks]
    return (f"{{kind: fat_tree, pods: {pods}, edges_per_pod: {edges}, hosts_per_edge: {hosts}, "
            f"aggregations_per_pod: {hosts}, cores: {hosts * edges}, load_balancing: spray, {LINK}}}")


def torus(ranks):
    return f"{{kind: torus, sizes: [{', '.join(map(str, TORI[ranks]))}], load_balancing: spray, {LINK}}}"


NETWORKS = {"flat": flat, "fat-tree": fat_tree, "torus": torus}


def collective(kind, algorithm):
    def arguments(ranks, network):
        return ["collective", "--kind", kind, "--algorithm", algorithm, "--size", "64MiB",
                "--network", network, "--json"]
    return arguments


def model_a(ranks, network):
    """Model-A of the Opera study with a table for each rank and gradients padded to equal blocks."""
    example = ROOT / "examples/opera-dlrm/experiment-16.yaml"
    return ["run", str(example), "--json", "--progress", "none", "--set", f"cluster.ranks={ranks}",
            "--set", f"network={network}", "--set", f"workload.model.tables={ranks}",
            "--set", "cluster.padding=true"]


WORKLOADS = {
    "ring all-reduce": collective("all_reduce", "ring"),
    "direct all-reduce": collective("all_reduce", "direct"),
    "all-to-all": collective("all_to_all", "direct"),
    "DLRM iteration": model_a,
}


def over_budget(code, errors, time_is_up):
    """Which limit ended a run; nothing if it failed for another reason."""
    if time_is_up and code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "over time"
    if code == 1 and errors.startswith("astrolabe: out of memory"):
        return "over memory"
    return None


def how_it_ended(code):
    return f"exit code {code}" if code > 0 else signal.Signals(-code).name


def measure(program, arguments, seconds, memory):
    """Runs the program within a budget; what it says of itself and what it cost."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, preexec_fn=limit)
    output, errors = process.communicate()
    # communicate() has waited for the process, so what all children used has grown by what this one did.
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = usage.ru_utime + usage.ru_stime - measure.cpu_before
    measure.cpu_before += cpu
    if process.returncode != 0:
        outcome = over_budget(process.returncode, errors, cpu >= 0.95 * seconds)
        if outcome is None:
            raise SystemExit(f"{how_it_ended(process.returncode)}: {program} {' '.join(arguments)}\n{errors}")
        return {"outcome": outcome}
    result = json.loads(output)
    if isinstance(result, list):
        simulated, engine = result[0]["time_s"], result[0]["engine"]
    else:
        simulated, engine = result["total_time_s"], result["engine"]
    return {"outcome": "done", "cpu_s": round(cpu, 3), "wall_s": round(engine["wall_s"], 3),
            "events": engine["events"], "peak_bytes": engine["peak_rss_bytes"], "simulated_s": simulated}


measure.cpu_before = 0.0


def study(options):
    """All points, a series at a time; after one that is over its budget the greater ones are left out."""
    rows = []
    for network_name, network in NETWORKS.items():
        for workload_name, workload in WORKLOADS.items():
            budget_left = True
            for ranks in RANKS:
                if ranks > options.max_ranks:
                    continue
                row = {"workload": workload_name, "network": network_name, "ranks": ranks,
                       "outcome": "skipped"}
                if budget_left:
                    arguments = workload(ranks, network(ranks))
                    row |= measure(options.program, arguments, options.seconds, options.memory << 30)
                    budget_left = row["outcome"] == "done"
                rows.append(row)
                print(", ".join(str(row.get(column, "")) for column in COLUMNS), file=sys.stderr)
    return rows


def exponent(points):
    """b of y = a·x^b by least squares over the logarithms; nothing for fewer than three points."""
    if len(points) < 3:
        return None
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def fits(rows):
    """A Markdown table: the cost at 1,024 ranks, the greatest point, and exponents in the number of ranks."""
    lines = ["| network | workload | 1,024 ranks | greatest done | time ~ | events ~ | memory ~ |",
             "|---|---|---|---|---|---|---|"]
    for network in NETWORKS:
        for workload in WORKLOADS:
            series = [row for row in rows if (row["network"], row["workload"]) == (network, workload)]
            done = [row for row in series if row["outcome"] == "done"]
            if not done:
                continue

            def power(column, least):
                value = exponent([(row["ranks"], row[column]) for row in done if row[column] >= least])
                return f"N^{value:.2f}" if value is not None else ""

            at_1024 = [cost(row) for row in done if row["ranks"] == 1024]
            last = done[-1]
            greatest = f"{last['ranks']:,}: {cost(last)}" if last["ranks"] != 1024 else "1,024"
            stopped = [row for row in series if row["outcome"].startswith("over")]
            if stopped:
                greatest += f" ({stopped[0]['ranks']:,} {stopped[0]['outcome']})"
            # What is below 50 ms or 30 MB is the program itself, not the run.
            lines.append(f"| {network} | {workload} | {at_1024[0] if at_1024 else ''} | {greatest} | "
                         f"{power('cpu_s', 0.05)} | {power('events', 1)} | {power('peak_bytes', 30e6)} |")
    return "\n".join(lines) + "\n"


def cost(row):
    return f"{row['cpu_s']:.2f} s, {row['peak_bytes'] / 1e6:,.0f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build/release/cli/astrolabe"))
    parser.add_argument("--out", default=".", type=Path, help="folder for scale.csv, scale.md and scale.svg")
    parser.add_argument("--max-ranks", default=RANKS[-1], type=int)
    parser.add_argument("--seconds", default=60, type=int, help="processor time of a point")
    parser.add_argument("--memory", default=8, type=int, help="address space of a point, GiB")
    options = parser.parse_args()
    if not os.access(options.program, os.X_OK):
        parser.error(f"no program {options.program}: build it, or name it with --program")

    # The first start of a program reads it from the disk.
    measure(options.program, WORKLOADS["ring all-reduce"](16, flat(16)), options.seconds, options.memory << 30)
    rows = study(options)
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "scale.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (options.out / "scale.md").write_text(fits(rows), encoding="utf-8")
    picture = figure.draw(rows, list(NETWORKS), list(WORKLOADS))
    (options.out / "scale.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
