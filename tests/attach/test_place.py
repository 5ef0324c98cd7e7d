"""What TARGET may be, decided by its text alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.attach.place import DirectoryPlace, ProcessPlace, UrlPlace, parse_place
from dbdyno.errors import DynoError


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("postgres://app@db/shop", UrlPlace("postgres://app@db/shop")),
        ("postgresql:///shop?host=/run", UrlPlace("postgresql:///shop?host=/run")),
        ("4711", ProcessPlace(4711)),
        ("/var/lib/postgresql/18/main", DirectoryPlace(Path("/var/lib/postgresql/18/main"))),
        ("18", ProcessPlace(18)),
        ("./18", DirectoryPlace(Path("18"))),
    ],
)
def test_a_url_a_number_or_a_path(text: str, place: object) -> None:
    """Whatever has :// is a URL, digits are a process, all else is a directory."""
    assert parse_place(text) == place


@pytest.mark.parametrize(
    "text",
    ["", "mysql://u@h/d", "postgres:host", "postgres://u:secret/x@h", "user=app password=secret", "app:secret@h"],
)
def test_what_is_neither_is_refused_without_repeating_it(text: str) -> None:
    """It could hold a password."""
    with pytest.raises(DynoError) as raised:
        parse_place(text)

    assert raised.value.exit_code == 2
    assert "secret" not in raised.value.message


def test_a_url_with_a_password_shows_nothing_in_its_repr() -> None:
    """Not in a traceback, not in a log."""
    assert "secret" not in repr(parse_place("postgres://app:secret@db/shop"))
