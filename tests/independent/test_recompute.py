"""Every number of a findings document is what an independent script makes of the same run directory."""

from __future__ import annotations

import ast
import dataclasses
import functools
import json
import re
import subprocess
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recompute
from runs_to_recompute import RUNS

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.bands import SLOWEST, Share
from dbdyno.analysis.findings import Findings, to_json
from dbdyno.store import journal

HERE = Path(__file__).parent
Document = dict[str, Any]


@functools.cache
def compared(name: str) -> list[recompute.Line]:
    """All values of one run, ours and the independent ones."""
    run, machine, trials = RUNS[name]()
    slow = Share(0.85, 0.95) if name == "slow_and_few" else SLOWEST
    findings = json.loads(to_json(analyse(run, machine, trials, slow=slow)))
    return recompute.compare(findings, recompute.recompute(run, machine, trials, findings))


@pytest.mark.parametrize("name", RUNS)
def test_every_number_agrees(name: str) -> None:
    """To 1e-9 of its size, with nothing left over on either side."""
    wrong = [line for line in compared(name) if not line.agrees]

    assert not wrong, "\n" + recompute.table(wrong[:50])


def numeric_keys(kind: Any, key: str = "") -> Iterator[str]:
    """The keys of a findings document that hold numbers, by the types of its fields."""
    arguments = typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        for name, of in typing.get_type_hints(kind).items():
            yield from numeric_keys(of, f"{key}.{name}" if key else name)
    elif typing.get_origin(kind) in (types.UnionType, typing.Union):
        for one in arguments:
            yield from numeric_keys(one, key)
    elif typing.get_origin(kind) in (list, tuple):
        yield from numeric_keys(arguments[0], key + "[]")
    elif typing.get_origin(kind) is dict:
        yield from numeric_keys(arguments[1], key + ".*")
    elif kind in (int, float):
        yield key


def test_every_number_that_there_can_be_is_among_them() -> None:
    """A field that is added to the findings fails here until somebody recomputes it, or says why not."""
    seen = set()
    for name in RUNS:
        numbers = (line for line in compared(name) if isinstance(line.ours, int | float))
        seen |= {re.sub(r"\[\d+\]", "[]", line.key) for line in numbers if not isinstance(line.ours, bool)}

    def is_seen(key: str) -> bool:
        return any(re.fullmatch(re.escape(key).replace(r"\*", ".*"), one) for one in seen)

    missing = [key for key in numeric_keys(Findings) if not is_seen(key) and not recompute.left_out(key)]
    assert missing == []


@pytest.mark.parametrize(
    "key",
    [
        "comparisons.0.ratio.low", "comparisons.0.p_value", "exploratory.2.p_value_bh", "arms.1.tail.extra.0.ns.high",
        "arms.0.profile_ns.waits.IO:WalSync", "comparisons.1.why.2.difference.low", "arms.2.exposure.age_ns.p95",
        "arms.0.intervals.parts.1.share.high", "noise.0.correlation", "carry_over.p_value",
    ],
)  # fmt: skip
def test_a_number_that_is_off_is_found(key: str) -> None:
    """By two in a thousand million."""
    wrong = json.loads(analysed())
    *path, last = key.split(".")
    at: Any = wrong
    for step in path:
        at = at[int(step)] if isinstance(at, list) else at[step]
    at[last] *= 1 + 2e-9

    found = [line.key for line in recompute.compare(wrong, recomputed()) if not line.agrees]

    assert [re.sub(r"\[(\d+)\]", r".\1", one) for one in found] == [key]


@functools.cache
def analysed() -> str:
    """The findings of the first run."""
    return to_json(analyse(*RUNS["everything_recorded"]()))


@functools.cache
def recomputed() -> Document:
    """The numbers of the first run."""
    return recompute.recompute(*RUNS["everything_recorded"](), json.loads(analysed()))


def test_a_number_that_nobody_recomputes_is_found() -> None:
    """A key that came in after the script was written."""
    lines = recompute.compare({"new": {"figure": 1.0, "word": "x", "flag": True}}, {})

    assert [(line.key, line.agrees) for line in lines] == [("new.figure", False)]


def test_the_script_knows_nothing_of_dbdyno() -> None:
    """No module of it imports the program, so a mistake of ours is not made twice by the same line."""
    for path in [*HERE.glob("*.py"), HERE.parent / "hdr.py"]:
        if path.name not in (Path(__file__).name, "runs_to_recompute.py"):
            tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            names = {alias.name for node in tree if isinstance(node, ast.Import) for alias in node.names}
            tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            names |= {node.module or "" for node in tree if isinstance(node, ast.ImportFrom)}
            assert not [name for name in names if name.split(".")[0] == "dbdyno"], path.name


def test_from_the_command_line(tmp_path: Path) -> None:
    """A run directory in, one line out; and a table of what differs."""
    run, machine, trials = RUNS["chunks"]()
    bodies = [("run", run), ("machine", machine), *(("trial", trial) for trial in trials)]
    lines = [journal.encode(seq, kind, body) for seq, (kind, body) in enumerate(bodies)]
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines))
    findings = json.loads(to_json(analyse(run, machine, trials)))
    findings["seed"] += 1
    (tmp_path / "wrong.json").write_text(json.dumps(findings), encoding="utf-8")
    script = [sys.executable, str(HERE / "recompute.py"), str(tmp_path)]

    right = subprocess.run(script, capture_output=True, text=True, check=False)
    wrong = subprocess.run(
        [*script, "--findings", str(tmp_path / "wrong.json")], capture_output=True, text=True, check=False
    )

    assert (right.returncode, right.stderr) == (0, "")
    assert re.fullmatch(r"[\d,]+ values, 0 differ; the others agree to \d\.\de[-+]\d\d\n", right.stdout)
    assert wrong.returncode == 1
    assert wrong.stdout.splitlines()[1].split()[:3] == ["seed", "7", "6"]
