"""The experiment that would settle it: both sides as two levels of one factor, alternating in random blocks.

Only what may be a level can be told from the day: a build, settings, a server behind a URL, the definition of an arm.
Where nothing of that differs, A and B are the same system twice, and one longer run of it is worth more than both.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence

from dbdyno.analysis.runs_compared.common_arms import SETTINGS
from dbdyno.analysis.runs_compared.differences import servers
from dbdyno.analysis.runs_compared.findings import Difference, Settling
from dbdyno.analysis.runs_compared.record import Measured

FEWEST_BLOCKS = 12
# The value of a setting that a record does not keep.
NOT_RECORDED = "(not recorded)"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclasses.dataclass(frozen=True, slots=True)
class _Factor:
    """A factor of two levels, each with the keys that it sets."""

    kind: str
    name: str
    levels: Mapping[str, Mapping[str, object]]

    def toml(self, taken: Sequence[str]) -> tuple[str, str]:
        """Its name, unlike any of `taken`, and its text with the baseline that compares each arm with itself."""
        name = self.name if self.name not in taken else f"{self.name}-of-run"
        lines = [line for level, keys in self.levels.items() for line in _lines(_key(level), keys)]
        baseline = f"baseline = {{ {_key(name)} = {_text(next(iter(self.levels)))} }}"
        return name, "\n".join([baseline, "", f"[factors.{_key(name)}]", *lines])


def settling(first: Measured, second: Measured, found: Sequence[Difference], arms: Sequence[str]) -> Settling:
    """What to run next; `found` is all that differs, `arms` what was compared."""
    blocks = max(FEWEST_BLOCKS, len(first.blocks), len(second.blocks))
    two_machines = any(each.group == "machine" and each.what == "host" for each in found)
    factor = _factor(first, second, found, arms)
    if factor is None:
        return Settling("repeat", max(FEWEST_BLOCKS, len(first.blocks) + len(second.blocks)), None, None, two_machines)
    taken = [name for arm in first.arms.values() for name in arm["levels"]]
    name, toml = factor.toml(taken)
    return Settling(factor.kind, blocks, name, toml, two_machines)


def _factor(first: Measured, second: Measured, found: Sequence[Difference], arms: Sequence[str]) -> _Factor | None:
    one, two = servers(first.machine)[0], servers(second.machine)[0]
    settings = _differing(one.get("settings") or {}, two.get("settings") or {})
    if not (one.get("embedded", True) and two.get("embedded", True)):
        elsewhere = any(each.group in ("server", "settings") or each.what == "host" for each in found)
        return _targets() if elsewhere else None
    if one["version"] != two["version"]:
        levels = {
            server["version"]: {"server_bin": f"/PATH/TO/{server['version']}/bin", **_only(settings=own)}
            for server, own in zip((one, two), settings, strict=True)
        }
        return _Factor("server_bin", "build", levels)
    if settings[0] or settings[1]:
        return _Factor(
            "settings", "settings", {"as-in-a": _only(settings=settings[0]), "as-in-b": _only(settings=settings[1])}
        )
    return _definitions(first, second, arms)


def _targets() -> _Factor:
    return _Factor(
        "target",
        "server",
        {name: {"target": f"postgres://USER@HOST-{name.upper()}/DATABASE"} for name in ("a", "b")},
    )


def _definitions(first: Measured, second: Measured, arms: Sequence[str]) -> _Factor | None:
    """The first arm whose own settings differ stands for the others: what differs is as a rule one level of all."""
    keys = {"settings": "settings", "session": "set", "role": "role"}
    for name in arms:
        one, two = first.arms[name], second.arms[name]
        sides: tuple[dict[str, object], dict[str, object]] = ({}, {})
        for record in SETTINGS:
            pair = _differing(one.get(record) or {}, two.get(record) or {})
            if record in keys and any(pair):
                for side, own in zip(sides, pair, strict=True):
                    side.update(_only(**{keys[record]: own}))
        if any(sides):
            return _Factor("levels", "variant", {"as-in-a": sides[0], "as-in-b": sides[1]})
    return None


def _differing(one: Mapping[str, str], two: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Of each side what the other does not have; a value that was not recorded cannot be set."""
    names = [name for name in sorted({*one, *two}) if one.get(name) != two.get(name)]
    recorded = [name for name in names if NOT_RECORDED not in (one.get(name), two.get(name))]
    return {name: one[name] for name in recorded if name in one}, {name: two[name] for name in recorded if name in two}


def _only(**tables: Mapping[str, str]) -> dict[str, object]:
    """The tables that are not empty."""
    return {name: table for name, table in tables.items() if table}


def _lines(key: str, value: object) -> list[str]:
    """Dotted keys, a line each: an inline table may not be broken, and would be wider than a page."""
    if not isinstance(value, Mapping):
        return [f"{key} = {_text(value)}"]
    if not value:
        return [f"{key} = {{}}"]
    return [line for name, each in value.items() for line in _lines(f"{key}.{_key(str(name))}", each)]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: object) -> str:
    """A basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(str(value), ensure_ascii=False)
