"""Lines for postgresql.conf: each with what was measured, by which rule, how sure it is, and what would confirm it.

A line without confidence is a comment itself: whoever includes the file unread gets nothing that was not found.

    # measured: a random page takes 1.9 times a sequential one
    # rule: t(random 8 KiB, one at a time) / t(sequential)
    # confidence: indicative
    # to confirm: compare plans before and after
    random_page_cost = 1.9
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from dbdyno.analysis.calibration.findings import Calibration, Setting
from dbdyno.report.calibration.words import QUALITIES, directory_of, when

WIDTH = 78
NONE = "none"


def fragment(calibration: Calibration) -> list[str]:
    """The file, line by line; empty where nothing can be said."""
    if not calibration.settings:
        return []
    quality = QUALITIES.get(calibration.quality, calibration.quality)
    head = [f"{directory_of(calibration)}, measured {when(calibration)} by dbdyno calibrate", f"quality {quality}"]
    return [*(line for text in head for line in _comment(text)), *_body(calibration)]


def setting_lines(setting: Setting) -> list[str]:
    """One setting: why, in comments, and then the line itself."""
    value = f"{setting.name} = {_on_one_line(setting.value)}"
    return [
        *_comment(f"measured: {setting.measured}"),
        *_comment(f"rule: {setting.rule}"),
        *_comment(f"confidence: {setting.confidence}"),
        *_comment(f"to confirm: {confirmation(setting)}"),
        f"#{value}" if setting.confidence == NONE else value,
    ]


def confirmation(setting: Setting, directory: str | None = None) -> str:
    """What to type: an experiment file stands in the calibration's directory."""
    if setting.confirm is None:
        return "nothing to do, it is the default"
    return f"dbdyno run {setting.confirm if directory is None else f'{directory}/{setting.confirm}'}"


def _body(calibration: Calibration) -> Iterator[str]:
    for setting in calibration.settings:
        yield ""
        yield from setting_lines(setting)


def _comment(text: str) -> list[str]:
    """Within the width, whatever it holds: nothing can end the comment but the line."""
    lines = textwrap.wrap(
        _on_one_line(text), WIDTH, break_on_hyphens=False, initial_indent="# ", subsequent_indent="#   "
    )
    return lines or ["#"]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
