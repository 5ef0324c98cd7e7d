"""postmaster.pid, line by line, and what a directory without one is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbdyno.attach.pid_file import PidFile, parse_pid_file, postmaster_at
from dbdyno.errors import DynoError

DATA = Path("/data")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "4711\n/data\n1795301710\n5433\n/run/postgresql\n*\n  999433     32823\nready   \n",
            PidFile(4711, 5433, Path("/run/postgresql"), "*"),
        ),
        ("4711\n/data\n1\n5432\n../socket\n\n\n", PidFile(4711, 5432, Path("/data/../socket"), None)),
        ("4711\n/data\n1\n5432\n\nlocalhost\n", PidFile(4711, 5432, None, "localhost")),
        ("4711\n", PidFile(4711, None, None, None)),
        ("", None),
        ("nonsense\n", None),
    ],
)
def test_every_line_that_says_something(text: str, expected: PidFile | None) -> None:
    """A relative socket directory counts from the data directory; a file half written is taken as far as it goes."""
    assert parse_pid_file(text, DATA) == expected


def refusal(directory: Path) -> str:
    """What a directory without a server is told."""
    with pytest.raises(DynoError) as raised:
        postmaster_at(directory)
    assert raised.value.exit_code == 2
    return raised.value.message


def test_a_directory_without_a_server_is_told_what_it_lacks(tmp_path: Path) -> None:
    """No such directory, not a data directory, not running, a pid of something else."""
    assert refusal(tmp_path / "none").endswith("no such directory; name a postgres:// URL, a process id or one")
    assert "is not a data directory (no PG_VERSION)" in refusal(tmp_path)
    (tmp_path / "PG_VERSION").write_text("18\n")
    assert "no server runs there (no postmaster.pid)" in refusal(tmp_path)
    (tmp_path / "postmaster.pid").write_text(f"{os.getpid()}\n")
    assert f"names process {os.getpid()}, which is no PostgreSQL server here" in refusal(tmp_path)
