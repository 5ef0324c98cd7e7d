"""What the process asks of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Peer(Protocol):
    """An engine with everything open and nothing done."""

    @property
    def version(self) -> str:
        """As it names itself."""

    def settings(self) -> Mapping[str, str]:
        """Those that the arm sets, as the engine shows them."""

    def row(self) -> Mapping[str, Any]:
        """Does the work; the first row of the answer, by column."""


def first_row(names: list[str], rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """By column; empty where there is none."""
    return dict(zip(names, rows[0], strict=True)) if rows else {}
