"""Two arms that turned out to be one: what they set came to the same values, so their comparison shows nothing."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno.design.arm import Arm
from dbdyno.design.document import Expect
from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.runner.prepare import Prepared


def refuse_identical_arms(prepared: Sequence[Prepared], trials: Sequence[Mapping[str, Any]]) -> None:
    """Once every arm was measured: end the run if two that differ by nothing but settings saw the same ones.

    Raises:
        DynoError: `identical_arms`, with the two and the values.
    """
    meant_to_differ = [each for each in prepared if not each.arm.null]
    first: dict[str, Mapping[str, Any]] = {}
    for trial in trials:
        if trial["status"] == "ok":
            first.setdefault(trial["arm"], trial)
    if len(first) < len(prepared):
        return
    for one, other in itertools.combinations(meant_to_differ, 2):
        settings = first[one.arm.name]["settings"]
        if _do_the_same(one.arm, other.arm) and settings == first[other.arm.name]["settings"]:
            raise DynoError("identical_arms", _message(one, other, settings), exit_code=EXIT_RUN_FAILED)


def _do_the_same(one: Arm, other: Arm) -> bool:
    """Whether nothing but settings tells them apart; what is expected of an arm does not change what it does."""
    return _without_settings(one) == _without_settings(other)


def _without_settings(arm: Arm) -> Arm:
    return dataclasses.replace(
        arm, name="", levels={}, baseline=None, session={}, settings={}, role={}, expect=Expect()
    )


def _message(one: Prepared, other: Prepared, settings: Mapping[str, str]) -> str:
    names = dict.fromkeys(
        name for each in (one, other) for table in (each.settings, each.role, each.session) for name in table
    )
    values = ", ".join(f"{name} is {settings.get(name, 'unknown')}" for name in names)
    return f"arms {one.arm.name!r} and {other.arm.name!r} turned out identical: {values} in both; change or drop one"
