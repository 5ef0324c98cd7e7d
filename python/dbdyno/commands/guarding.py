"""A service that must not suffer while storage is measured: its session, its baseline, and the thread that watches."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dbdyno.attach.guard_session import USUAL_STATEMENT, GuardSession
from dbdyno.calibration.guard import BASELINE_S, Guard, GuardFailed, baseline
from dbdyno.calibration.guard_rule import USUAL_FACTOR
from dbdyno.errors import DynoError


@dataclasses.dataclass(frozen=True, slots=True)
class GuardWish:
    """What the flags ask for. The URL may hold a password and is in no repr."""

    url: str = dataclasses.field(repr=False)
    factor: float = USUAL_FACTOR
    statement: str = USUAL_STATEMENT


@contextmanager
def guarding(wish: GuardWish | None) -> Iterator[Guard | None]:
    """The watching guard, after its baseline; None where nobody is guarded. `DynoError` where it does not answer."""
    if wish is None:
        yield None
        return
    with GuardSession(wish.url, wish.statement) as session:
        print(f"guarding {session.name}: {BASELINE_S} s of baseline, before anything is written", file=sys.stderr)
        try:
            before_ns = baseline(session)
        except GuardFailed as failure:
            raise DynoError(
                "guard_failed", f"--guard {session.name}: {wish.statement}: {failure}; give a statement that only reads"
            ) from None
        with Guard(session, before_ns, wish.factor) as guard:
            yield guard
