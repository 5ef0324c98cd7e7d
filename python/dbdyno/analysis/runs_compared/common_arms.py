"""Which arms two runs have in common.

An arm is known by its name. Where both runs have it but it does other work (another script, another number of
clients), its figures are of two different things and have no ratio. Where it does the same work under other settings,
that is a difference worth a comparison; it is listed, and stands beside the verdict as `definition`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbdyno.analysis.documents import Document
from dbdyno.analysis.runs_compared.findings import Difference, LeftOut
from dbdyno.analysis.runs_compared.record import Measured
from dbdyno.errors import DynoError

# What a unit of work is, and how it arrives. A key that an older record lacks is not compared.
WORK = (
    *("scripts", "rows_per_unit", "fixed_units", "fetch_rows", "clients", "threads", "mode", "arrival"),
    *("connect_ramp_ns", "max_tries"),
)
# Under which circumstances, of which those in SETTINGS are named one by one.
CIRCUMSTANCES = ("reset", "sql", "undo", "expect", "baseline")
SETTINGS = ("settings", "session", "role", "in_script")


def common_arms(first: Measured, second: Measured) -> tuple[list[str], list[LeftOut]]:
    """The arms of both that do the same work, in the order of the first, and why others are left out.

    Raises:
        DynoError: nothing is common.
    """
    left_out = [
        *(LeftOut(name, f"only in {first.label}") for name in first.arms if name not in second.arms),
        *(LeftOut(name, f"only in {second.label}") for name in second.arms if name not in first.arms),
    ]
    common: list[str] = []
    for name in first.arms:
        if name in second.arms:
            others = other_work(first.arms[name], second.arms[name])
            common += [] if others else [name]
            left_out += [LeftOut(name, f"does other work: {', '.join(others)}")] if others else []
    if not common:
        raise DynoError(
            "nothing_common",
            f"{second.recorded.name}: has no arm in common with {first.recorded.name} that does the same work "
            f"({_experiments(first, second)}); compare runs of one experiment",
        )
    return common, left_out


def other_work(first: Document, second: Document) -> list[str]:
    """What of the work of two arms differs, in words."""
    return [
        f"{key} {_shown(first[key])} and {_shown(second[key])}"
        for key in WORK
        if key in first and key in second and first[key] != second[key]
    ]


def definition_differences(name: str, first: Document, second: Document) -> Iterator[Difference]:
    """What of the circumstances of one arm differs."""
    for key in SETTINGS:
        one, two = first.get(key) or {}, second.get(key) or {}
        for setting in sorted({*one, *two}):
            if one.get(setting) != two.get(setting):
                yield Difference("arms", f"{name}: {setting}", _text(one.get(setting)), _text(two.get(setting)))
    for key in CIRCUMSTANCES:
        if key in first and key in second and first[key] != second[key]:
            yield Difference("arms", f"{name}: {key}", _shown(first[key]), _shown(second[key]))


def _experiments(first: Measured, second: Measured) -> str:
    one, two = first.run["experiment"], second.run["experiment"]
    return f"both of {one}" if one == two else f"{one} and {two}"


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _shown(value: Any) -> str:
    """A value of the record in a few words."""
    if isinstance(value, dict):
        return " ".join(f"{key}={_shown(each)}" for key, each in sorted(value.items())) or "none"
    if isinstance(value, list | tuple):
        return " ".join(map(_shown, value)) or "none"
    return "none" if value is None else str(value)
