"""A command called as a user calls it, but in this process: it has its imports behind it."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from pathlib import Path

from dbdyno.commands.app import run


@dataclasses.dataclass(frozen=True, slots=True)
class Told:
    """What a command said and how it ended."""

    returncode: int
    stdout: str
    stderr: str


def called(*arguments: str | Path) -> Told:
    """`dbdyno ARGUMENTS`."""
    with contextlib.redirect_stdout(io.StringIO()) as stdout, contextlib.redirect_stderr(io.StringIO()) as stderr:
        code = run([str(argument) for argument in arguments])
    return Told(code, stdout.getvalue(), stderr.getvalue())
