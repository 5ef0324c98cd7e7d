"""Levels that say in bytes what an arm does, and arms that do it by plain I/O."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.design.experiment import load_experiment
from dbdyno.design.file_work import FileWork
from dbdyno.errors import DynoError

TEXT = """
question = "?"
metric = "bytes_per_s"
baseline = { path = "direct" }
[workload]
schema = "web-returns"
[factors.work.read]
statement = "SELECT count(*) FROM web_returns"
executions = 1
file = { relation = "web_returns", access = "read" }
[factors.path]
direct = { file = { open = "direct" } }
server = {}
"""


def loaded(directory: Path, text: str = TEXT) -> dict[str, FileWork | None]:
    """The work of each arm."""
    path = directory / "some.toml"
    path.write_text(text)
    return {arm.name: arm.file for arm in load_experiment(path).arms}


def test_several_levels_say_it_together(tmp_path: Path) -> None:
    """What is done and how; without `open` the statement does it."""
    assert loaded(tmp_path) == {
        "read/direct": FileWork("web_returns", "read", "sequential", 1 << 20, "direct"),
        "read/server": FileWork("web_returns", "read", "sequential", 1 << 20, None),
    }


def test_plain_io_runs_no_script(tmp_path: Path) -> None:
    """It has its units, and in the place of the script's name what it does."""
    loaded(tmp_path)
    plain, server = load_experiment(tmp_path / "some.toml").arms

    assert (plain.scripts, plain.fixed_units) == ((), 1)
    assert plain.work_names == ["direct read of web_returns in order, 1024 KiB a request"]
    assert server.work_names == ["statement"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('relation = "web_returns", access', "access", "factors (read/direct): file.relation: is missing"),
        ('open = "direct"', 'open = "direkt"', "file.open: 'direkt' is not known here"),
        ('open = "direct"', 'open = "synchronous"', "file.open = 'synchronous': is for writes"),
        ('access = "read"', 'access = "write", order = "random"', "file.order = 'random': is for reads"),
        ('access = "read"', 'access = "read", request = "12 kB"', "file.request: 12288 bytes: use 4 kB, 8 kB, 16 kB"),
        ('open = "direct"', 'open = "direct", access = "read"', "factors work and path both have file.access"),
        ("executions = 1\n", "", "file.open: plain I/O has no window; give units or executions"),
        ('file = { relation = "web_returns", access = "read" }\n', "", "file.relation: is missing"),
        ('file = { open = "direct" }', "", "'bytes_per_s' is for arms that say which bytes they move"),
    ],
)
def test_mistakes_name_the_key_and_the_fix(tmp_path: Path, old: str, new: str, said: str) -> None:
    """One line each."""
    text = TEXT.replace(old, new)
    if "is for arms" in said:
        text = text.replace('file = { relation = "web_returns", access = "read" }\n', "").replace(
            "server = {}", "server = { clients = 2 }"
        )
    with pytest.raises(DynoError) as caught:
        loaded(tmp_path, text)

    assert said in caught.value.message
    assert "\n" not in caught.value.message
