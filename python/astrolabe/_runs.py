"""Runs and sweeps."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from ._program import Source, call, override
from ._results import Result, points_table

if TYPE_CHECKING:
    import pandas

Program = Optional[Union[str, "os.PathLike[str]"]]


def run(
    experiment: Source,
    *,
    set: Optional[Mapping[str, Any]] = None,
    seed: Optional[int] = None,
    out: Optional[Union[str, "os.PathLike[str]"]] = None,
    options: Sequence[str] = (),
    program: Program = None,
) -> Result:
    """Runs an experiment, a file or a mapping.

    set      changes, by dotted path: {"cluster.ranks": 32, "network.link.rate": "400Gbps"}
    seed     of all random choices
    out      folder for the files of the run: Result.table() reads them
    options  others of `astrolabe run`: ["--timeline"], ["--flows"]

    Raises AstrolabeError with what is wrong, or why the simulation failed.
    """
    arguments = ["--json", "--progress", "none", *_changes(set), *options]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    if out is not None:
        arguments += ["--out", os.fspath(out)]
    summary = call("run", experiment, arguments, program=program).json()
    return Result(summary, None if out is None else Path(out))


def validate(
    experiment: Source, *, set: Optional[Mapping[str, Any]] = None, program: Program = None
) -> Mapping[str, Any]:
    """What a run would be, without running it: size, bounds, predicted time and memory."""
    return call("validate", experiment, ["--json", *_changes(set)], program=program).json()


def sweep(
    study: Source,
    *,
    set: Optional[Mapping[str, Any]] = None,
    jobs: Optional[int] = None,
    out: Optional[Union[str, "os.PathLike[str]"]] = None,
    options: Sequence[str] = (),
    program: Program = None,
) -> "pandas.DataFrame":
    """Runs all points of a study that have no result yet; gives a row for each point.

    Columns are the parameters, with their units where they are quantities ("network.link.rate_bps"), `status`, and what was
    found, as summary.json names it ("mean_iteration_time_s", "network.messages"). A point that failed says why in `error`.
    set, out and options are as in run(); jobs: points at a time.
    """
    arguments = ["--json", "--progress", "none", *_changes(set), *options]
    if jobs is not None:
        arguments += ["--jobs", str(jobs)]
    if out is not None:
        arguments += ["--out", os.fspath(out)]
    some_failed = 4
    # While points run: the first import of pandas takes as long as several of them.
    importing = threading.Thread(target=importlib.import_module, args=("pandas",), daemon=True)
    importing.start()
    answer = call("sweep", study, arguments, program=program, accepted=(0, some_failed)).json()
    importing.join()
    own = ("point", "parameters", "key", "status", "error")
    return points_table(
        [
            {"point": point["point"], "parameters": point["parameters"], "status": point["status"],
             "error": point.get("error", ""),
             "found": {key: value for key, value in point.items() if key not in own}}
            for point in answer["points"]
        ]
    )


def _changes(changes: Optional[Mapping[str, Any]]) -> list[str]:
    arguments: list[str] = []
    for path, value in (changes or {}).items():
        arguments += ["--set", f"{path}={override(value)}"]
    return arguments
