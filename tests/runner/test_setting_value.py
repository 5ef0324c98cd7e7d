"""Spellings of one value, for settings that no session may try."""

from __future__ import annotations

import pytest

from dbdyno.runner.setting_value import same_value


@pytest.mark.parametrize(
    ("wanted", "seen", "kind", "unit"),
    [
        ("1GB", "1024MB", "integer", "8kB"),
        ("131072", "1GB", "integer", "8kB"),
        ("1024kB", "1MB", "integer", "kB"),
        ("60s", "1min", "integer", "ms"),
        ("300", "5min", "integer", "s"),
        ("0.5", "500us", "real", "ms"),
        ("4", "4.0", "real", None),
        ("1e2", "100", "integer", None),
        ("-1", "-1", "integer", "kB"),
        ("TRUE", "on", "bool", None),
        ("0", "off", "bool", None),
        ("Worker", "worker", "enum", None),
    ],
)
def test_spellings_of_one_value(wanted: str, seen: str, kind: str, unit: str | None) -> None:
    """Units, a number in the setting's own unit, words for on and off, letters' case."""
    assert same_value(wanted, seen, kind, unit)


@pytest.mark.parametrize(
    ("wanted", "seen", "kind", "unit"),
    [
        ("1GB", "1GB ", "string", None),
        ("1000", "1000MB", "integer", "8kB"),
        ("1s", "1min", "integer", "ms"),
        ("1parsec", "1min", "integer", "ms"),
        ("many", "100", "integer", None),
        ("on", "off", "bool", None),
        ("sync", "worker", "enum", None),
        ("", "0", "integer", None),
    ],
)
def test_two_values(wanted: str, seen: str, kind: str, unit: str | None) -> None:
    """What differs, and what is no value at all."""
    assert not same_value(wanted, seen, kind, unit)
