"""The flag `--band FROM-TO` of `dbdyno report`: which units of work to explain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

from dbdyno.errors import DynoError

if TYPE_CHECKING:
    from dbdyno.analysis.bands import Share

BAND = typer.Option(
    None, "--band", metavar="FROM-TO", help="The units of a run to explain, by response time; default 99-100 (%)."
)


def share(band: str) -> Share:
    """The units whose response times lie between two percentages, as in 99-100 or 99.9-100."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)", band)
    if found is None or not float(found[1]) < float(found[2]) <= 100:
        raise DynoError(
            "bad_band", f"--band {band}: is no band of response times; write two percentages, lesser first: 99.9-100"
        )
    from dbdyno.analysis.bands import Share

    return Share(float(found[1]) / 100, float(found[2]) / 100)
