"""What runs and studies found."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

if TYPE_CHECKING:
    import pandas

# Units of quantities in files, as factors of the unit in which columns have them.
_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0, "h": 3600.0}
_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
_QUANTITY = re.compile(r"^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?) ?([^0-9 ]+)$")


class Result:
    """A finished run. `summary` is its summary.json, whose keys docs/results.md explains; the properties are those asked for
    most. `folder` has the other files, where the run wrote them."""

    def __init__(self, summary: Mapping[str, Any], folder: Optional[Path] = None) -> None:
        self.summary = dict(summary)
        self.folder = folder

    def __getitem__(self, key: str) -> Any:
        """A value by its dotted path: result["network.messages"]."""
        value: Any = self.summary
        for part in key.split("."):
            value = value[part]
        return value

    def __repr__(self) -> str:
        return f"<Result of {self.summary['name']!r}: {self.mean_iteration_time_s:.6g} s an iteration>"

    @property
    def iteration_time_s(self) -> list[float]:
        return list(self.summary["iteration_time_s"])

    @property
    def mean_iteration_time_s(self) -> float:
        return float(self.summary["mean_iteration_time_s"])

    @property
    def total_time_s(self) -> float:
        return float(self.summary["total_time_s"])

    @property
    def lower_bound_s(self) -> float:
        """No network of these ports and no order of messages makes an iteration shorter."""
        return float(self.summary["lower_bound_s"])

    @property
    def fingerprint(self) -> str:
        return str(self.summary["fingerprint"])

    @property
    def binding(self) -> Optional[Mapping[str, Any]]:
        """What has most of the critical path; None where causes were not followed."""
        return self.summary["binding"]

    @property
    def exposed_s(self) -> Mapping[str, float]:
        """Waiting of a rank by what it waited for."""
        return self.summary["exposed_s"]

    def table(self, name: str) -> "pandas.DataFrame":
        """A CSV file of the run's folder: result.table("operations")."""
        import pandas

        if self.folder is None:
            raise ValueError("the run wrote no files: give run() a folder, out=…")
        return pandas.read_csv(self.folder / f"{name}.csv")


def results(folder: Union[str, "os.PathLike[str]"], study: Optional[str] = None) -> Union[Result, "pandas.DataFrame"]:
    """What is in a folder: of `run --out` a Result, of `sweep` a DataFrame with a row for each point. `study` names one of
    several in a folder."""
    path = Path(folder)
    if (path / "summary.json").is_file():
        return Result(json.loads((path / "summary.json").read_text(encoding="utf-8")), path)
    if not (path / "results.sqlite").is_file():
        raise FileNotFoundError(f"'{path}' has neither summary.json, of a run, nor results.sqlite, of a sweep")
    return study_table(path / "results.sqlite", study)


def study_table(store: Path, study: Optional[str]) -> "pandas.DataFrame":
    """The points of a study, in order: parameters, then what was found."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        studies = [name for (name,) in connection.execute("SELECT name FROM studies ORDER BY name")]
        if study is None and len(studies) != 1:
            raise ValueError(f"'{store}' has {len(studies)} studies, give one of them: {', '.join(studies)}")
        if study is not None and study not in studies:
            raise ValueError(f"'{store}' has no study '{study}', but: {', '.join(studies)}")
        rows = connection.execute(
            "SELECT number, parameters, status, error, summary FROM study_rows WHERE study = ? ORDER BY number",
            (study or studies[0],),
        ).fetchall()
    finally:
        connection.close()
    return points_table(
        [
            {"point": number, "parameters": json.loads(parameters), "status": status, "error": error or "",
             "found": json.loads(summary) if summary else {}}
            for number, parameters, status, error, summary in rows
        ]
    )


def points_table(points: list[dict[str, Any]]) -> "pandas.DataFrame":
    import pandas

    parameters = pandas.DataFrame([point["parameters"] for point in points])
    for name in list(parameters.columns):
        unit, values = _with_unit(list(parameters[name]))
        if unit:
            place = list(parameters.columns).index(name)
            parameters = parameters.drop(columns=name)
            parameters.insert(place, f"{name}_{unit}", values)
    found = pandas.DataFrame([_flat(point["found"]) for point in points])
    found = found[[name for name in found.columns if name not in parameters.columns]]
    # What no point has is missing numbers, not missing objects.
    found = found.astype({name: "float64" for name in found.columns if found[name].isna().all()})
    table = pandas.concat(
        [
            pandas.DataFrame({"point": [point["point"] for point in points]}),
            parameters,
            pandas.DataFrame({"status": [point["status"] for point in points]}),
            found,
            pandas.DataFrame({"error": [point["error"] for point in points]}),
        ],
        axis="columns",
    )
    return table.set_index("point")


def _flat(summary: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Values by dotted path; lists of numbers are left to Result."""
    flat: dict[str, Any] = {}
    for key, value in summary.items():
        if key in ("schema", "version", "name", "randomness"):
            continue
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}."))
        elif not isinstance(value, list):
            flat[prefix + key] = value
    return flat


def _number_with_unit(text: Any) -> Optional[tuple[str, float]]:
    """A quantity in seconds, bytes, bits or operations a second: ("bps", 1e11) for "100Gbps"."""
    match = _QUANTITY.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    number, unit = float(match.group(1)), match.group(2)
    if unit in _TIME:
        return "s", number * _TIME[unit]
    for ends, name, factor in (
        (("bps", "b/s"), "bps", 1.0),
        (("B/s", "Bps"), "bps", 8.0),
        (("FLOPS", "FLOP/s"), "flops", 1.0),
        (("B",), "bytes", 1.0),
    ):
        for end in ends:
            prefix = unit[: -len(end)]
            if unit.endswith(end) and (prefix in _DECIMAL or prefix in _BINARY):
                return name, number * factor * {**_DECIMAL, **_BINARY}[prefix]
    return None


def _with_unit(values: list[Any]) -> tuple[str, list[float]]:
    """The unit that all values have, and the numbers; no unit: they are no quantities, or not all of one."""
    numbers = [_number_with_unit(value) for value in values]
    units = {number[0] for number in numbers if number is not None}
    if len(units) != 1 or any(number is None for number in numbers):
        return "", []
    return units.pop(), [number[1] for number in numbers if number is not None]
