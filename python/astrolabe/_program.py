"""Calling the program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

Source = Union[str, "os.PathLike[str]", Mapping[str, Any]]


@dataclass(frozen=True)
class Diagnostic:
    """What is wrong with a file, and where."""

    code: str
    message: str
    hint: str = ""
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} ({self.hint})" if self.hint else text


class AstrolabeError(Exception):
    """The program refused its input or failed; `exit_code` is the program's.

    `diagnostics` has what is wrong with the input, `text` all that the program said.
    """

    def __init__(self, exit_code: int, diagnostics: Sequence[Diagnostic], text: str) -> None:
        super().__init__("\n".join(map(str, diagnostics)) or text.strip() or f"exit code {exit_code}")
        self.exit_code = exit_code
        self.diagnostics = tuple(diagnostics)
        self.text = text


@dataclass(frozen=True)
class Answer:
    """What a call printed."""

    out: str
    exit_code: int
    diagnostics: Sequence[Diagnostic] = field(default_factory=tuple)

    def json(self) -> Any:
        return json.loads(self.out)


def find_program(program: Optional[Union[str, "os.PathLike[str]"]]) -> str:
    """The path of the program."""
    named = program or os.environ.get("ASTROLABE_PROGRAM") or shutil.which("astrolabe")
    if named is None:
        raise FileNotFoundError("no program 'astrolabe' on the PATH; give program=…, or set ASTROLABE_PROGRAM")
    return os.fspath(named)


def override(value: Any) -> str:
    """A value as --set takes it: JSON is YAML."""
    return value if isinstance(value, str) else json.dumps(_plain(value))


def call(
    command: str,
    source: Source,
    options: Sequence[str],
    *,
    program: Optional[Union[str, "os.PathLike[str]"]],
    accepted: Sequence[int] = (0,),
) -> Answer:
    """Runs a command on a file or a mapping. Raises AstrolabeError unless the exit code is one of `accepted`."""
    text: Optional[str] = None
    if isinstance(source, Mapping):
        text = json.dumps(_plain(source))
        file = "-"
    else:
        file = os.fspath(source)
    process = subprocess.run(
        [find_program(program), command, file, *options, "--diagnostics", "json"],
        input=text if text is not None else "",
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode not in accepted:
        raise AstrolabeError(process.returncode, _diagnostics(process.stderr), process.stderr)
    return Answer(process.stdout, process.returncode)


def _diagnostics(text: str) -> list[Diagnostic]:
    found = []
    for line in text.splitlines():
        if not line.startswith('{"severity"'):
            continue
        item = json.loads(line)
        found.append(
            Diagnostic(item["code"], item["message"], item["hint"], item.get("file"), item.get("line"), item.get("column"))
        )
    return found


def _plain(value: Any) -> Any:
    """Mappings, lists, numbers and texts, as JSON knows them. Numbers of other libraries become Python's."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    if isinstance(value, Path):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} is no value of an experiment: {value!r}")
