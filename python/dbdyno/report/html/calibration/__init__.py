"""A storage calibration as one HTML file that works offline: `write(calibration, path)`.

    Calibration -> charts and tables -> calibration.html.j2 -> text

The same look as the report of a run, and the same rule: every figure drawn stands in the findings.
"""

from __future__ import annotations

from dbdyno.report.html.calibration.page import page, write

__all__ = ["page", "write"]
