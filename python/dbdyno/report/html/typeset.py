"""Sentences as they are set on a page: a figure stays on the line of its unit, and micro is written µ."""

from __future__ import annotations

import re

_FIGURE_AND_UNIT = re.compile(r"(?<=\d) (%|ns|us|µs|ms|s|B|KiB|MiB|GiB)(?!\w)")


def typeset(text: str) -> str:
    """`text` with no-break spaces before units."""
    return _FIGURE_AND_UNIT.sub(lambda found: "\u00a0" + found[1].replace("us", "µs"), text)
