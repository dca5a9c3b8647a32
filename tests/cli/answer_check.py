#!/usr/bin/env python3
"""Computes who wins where from a report's points.csv and compares it with what the report's answer says.

    answer_check.py REPORT_FOLDER

It shares no code with the program. Of answer.json it takes which parameter is contested, which are choices, and the budgets; the
winners, margins, certainties, regions, crossovers and counts in the headline it works out itself.
"""
import csv
import json
import math
import re
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path

TIME = "mean_iteration_time_s"
PRICE = "network_usd_per_host"
UNITS = {"": 1, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def same(a, b, share=1e-9):
    return abs(a - b) <= share * max(abs(a), abs(b))


def number(text):
    """Of a count or a time; None of a name."""
    found = re.fullmatch(r"([-+0-9.eE]+)\s*([a-z]*)", text)
    try:
        return float(found[1]) * UNITS[found[2]]
    except (TypeError, ValueError, KeyError):
        return None


def text_of(cell):
    return cell[1:] if cell.startswith("'") else cell


class Contest:
    """The points of a study as contests."""

    def __init__(self, rows, answer):
        self.contested = answer["contested"]
        self.choices = answer["choices"]
        self.circumstances = answer["circumstances"]
        self.tie = answer["tie_margin"]
        self.close = answer["close_margin"]
        seeds = defaultdict(list)
        self.price = {}
        for row in rows:
            if row["status"] != "done":
                continue
            names = [self.contested, *self.choices, *self.circumstances]
            key = tuple(text_of(row[name]) for name in names)
            seeds[key].append(float(row[TIME]))
            self.price.setdefault(key, float(row[PRICE]) if row[PRICE] else None)
        self.times = dict(seeds)

    def settings(self, budget):
        """By circumstances: contenders (name, mean, least, greatest), the fastest first."""
        best = defaultdict(dict)
        for key, times in self.times.items():
            if budget is not None and (self.price[key] is None or self.price[key] > budget):
                continue
            contender, at = key[0], key[1 + len(self.choices):]
            mean = sum(times) / len(times)
            if contender not in best[at] or mean < best[at][contender][1]:
                best[at][contender] = (contender, mean, min(times), max(times), len(times))
        return {at: sorted(all_of.values(), key=lambda one: one[1]) for at, all_of in best.items()}

    def certainty(self, contenders):
        if len(contenders) < 2:
            return "alone"
        (_, a, a_least, a_most, a_count), (_, b, b_least, b_most, b_count) = contenders[:2]
        if b / a - 1 <= self.tie:
            return "tie"
        if min(a_count, b_count) > 1 and a_least <= b_most and b_least <= a_most:
            return "seeds"
        return "close" if b / a - 1 <= self.close else "clear"


class Check:
    def __init__(self):
        self.wrong = []
        self.count = 0

    def that(self, holds, what):
        self.count += 1
        if not holds:
            self.wrong.append(what)


def winner_of(contenders, said):
    """The winner; of several with the same time the one that was said."""
    fastest = contenders[0][1]
    equal = [name for name, mean, *_ in contenders if same(mean, fastest)]
    return said if said in equal else equal[0]


def check_settings(check, contest, verdict, settings):
    told = {tuple(one["at"][name] for name in contest.circumstances): one for one in verdict["settings"]}
    check.that(told.keys() == settings.keys(), f"settings: {sorted(told)} against {sorted(settings)}")
    winners = {}
    for at in told.keys() & settings.keys():
        said = told[at]["contenders"]
        contenders = settings[at]
        winners[at] = winner_of(contenders, said[0]["name"])
        check.that(said[0]["name"] == winners[at], f"{at}: {said[0]['name']} wins, not {winners[at]}")
        check.that({one["name"] for one in said} == {one[0] for one in contenders}, f"{at}: other contenders")
        for one in said:
            mean = next(mean for name, mean, *_ in contenders if name == one["name"])
            check.that(same(one["iteration_time_s"], mean), f"{at}: {one['name']} takes {mean}")
        margin = contenders[1][1] / contenders[0][1] - 1 if len(contenders) > 1 else 0
        check.that(abs(told[at]["margin"] - margin) < 1e-9, f"{at}: the margin is {margin}")
        check.that(told[at]["certainty"] == contest.certainty(contenders), f"{at}: {contest.certainty(contenders)}")
        differences = sum(one["extra_s"] for one in told[at]["because"])
        if told[at]["because"] and len(contenders) > 1 and contenders[0][4] == 1:
            check.that(abs(differences - (contenders[1][1] - contenders[0][1])) < 1e-6 * contenders[1][1],
                       f"{at}: the differences sum to {differences}")
    return winners


def check_regions(check, contest, verdict, winners):
    for name in set(winners.values()):
        won = {at for at, winner in winners.items() if winner == name}
        region = next((one for one in verdict["regions"] if one["winner"] == name), None)
        check.that(region is not None and region["settings"] == len(won), f"region of {name}: {len(won)} settings")
        covered = set()
        for box in region["boxes"] if region else []:
            held = [at for at in product(*(box["values"][c] for c in contest.circumstances)) if at in winners]
            check.that(all(winners[at] == name for at in held), f"a box of {name} holds settings of others")
            check.that(box["settings"] == len(held), f"a box of {name} has {len(held)} settings")
            covered.update(held)
        check.that(covered == won, f"the boxes of {name} are not its settings")
    check.that(len(verdict["regions"]) == len(set(winners.values())), "as many regions as winners")


def expected_crossovers(contest, settings, winners):
    found = {}
    for c, parameter in enumerate(contest.circumstances):
        if any(number(at[c]) is None for at in settings):
            continue
        for at in settings:
            line = sorted((other for other in settings if other[:c] + other[c + 1:] == at[:c] + at[c + 1:]),
                          key=lambda other: number(other[c]))
            place = line.index(at)
            if place + 1 == len(line) or winners[at] == winners[line[place + 1]]:
                continue
            after = line[place + 1]
            before_times = {name: mean for name, mean, *_ in settings[at]}
            after_times = {name: mean for name, mean, *_ in settings[after]}
            a, b = winners[at], winners[after]
            estimate = None
            if b in before_times and a in after_times:
                start = math.log(before_times[a] / before_times[b])
                end = math.log(after_times[a] / after_times[b])
                share = -start / (end - start) if end > start else 0.5
                low, high = number(at[c]), number(after[c])
                estimate = low * (high / low) ** share if low > 0 else low + share * (high - low)
            found[parameter, at, after] = (a, b, estimate)
    return found


def check_crossovers(check, contest, verdict, settings, winners):
    expected = expected_crossovers(contest, settings, winners)
    check.that(len(expected) == len(verdict["crossovers"]), f"{len(expected)} crossovers")
    for one in verdict["crossovers"]:
        c = contest.circumstances.index(one["parameter"])
        rest = [one["at"][name] for name in contest.circumstances if name != one["parameter"]]
        ends = [tuple(rest[:c] + [one[end]] + rest[c:]) for end in ("below", "above")]
        a, b, estimate = expected.get((one["parameter"], *ends), (None, None, None))
        check.that((a, b) == (one["winner_below"], one["winner_above"]), f"crossover {one} is {a}, {b}")
        if estimate is not None and one["estimate"] is not None:
            check.that(same(estimate, one["estimate"], 1e-6), f"crossover {one} is near {estimate}")
        check.that((estimate is None) == (one["estimate"] is None), f"crossover {one}: estimate {estimate}")


def check_headline(check, verdict, winners):
    text = verdict["headline"]
    counts = defaultdict(int)
    for name in winners.values():
        counts[name] += 1
    if len(winners) > 1 and len(counts) > 1 and "Nothing competes" not in text:
        for name, count in counts.items():
            check.that(f"{name} in {count}" in text, f"headline: {name} in {count}")
    elif len(winners) > 1 and "Nothing competes" not in text:
        check.that(next(iter(counts)) in text and f"all {len(winners)} settings" in text, "headline: all settings")
    elif len(winners) == 1:
        check.that(next(iter(counts)) in text, "headline: the winner")


def main(folder):
    answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    with open(folder / "points.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    contest = Contest(rows, answer)
    check = Check()
    check.that(answer["verdicts"][0]["at_most_usd_per_host"] is None, "the first verdict is of any price")
    for verdict in answer["verdicts"]:
        settings = contest.settings(verdict["at_most_usd_per_host"])
        winners = check_settings(check, contest, verdict, settings)
        if winners.keys() == settings.keys():
            check_regions(check, contest, verdict, winners)
            check_crossovers(check, contest, verdict, settings, winners)
            check_headline(check, verdict, winners)
    for what in check.wrong[:20]:
        print(f"wrong: {what}", file=sys.stderr)
    print(f"{check.count - len(check.wrong)} of {check.count} statements of {len(answer['verdicts'])} verdicts hold")
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
