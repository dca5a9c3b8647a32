"""The JSON Schema of `astrolabe describe --json-schema` against the files of this repository.

    json_schema.py PROGRAM REPOSITORY

It must take every file of inputs/ and examples/ that is written for the program, and refuse every file of tests/cli/broken*
but those that are listed below, which no schema of single values can refuse. Files are read as YAML 1.2, as editors do.
"""

import json
import pathlib
import subprocess
import sys

import jsonschema
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

# Folders of inputs/ and the definition their files are; examples/ are files by their keys.
FOLDERS = {"networks": "network", "clusters": "cluster", "devices": "device", "costs": "prices", "models": None, "machines": None,
           "reuse": None, "schedules": None, "flows": None, "traces": None, "backends": "backend"}
# Not of their folder: a device among clusters, and what others include.
DEFINITIONS = {"inputs/clusters/v100-hoti20.yaml": "device", "examples/hoti20-dlrm/quarter/common.yaml": "experiment.part",
               "examples/own-network/servers.yaml": "network"}
# What is wrong with them shows when several keys, or several files, are looked at together.
NEEDS_THE_PROGRAM = set("""
broken-studies/alternative-twice broken-studies/alternatives-without-a-list broken-studies/base-that-is-not-there
broken-studies/chains-without-a-move broken-studies/choice-within-a-choice broken-studies/column-wise-without-shards
broken-studies/enumeration-beyond-its-budget broken-studies/misspelt-alternative broken-studies/misspelt-path
broken-studies/nothing-to-choose broken-studies/path-into-a-value broken-studies/restarts-without-a-move
broken-studies/study-without-a-base broken-studies/tables-and-their-choice broken-studies/tables-of-a-balanced-plan
broken-studies/tables-on-no-rank broken-sweeps/array-of-its-own broken-sweeps/expression-that-ends-early
broken-sweeps/figure-twice broken-sweeps/groups-of-unlike-length broken-sweeps/name-that-a-parameter-never-has
broken-sweeps/nothing-kept broken-sweeps/one-point-in-two-words broken-sweeps/path-that-no-experiment-has
broken-sweeps/points-that-are-no-experiments broken-sweeps/range-with-two-ways broken/bandwidths-nobody-reads
broken/batch-not-divisible broken/batch-twice broken/circuits-that-never-come broken/class-of-both-services
broken/class-of-no-service broken/classes-without-rings broken/coins-without-rings broken/credits-of-one-way-fibres
broken/degree-too-small broken/device-lacks-peak broken/dimension-cannot-do-it broken/dimensions-make-other-ranks
broken/dot-needs-equal-dimensions broken/empty-mlp broken/equal-cost-of-no-price broken/equal-cost-to-a-missing-file
broken/equal-cost-to-a-solved-network broken/equal-cost-too-low broken/equal-cost-with-a-rate
broken/equal-cost-without-oversubscription broken/failures-of-more-than-there-are
broken/failures-out-of-order broken/hosts-not-on-leaves broken/model-file-missing
broken/more-ranks-than-hosts broken/no-perfect-matching broken/no-rings broken/no-strides broken/no-window
broken/odd-fat-tree broken/one-way-fibres-on-tcp broken/one-way-stride-out-of-range broken/one-way-without-a-way-back
broken/operation-that-is-not-there broken/planes-of-an-odd-ring broken/rings-of-no-network broken/schedule-file-missing
broken/schedule-of-another-kind broken/schedule-of-another-shape broken/serial-copies-that-do-not-exist
broken/interleaved-rest broken/jitter-without-its-mean broken/rank-with-two-devices broken/stride-that-misses-ranks broken/strides-and-rings broken/unknown-algorithm-of-a-dimension
""".split())


def load(path):
    with open(path, encoding="utf-8") as file:
        return YAML(typ="safe", pure=True).load(file)


class Schemas:
    """Schemas by definition, each asked for once."""

    def __init__(self, program):
        self.program = program
        self.known = {}

    def errors(self, definition, data):
        if definition not in self.known:
            command = [self.program, "describe", "--json-schema", *([definition] if definition else [])]
            schema = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            jsonschema.Draft7Validator.check_schema(schema)
            self.known[definition] = jsonschema.Draft7Validator(schema)
        return list(self.known[definition].iter_errors(data))


def main(program, repository):
    root = pathlib.Path(repository)
    schemas = Schemas(program)
    wrong = []
    taken = 0
    for path in sorted([*root.glob("inputs/**/*.yaml"), *root.glob("examples/**/*.yaml")]):
        name = path.relative_to(root).as_posix()
        definition = FOLDERS[name.split("/")[1]] if name.startswith("inputs/") else ""
        definition = DEFINITIONS.get(name, definition)
        if definition is None:
            continue
        taken += 1
        for error in schemas.errors(definition, load(path)):
            wrong.append(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
    refused = 0
    for path in sorted(root.glob("tests/cli/broken*/*.yaml")):
        name = path.relative_to(root / "tests/cli").with_suffix("").as_posix()
        try:
            is_refused = bool(schemas.errors("", load(path)))
        except YAMLError:
            is_refused = True
        refused += is_refused
        if is_refused == (name in NEEDS_THE_PROGRAM):
            wrong.append(f"{name}: {'refused, and listed as beyond a schema' if is_refused else 'not refused'}")
    print(f"{taken} files taken, {refused} broken ones refused")
    print("\n".join(wrong))
    return 1 if wrong or taken < 60 or refused < 35 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
