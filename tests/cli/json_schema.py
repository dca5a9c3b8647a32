"""The JSON Schemas of schema/ against the program and against the files of this repository.

    json_schema.py PROGRAM REPOSITORY [--write]

Every schema/<name>.schema.json is what `astrolabe describe --json-schema <name>` prints (astrolabe.schema.json: without a name);
--write makes them so. Every file of inputs/ and examples/ that is written for the program names one of them in its first line, as
editors read it, and is valid by it. Of the files of tests/cli/broken* all are refused but those that are listed below, which no schema of single
values can refuse. Files are read as YAML 1.2, as editors do.
"""

import json
import pathlib
import subprocess
import sys

import jsonschema
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

MODELINE = "# yaml-language-server: $schema="
# The program reads them without a description of their keys.
WITHOUT_SCHEMA = ("inputs/schedules/",)
# What is wrong with them shows when several keys, or several files, are looked at together.
NEEDS_THE_PROGRAM = set("""
broken-studies/alternative-twice broken-studies/alternatives-without-a-list broken-studies/base-that-is-not-there
broken-studies/chains-without-a-move broken-studies/choice-within-a-choice broken-studies/coarse-into-a-value
broken-studies/coarse-key-misspelt broken-studies/coarse-part-of-a-choice broken-studies/column-wise-without-shards
broken-studies/coarse-values-in-each-others-way broken-studies/coarse-path-that-ends-with-a-dot
broken-studies/path-that-is-empty broken-studies/confirmed-without-coarse
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
broken/odd-fat-tree broken/one-way-stride-out-of-range broken/one-way-without-a-way-back
broken/operation-that-is-not-there broken/planes-of-an-odd-ring broken/rate-interval-of-slots
broken/rate-interval-with-slow-start broken/rate-slack-with-window broken/rings-of-no-network broken/schedule-file-missing
broken/schedule-of-another-kind broken/schedule-of-another-shape broken/serial-copies-that-do-not-exist
broken/interleaved-rest broken/jumbo-frames-on-tcp-over-rotors broken/jitter-without-its-mean broken/rank-with-two-devices broken/stride-that-misses-ranks broken/strides-and-rings broken/unknown-algorithm-of-a-dimension
""".split())


def load(path):
    with open(path, encoding="utf-8") as file:
        return YAML(typ="safe", pure=True).load(file)


def printed(program, path):
    """What a file of schema/ should be."""
    name = path.name.removesuffix(".schema.json")
    command = [program, "describe", "--json-schema", *([] if name == "astrolabe" else [name])]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def validator(text):
    schema = json.loads(text)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def check_file(root, path, schemas, used):
    """What is wrong with a file of inputs/ or examples/; the schema that it names is marked as used."""
    name = path.relative_to(root).as_posix()
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    if name.startswith(WITHOUT_SCHEMA):
        return [f"{name}: names a schema, and there is none"] if first.startswith(MODELINE) else []
    if not first.startswith(MODELINE):
        return [f"{name}: the first line is not '{MODELINE}<path of a file of schema/>'"]
    schema = (path.parent / first.removeprefix(MODELINE)).resolve()
    if schema not in schemas:
        return [f"{name}: its first line names '{schema}', which is no file of schema/"]
    used.add(schema)
    return [f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
            for error in schemas[schema].iter_errors(load(path))]


def main(program, repository, *options):
    root = pathlib.Path(repository).resolve()
    files = sorted((root / "schema").glob("*.schema.json"))
    if options == ("--write",):
        for path in files:
            path.write_text(printed(program, path), encoding="utf-8")
    wrong = [f"{path.name} is not what the program prints: {sys.argv[0]} PROGRAM REPOSITORY --write"
             for path in files if path.read_text(encoding="utf-8") != printed(program, path)]
    schemas = {path: validator(path.read_text(encoding="utf-8")) for path in files}
    used = set()
    taken = 0
    for path in sorted([*root.glob("inputs/**/*.yaml"), *root.glob("examples/**/*.yaml")]):
        taken += 1
        wrong += check_file(root, path, schemas, used)
    wrong += [f"{path.name}: no file names it" for path in files if path not in used]
    every_file = schemas[root / "schema/astrolabe.schema.json"]
    refused = 0
    for path in sorted(root.glob("tests/cli/broken*/*.yaml")):
        name = path.relative_to(root / "tests/cli").with_suffix("").as_posix()
        try:
            is_refused = bool(list(every_file.iter_errors(load(path))))
        except YAMLError:
            is_refused = True
        refused += is_refused
        if is_refused == (name in NEEDS_THE_PROGRAM):
            wrong.append(f"{name}: {'refused, and listed as beyond a schema' if is_refused else 'not refused'}")
    print(f"{taken} files taken, {refused} broken ones refused")
    print("\n".join(wrong))
    return 1 if wrong or taken < 100 or refused < 35 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
