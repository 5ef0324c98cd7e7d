"""What the statements of an arm answered, for the questions whose right answer the experiment knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dbdyno.errors import EXIT_RUN_FAILED, DynoError


def answers_of(captured: Mapping[str, str | float | None], questions: Iterable[str]) -> dict[str, float]:
    """By question, the column of that name; a question that the statement has no column for is absent."""
    return {name: _number(name, captured[name]) for name in questions if name in captured}


def _number(name: str, value: str | float | None) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DynoError(
            "no_number", f"truth.{name}: the statement answers {value!r}, not a number", exit_code=EXIT_RUN_FAILED
        ) from None
