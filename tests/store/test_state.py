"""What is remembered about a machine between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.errors import DynoError
from dbdyno.store import state


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"DBDYNO_STATE_DIR": "/a", "XDG_STATE_HOME": "/b"}, Path("/a")),
        ({"XDG_STATE_HOME": "/b"}, Path("/b/dbdyno")),
        ({"XDG_STATE_HOME": "relative"}, Path("~/.local/state/dbdyno").expanduser()),
        ({}, Path("~/.local/state/dbdyno").expanduser()),
    ],
)
def test_where_it_lies(environment: dict[str, str], expected: Path) -> None:
    """Our own variable first, then the desktop standard's, which must be absolute."""
    assert state.state_directory(environment) == expected


def test_the_last_document_is_recalled(tmp_path: Path) -> None:
    """One replaces the other; nothing else stays in the directory."""
    environment = {"DBDYNO_STATE_DIR": str(tmp_path / "new")}
    assert state.recall("selftest", environment) is None

    state.remember("selftest", {"format": 1, "n": 1}, environment)
    path = state.remember("selftest", {"format": 1, "n": 2}, environment)

    assert state.recall("selftest", environment) == {"format": 1, "n": 2}
    assert [entry.name for entry in path.parent.iterdir()] == ["selftest.json"]


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', "{"])
def test_what_cannot_be_read_is_not_recalled(tmp_path: Path, text: str) -> None:
    """A damaged file, or one of a later version, is as good as none."""
    (tmp_path / "selftest.json").write_text(text)

    assert state.recall("selftest", {"DBDYNO_STATE_DIR": str(tmp_path)}) is None


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """The directory, why, and what to set."""
    (tmp_path / "file").write_text("")

    with pytest.raises(DynoError, match="DBDYNO_STATE_DIR") as caught:
        state.remember("selftest", {}, {"DBDYNO_STATE_DIR": str(tmp_path / "file" / "below")})

    assert caught.value.code == "state_unusable"
