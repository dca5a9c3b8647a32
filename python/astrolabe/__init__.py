"""astrolabe from Python: run experiments and studies, and read what they found.

    import astrolabe

    result = astrolabe.run("examples/quickstart/experiment.yaml", set={"cluster.ranks": 32})
    print(result.mean_iteration_time_s, result.binding["resource"])
    points = astrolabe.sweep("examples/codesign-tables/study.yaml")   # a pandas.DataFrame

The program does the work, in a process of its own for each run: a simulator on ns-3 can be there once in a process, and
what crashes or runs out of memory takes no notebook with it. It is found by the argument `program`, the variable
ASTROLABE_PROGRAM, or on the PATH. Files and mappings are the same: a mapping is an experiment as YAML would have it, and
paths in it are relative to the current folder.
"""

from __future__ import annotations

from ._program import AstrolabeError, Diagnostic
from ._results import Result, results
from ._runs import run, sweep, validate

__all__ = ["AstrolabeError", "Diagnostic", "Result", "results", "run", "sweep", "validate"]
