"""Which levels of the factors go together: all with all, unless a level says `only_with`.

```
[factors.read.client]
only_with = { request = ["8kB", "1MB"] }     # two arms for this level, however many requests there are
```
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

from dbdyno.design.document import Level
from dbdyno.errors import DynoError

Levels = Mapping[str, Mapping[str, Level]]  # factor -> level name -> level


def combinations(factors: Levels) -> Iterator[dict[str, str]]:
    """One level of each factor, by name, in file order."""
    for names in itertools.product(*factors.values()):
        levels = dict(zip(factors, names, strict=True))
        if all(levels[factor] in allowed for factor, allowed in _wishes(factors, levels)):
            yield levels


def _wishes(factors: Levels, levels: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    for factor, name in levels.items():
        yield from factors[factor][name].only_with.items()


def check_names(factors: Levels, path: Path) -> None:
    """`only_with` names what the file has, whether the quick form keeps it or not."""
    for own, levels in factors.items():
        for name, level in levels.items():
            for factor, allowed in level.only_with.items():
                _check_named(factors, own, factor, allowed, f"{path.name}: factors.{own}.{name}.only_with.{factor}")


def check_company(factors: Levels, baseline: Mapping[str, str], path: Path) -> None:
    """`only_with` leaves every level an arm and every arm its baseline."""
    arms = list(combinations(factors))
    for factor, names in factors.items():
        for name in names:
            if all(arm[factor] != name for arm in arms):
                raise DynoError(
                    "no_arm_left", f"{path.name}: factors.{factor}.{name}: only_with leaves it no arm; allow one more"
                )
    for arm in arms:
        if {**arm, **baseline} not in arms:
            missing = "/".join({**arm, **baseline}.values())
            raise DynoError(
                "no_baseline_arm",
                f"{path.name}: only_with leaves out {missing!r}, the baseline of {'/'.join(arm.values())!r}; allow it",
            )


def _check_named(factors: Levels, own: str, factor: str, allowed: list[str], where: str) -> None:
    if factor not in factors or factor == own:
        others = ", ".join(other for other in factors if other != own) or "none"
        raise DynoError("unknown_factor", f"{where}: no such other factor; other factors: {others}")
    for other in allowed:
        if other not in factors[factor]:
            raise DynoError("unknown_level", f"{where}: no level {other!r}; levels are {', '.join(factors[factor])}")
