"""Sentences as they are set on a page.

A figure stays on the line of its unit, micro is written µ, and what stands `between backquotes` is code.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_FIGURE_AND_UNIT = re.compile(r"(?<=\d) (%|ns|us|µs|ms|s|B|KB|MB|GB|KiB|MiB|GiB)(?!\w)")
_CODE = re.compile(r"`([^`]+)`")


_BREAK = re.compile(r"(?<=[/@?&,])(?=\w)")


def breakable(text: str) -> Markup:
    """A URL or a path as HTML that may go on in a new line behind its separators."""
    return Markup("<wbr>").join(_BREAK.split(text))


def typeset(text: str) -> Markup:
    """`text` as HTML: escaped, with no-break spaces before units."""
    tied = _FIGURE_AND_UNIT.sub(lambda found: "\u00a0" + found[1].replace("us", "µs"), text)
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(tied))))
