"""The quick form may keep a part of the levels."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.design.asked import Asked
from dbdyno.design.document import Level
from dbdyno.design.experiment import load_experiment
from dbdyno.errors import DynoError

TEXT = """
question = "How many?"
baseline = {{ clients = "one" }}
[workload]
script = "builtin:select-only"
[quick]
levels = {levels}
[factors.clients]
one = {{ clients = 1 }}
two = {{ clients = 2 }}
four = {{ clients = 4 }}
{more}
"""
CANDIDATES = '[factors.index]\ncandidates = "secondary-indexes"'


def write(directory: Path, levels: str, more: str = "") -> Path:
    path = directory / "many.toml"
    path.write_text(TEXT.format(levels=levels, more=more))
    return path


def test_only_the_quick_form_leaves_levels_out(tmp_path: Path) -> None:
    """In file order, whatever the order of the list."""
    path = write(tmp_path, '{ clients = ["four", "one"] }')

    assert [arm.name for arm in load_experiment(path).arms] == ["one", "two", "four"]
    assert [arm.name for arm in load_experiment(path, Asked(quick=True)).arms] == ["one", "four"]


def test_levels_that_are_found_are_kept_by_name_once_they_are(tmp_path: Path) -> None:
    """Before that only their baseline is known."""
    path = write(tmp_path, '{ clients = ["one", "two"], index = ["all-indexes", "without-b"] }', CANDIDATES)
    found = {"index": {"all-indexes": Level(), **{f"without-{n}": Level(sql="x;", undo="y;") for n in "ab"}}}

    assert [arm.name for arm in load_experiment(path, Asked(quick=True)).arms] == ["one/all-indexes", "two/all-indexes"]
    assert [arm.name for arm in load_experiment(path, Asked(quick=True), found=found).arms] == [
        *("one/all-indexes", "one/without-b", "two/all-indexes", "two/without-b")
    ]


@pytest.mark.parametrize(
    ("levels", "code", "named"),
    [
        ('{ clients = ["one", "three"] }', "unknown_level", "quick.levels.clients: no level 'three'"),
        ('{ customers = ["one"] }', "unknown_factor", "quick.levels.customers: no such factor"),
        ('{ clients = ["two"] }', "unknown_level", "baseline.clients: no level 'one'"),
        ("{ clients = [] }", "experiment_invalid", "quick.levels.clients"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, levels: str, code: str, named: str) -> None:
    """Key, value, what there is."""
    with pytest.raises(DynoError) as raised:
        load_experiment(write(tmp_path, levels), quick=True)

    assert raised.value.code == code
    assert named in raised.value.message
