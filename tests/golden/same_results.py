#!/usr/bin/env python3
"""Compares the results of two versions of the program, in one table.

    git worktree add ../before REVISION && (cd ../before && ./astrolabe --version)
    python3 tests/golden/same_results.py ../before . [--limit SECONDS]

Each version runs every example and every study that has a record below examples/*/expected, from its own files, and
its golden tests. A row says 'same' where the fingerprint and every result are equal, where keys were renamed which
ones, and otherwise what differs. Left out of the comparison: what describes the computer rather than the run
(engine.*), and the key of a point in a store, which is a hash of its file. A run that takes longer than the limit,
300 s unless given, is compared by the two records.

Exit code: 0 all the same, 1 something differs, 2 wrong usage.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = "build/release/cli/astrolabe"


def flat(value, path=""):
    """Scalars of a JSON document by their path; keys that describe the computer are left out."""
    if isinstance(value, dict):
        children = [(f"{path}.{key}" if path else key, child) for key, child in value.items()]
    elif isinstance(value, list):
        children = [(f"{path}[{place}]", child) for place, child in enumerate(value)]
    else:
        return {path: value}
    scalars = {}
    for key, child in children:
        name = key.rsplit(".", 1)[-1]
        if not (key == "engine" or ".engine" in key or name.startswith("engine") or name in ("key", "wall_s")):
            scalars.update(flat(child, key))
    return scalars


def verdict(before, after):
    """'same', the keys that were renamed, or what differs."""
    if isinstance(before, str) or isinstance(after, str):
        return "DIFFERENT: a version failed"
    old, new = flat(before), flat(after)
    gone = [key for key in old if key not in new]
    come = [key for key in new if key not in old]
    if any(old[key] != new[key] for key in old if key in new) or len(gone) != len(come):
        changed = [key for key in old if key in new and old[key] != new[key]]
        return "DIFFERENT: " + ", ".join((changed + gone + come)[:4])
    if [old[key] for key in gone] != [new[key] for key in come]:
        return "DIFFERENT: " + ", ".join((gone + come)[:4])
    if gone:
        names = {f"{a.rsplit('.', 1)[-1]} -> {b.rsplit('.', 1)[-1]}" for a, b in zip(gone, come)}
        return "same, renamed " + ", ".join(sorted(names))
    return "same"


def run(tree, arguments, limit):
    """What a version prints as JSON; None where it takes too long, a text where it fails."""
    try:
        done = subprocess.run([tree / PROGRAM, *arguments], cwd=tree, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
    return json.loads(done.stdout)


def is_study(record):
    """Records of experiments are called FILE.BACKEND.json."""
    return "." not in record.stem


def answer(tree, record, limit):
    """The document that the version computes for a record, or the record itself where that takes too long."""
    relative = record.relative_to("examples")
    parts = list(relative.parts)
    parts.remove("expected")
    folder = pathlib.Path("examples", *parts[:-1])
    name = parts[-1].removesuffix(".json")
    if is_study(record):
        study = folder / f"{name}.yaml"
        command = "optimize" if "\noptimize:" in (tree / study).read_text() else "sweep"
        with tempfile.TemporaryDirectory() as out:
            found = run(tree, [command, str(study), "-j", "1", "--out", out, "--json"], limit)
    else:
        file, backend = name.rsplit(".", 1)
        found = run(tree, ["run", str(folder / f"{file}.yaml"), "--json", "--set", f"backend={{kind: {backend}}}"], limit)
    return (json.loads((tree / record).read_text()), "record") if found is None else (found, "run")


def headline(document):
    """The fingerprint and the iteration of one run; the number of rows of a study."""
    if isinstance(document, str):
        return document, ""
    rows = document.get("points") if isinstance(document, dict) else document
    if isinstance(rows, list):
        return f"{len(rows)} points", ""
    return document.get("fingerprint", "-"), document.get("mean_iteration_time_s", document.get("best", "-"))


def golden(tree):
    """The closing line of the golden tests of a version."""
    program = tree / "build/release/tests/golden/golden_test"
    if not program.exists():
        return "not built"
    done = subprocess.run([program], capture_output=True, text=True)
    passed = [line for line in done.stdout.splitlines() if "PASSED" in line]
    return passed[-1].split("]")[-1].strip() if done.returncode == 0 and passed else "failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=300)
    arguments = parser.parse_args()
    trees = [arguments.before.resolve(), arguments.after.resolve()]
    for tree in trees:
        if not (tree / PROGRAM).exists():
            print(f"same_results.py: {tree} has no {PROGRAM}: build it with ./astrolabe --version", file=sys.stderr)
            return 2
    records = sorted(path.relative_to(trees[1]) for path in trees[1].glob("examples/*/expected/**/*.json"))
    all_same = True
    print(f"{'record':55} {'by':7} {'before':18} {'after':18} {'iteration, s':24} results", flush=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for record in records:
            found = list(pool.map(lambda tree: answer(tree, record, arguments.limit), trees))
            (before, by), (after, _) = found
            text = verdict(before, after)
            all_same = all_same and text.startswith("same")
            first, iteration = headline(before)
            name = str(record.relative_to("examples")).replace("expected/", "").removesuffix(".json")
            print(f"{name:55} {by:7} {first:18} {headline(after)[0]:18} {iteration!s:24} {text}", flush=True)
    tests = [golden(tree) for tree in trees]
    all_same = all_same and tests[0] == tests[1]
    print(f"{'tests/golden':55} {'run':7} {tests[0]:18} {tests[1]:18} {'':24} "
          f"{'same' if tests[0] == tests[1] else 'DIFFERENT'}")
    return 0 if all_same else 1


if __name__ == "__main__":
    sys.exit(main())
